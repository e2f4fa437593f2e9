"""Whoever comes in by a port-forward reaches a bootstrap server, and none of the addresses that
brokers advertise: what is said then names what could not be reached, and blames nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_unclean_recovery.emulator import Cluster, Options, Settings
from kafka_unclean_recovery.emulator.faults import NOWHERE
from tests.cli.in_process import RECOVERY, invoke

TOPIC = "orders"
NOBODY = "127.0.0.1:1"


@pytest.fixture(scope="module", params=["4.4.0", "3.9.1"])
def forwarded(request: pytest.FixtureRequest) -> Iterator[str]:
    """Yield the address of the forward; orders-0 has no leader, and 3 is the best replica."""
    settings = Settings(session_timeout=600.0)
    with Cluster(Options(brokers=3, release=request.param, settings=settings)) as cluster:
        cluster.create_topic(TOPIC, assignment=[(1, 2, 3)])
        for records, victim in ((10, 2), (5, 3), (5, 1)):
            cluster.produce(TOPIC, 0, records, acks="1")
            cluster.kill(victim)
            cluster.fence(victim)
        cluster.start(3)
        cluster.start(2)
        by = cluster.bootstrap_servers.split(",")[2]
        for broker in (1, 2, 3):
            cluster.lead_astray(broker, NOWHERE)
        yield by
        assert cluster.partition(TOPIC, 0).leader == -1


RECOVERING = "--all-offline-partitions --automated-recovery --yes --recovery-duration-ms 3000"


@pytest.mark.parametrize(
    ("command", "code"),
    [(RECOVERING, 1), ("doctor", 1), ("ok-to-stop --brokers 3", 4), ("aftercare", 1)],
)
def test_what_could_not_be_reached_is_named_and_nothing_else_is_blamed(
    forwarded: str, command: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    done = invoke(RECOVERY, *command.split(), "--bootstrap-server", forwarded)
    said = done.stdout + done.stderr
    assert NOBODY in said
    assert done.code == code, said
    assert "grant" not in said
    for has, of in re.findall(r"has (\d+) of its (\d+) records", said):
        assert int(has) < int(of), said
