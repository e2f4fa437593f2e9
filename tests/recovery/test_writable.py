"""An election that leaves a partition with too few live replicas for acks=all says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_unclean_recovery.cluster.requests.configs import ConfigValue, number
from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.listener.intercepts import Fail
from kafka_unclean_recovery.model import PartitionState
from kafka_unclean_recovery.recovery.writable import too_few_live
from tests.real.cli import Cli, Finished

REFUSES = (
    "1 partition, orders-0 (live replicas 1, min.insync.replicas 2), has a leader and refuses what"
    " is written with acks=all, and who asks for the end may get OFFSET_NOT_AVAILABLE, until more"
    " replicas are back in the ISR: aftercare tells when"
)


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Yield a cluster of which broker 1 is dead, and broker 2 may be elected; `free` needs one."""
    with Cluster(Options(brokers=2)) as cluster:
        for topic, least in (("orders", "2"), ("free", "1")):
            cluster.create_topic(topic, assignment=[[1, 2]], configs={"min.insync.replicas": least})
        for broker in (2, 1):
            cluster.kill(broker)
            cluster.fence(broker)
        cluster.start(2)
        yield cluster


def _elect(cluster: Cluster, home: Path) -> Finished:
    servers = ("--bootstrap-server", cluster.bootstrap_servers, "--format", "json")
    flags = ("--all-offline-partitions", "--automated-recovery", "--yes")
    return Cli(home).offline(*flags, *servers)


def test_who_is_elected_alone_where_two_are_needed_refuses_acks_all(
    cluster: Cluster, tmp_path: Path
) -> None:
    done = _elect(cluster, tmp_path)
    assert done.code == 0, done.stderr
    assert REFUSES in done.stderr
    assert done.json["problems"] == [REFUSES]


@pytest.mark.parametrize("error", [29, 42])
def test_what_is_not_told_of_min_isr_keeps_no_election_from_its_end(
    cluster: Cluster, tmp_path: Path, error: int
) -> None:
    topics = frozenset({"orders", "free"})
    cluster.intercept("DescribeConfigs", Fail(error, of=topics), times=1000)
    done = _elect(cluster, tmp_path)
    assert "acks=all" not in done.stderr
    assert [row["outcome"] for row in done.json["partitions"]] == ["elected", "elected"]


@pytest.mark.parametrize("value", ["9" * 5000, "\u0662", "-1", ""])
def test_what_is_no_number_of_kafkas_is_as_if_nobody_told(value: str) -> None:
    assert number(ConfigValue(0, value)) is None
    assert number(ConfigValue(0, "2")) == 2
    assert number(ConfigValue(29, "2")) is None


def _state(partition: int, leader: int, *offline: int) -> PartitionState:
    return PartitionState("t", "", partition, leader, 1, (1, 2, 3), offline_replicas=offline)


def test_as_many_are_needed_as_there_are_replicas_at_most() -> None:
    assert too_few_live([_state(0, 1)], {"t": 9}) is None
    assert too_few_live([_state(0, 1, 2), None], {"t": 2}) is None
    assert too_few_live([_state(0, 1, 2, 3)], {}) is None
    assert too_few_live([_state(0, -1, 2, 3)], {"t": 2}) is None
    found = too_few_live([_state(0, 1, 2, 3), _state(1, 1), _state(2, 1, 2)], {"t": 3})
    assert found is not None
    assert found.startswith("2 partitions, the first t-0 (live replicas 1, min.insync.replicas 3),")
