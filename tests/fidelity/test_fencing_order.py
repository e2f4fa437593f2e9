"""Brokers are fenced in the order of Kafka's own tables."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from kafka_unclean_recovery.kraft_rules.fencing_order import order_by_hash
from kafka_unclean_recovery.log_dir.metadata.registration_table import RegistrationTable
from tests.real.jvm import java_command
from tests.real.releases import OLDEST, TESTED

_SOURCE = Path(__file__).with_name("FencingOrder.java")
CASES = 1500


def _by_kafka(version: str, lines: Sequence[str]) -> list[tuple[int, ...]]:
    """Return what Kafka's tables make of each line."""
    done = subprocess.run(
        java_command(version, str(_SOURCE), heap_mb=128),
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return [tuple(map(int, line.split())) for line in done.stdout.splitlines()]


def _of_some(chance: Random) -> list[int]:
    """Return ids of brokers: few or many, low or anywhere."""
    highest = chance.choice((8, 40, 2**31 - 1))
    return [chance.randint(0, highest) for _ in range(chance.choice((2, 3, 6, 14, 60)))]


@pytest.mark.parametrize("version", TESTED)
def test_registrations_are_gone_through_as_by_the_controller(version: str) -> None:
    chance = Random(1)
    lines, ours = [], []
    for _ in range(CASES):
        table, done = RegistrationTable(), []
        brokers = _of_some(chance)
        for broker in (*brokers, *chance.choices(brokers, k=len(brokers))):
            if chance.random() < 0.85:
                table.put(broker)
                done.append(f"+{broker}")
            else:
                table.remove(broker)
                done.append(f"-{broker}")
        lines.append(" ".join(("table", *done)))
        ours.append(tuple(table))
    assert _by_kafka(version, lines) == ours


@pytest.mark.parametrize("version", [version for version in TESTED if version != OLDEST])
def test_sessions_end_in_the_order_of_the_controllers_table(version: str) -> None:
    chance = Random(2)
    cases = []
    for _ in range(CASES):
        highest = chance.choice((30, 100_000, 2**62))
        brokers = dict.fromkeys(_of_some(chance))
        cases.append([(broker, chance.randint(0, highest)) for broker in brokers])
    lines = [" ".join(("tracker", *(f"{b}:{epoch}" for b, epoch in case))) for case in cases]
    assert _by_kafka(version, lines) == [order_by_hash(case) for case in cases]
