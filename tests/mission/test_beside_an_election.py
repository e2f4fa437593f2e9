"""What goes on beside an election ends none, whatever becomes of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.cluster.requests.describe import RequestFailed
from kafka_unclean_recovery.cluster.requests.groups import Listed
from kafka_unclean_recovery.cluster.wire.errors import (
    ConnectionFailed,
    FailureKind,
    NoBrokerReachable,
)
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.emulator import Cluster, Options, Settings
from kafka_unclean_recovery.emulator.listener.intercepts import Delay
from kafka_unclean_recovery.recovery import group_offsets, observe
from tests.cli.in_process import RECOVERY, Done, invoke
from tests.real.watching import journal_lines, open_orders

LOST = ConnectionFailed(FailureKind.TIMED_OUT, "b1:9092", "timed out")
FAILURES = [
    LOST,
    NoBrokerReachable([LOST]),
    RequestFailed("DescribeTopicPartitions", 29),
    ValueError("nobody thought of this"),
]


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Yield a cluster: broker 1 is dead; 3 holds more than 2, which an order puts first."""
    with Cluster(Options(brokers=3, settings=Settings(session_timeout=60.0))) as running:
        running.create_topic("orders", assignment=[[1, 2, 3]])
        running.produce("orders", 0, 10)
        for broker in (2, 3, 1):
            running.kill(broker)
            running.fence(broker)
            if broker == 2:
                running.produce("orders", 0, 5)
        for broker in (2, 3):
            running.start(broker)
        yield running


def _elect(cluster: Cluster, place: Path) -> Done:
    where = ("--bootstrap-server", cluster.bootstrap_servers, "--all-offline-partitions")
    how = ("--automated-recovery", "--format", "json")
    return invoke(RECOVERY, *where, *how, cwd=place, env={"XDG_STATE_HOME": str(place)})


def _replicas(cluster: Cluster) -> tuple[int, ...]:
    return cluster.look(lambda e: tuple(e.state.partition(e.partition_key("orders", 0)).replicas))


@pytest.mark.parametrize("error", FAILURES, ids=lambda error: type(error).__name__)
def test_a_look_for_hidden_topics_that_fails_is_a_problem_and_ends_no_election(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    before = _replicas(cluster)

    async def fails(*_: Any) -> None:
        # Until the order was written.
        while _replicas(cluster) == before:
            await asyncio.sleep(0.001)
        raise error

    monkeypatch.setattr(observe, "hidden_topics", fails)
    # The controller takes its time, so that the look fails before the election.
    cluster.intercept("ElectLeaders", Delay(0.3))
    done = _elect(cluster, tmp_path)
    assert done.code == 1, done.stderr
    report = json.loads(done.stdout)
    assert [row["outcome"] for row in report["partitions"]] == ["elected"]
    assert [row["leader"] for row in report["partitions"]] == [3]
    (problem,) = report["problems"]
    assert str(error) in problem
    assert problem in done.stderr
    assert _replicas(cluster) == before
    (journal,) = tmp_path.rglob("*.jsonl")
    assert open_orders(journal) == set()
    assert [line["event"] for line in journal_lines(journal)][-2:] == ["verified", "end"]


def test_a_broker_whose_groups_nobody_can_read_ends_no_election(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: Any) -> None:
        raise ValueError("nobody thought of this")

    monkeypatch.setattr(group_offsets, "list_by_kind", fails)
    done = _elect(cluster, tmp_path)
    assert done.code == 0, done.stderr
    report = json.loads(done.stdout)
    assert [row["outcome"] for row in report["partitions"]] == ["elected"]
    assert "nobody thought of this" in " ".join(report["unknown"])


def test_groups_are_asked_for_three_seconds_at_most(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[float] = []

    async def hear(_: Any, deadline: Deadline) -> Listed:
        left.append(deadline.remaining())
        return Listed((), ())

    monkeypatch.setattr(group_offsets, "list_by_kind", hear)
    assert _elect(cluster, tmp_path).code == 0
    assert len(left) == 2
    assert max(left) <= 3.0
