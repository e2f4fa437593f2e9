"""The outage of kafka-facts.md: brokers 3 (1500 records) and 4 (1000) live, neither is eligible.

A partition for each of the 24 orders of its replicas, so in half of them 4 comes before 3.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.real.cli import Cli, Finished
from tests.real.cluster import KafkaCluster
from tests.real.outages import Outage, last_replica_standing
from tests.real.recipes import TOPIC, elect_unclean
from tests.real.records import numbered
from tests.real.releases import TESTED
from tests.real.witnesses import (
    leader_epochs,
    leaders,
    reassignments,
    records_of,
    replica_orders,
    wait_until_led,
)

Restored = Callable[[Outage], KafkaCluster]

VERSIONS = TESTED
PARTITIONS = range(24)
BEST, SHORTER = 3, 4
ALL_OFFLINE = ("--all-offline-partitions", "--automated-recovery", "--yes", "--format", "json")
# Done is done: brokers may lag by a moment and no more.
AT_ONCE = 3.0
NO_REASSIGNMENT = "No partition reassignments found."


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("min_isr", [1, 2])
def test_broker_3_leads_every_partition_and_no_record_of_it_is_lost(
    restored: Restored, cli: Cli, tmp_path: Path, version: str, min_isr: int
) -> None:
    cluster = restored(last_replica_standing(version, min_isr))
    orders = replica_orders(cluster, TOPIC)
    first = cli.recover(cluster, *ALL_OFFLINE)
    assert (first.code, first.stderr) == (0, "")
    _every_partition_was_elected(first)
    wait_until_led(cluster, TOPIC, BEST, orders, AT_ONCE)
    assert reassignments(cluster) == NO_REASSIGNMENT
    _every_record_of_broker_3_can_be_consumed(cluster)
    _running_it_again_changes_nothing(cluster, cli, tmp_path)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_stock_script_on_a_copy_loses_500_records_wherever_4_comes_before_3(
    restored: Restored, version: str
) -> None:
    """With min.insync.replicas 2; test_harness.py shows it with 1."""
    cluster = restored(last_replica_standing(version, 2))
    orders = replica_orders(cluster, TOPIC)
    elect_unclean(cluster)
    _both_live_brokers_are_in_sync(cluster)
    wrong = {n for n, order in orders.items() if order.index(SHORTER) < order.index(BEST)}
    assert {n for n, leader in leaders(cluster, TOPIC).items() if leader == SHORTER} == wrong
    assert len(wrong) == 12
    left = list(map(numbered, range(1000)))
    assert records_of(cluster, TOPIC, wrong) == dict.fromkeys(wrong, left)


def _every_partition_was_elected(run: Finished) -> None:
    rows = run.partitions(TOPIC)
    assert sorted(rows) == list(PARTITIONS)
    for row in rows.values():
        assert (row["outcome"], row["reason"]) == ("elected", None)
        assert (row["designated_leader"], row["leader"]) == (BEST, BEST)
        # Brokers 1 and 2 are dead: nobody knows what they hold.
        assert {"certain": 0, "possible": None}.items() <= row["loss"].items()
    assert run.report["summary"]["outcomes"]["elected"] == len(PARTITIONS)


def _every_record_of_broker_3_can_be_consumed(cluster: KafkaCluster) -> None:
    _both_live_brokers_are_in_sync(cluster)
    everything = list(map(numbered, range(1500)))
    assert records_of(cluster, TOPIC, PARTITIONS) == dict.fromkeys(PARTITIONS, everything)


def _both_live_brokers_are_in_sync(cluster: KafkaCluster) -> None:
    """Wait until both are in sync: only then may the high watermark pass one's own records."""
    cluster.wait_until_partitions(
        TOPIC, lambda seen: not seen.offline and set(seen.isr) == {BEST, SHORTER}
    )


def _running_it_again_changes_nothing(cluster: KafkaCluster, cli: Cli, scratch: Path) -> None:
    before = _what_an_election_would_change(cluster)
    again = cli.recover(cluster, *ALL_OFFLINE)
    assert (again.code, again.stderr, again.report["partitions"]) == (0, "", [])
    named = scratch / "partitions.json"
    named.write_text(json.dumps({"partitions": [{"topic": TOPIC, "partitions": list(PARTITIONS)}]}))
    flags = ("--path-to-json-file", str(named), "--automated-recovery", "--yes")
    by_name = cli.recover(cluster, *flags, "--format", "json")
    outcomes = {row["outcome"] for row in by_name.partitions(TOPIC).values()}
    assert (by_name.code, outcomes) == (0, {"already_online"})
    assert _what_an_election_would_change(cluster) == before


def _what_an_election_would_change(cluster: KafkaCluster) -> tuple[Any, ...]:
    return (
        leaders(cluster, TOPIC),
        leader_epochs(cluster, TOPIC, PARTITIONS),
        replica_orders(cluster, TOPIC),
    )
