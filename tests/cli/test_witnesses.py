"""Groups that have read more than any live log holds, on the emulator: found, and never needed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer
from confluent_kafka import TopicPartition as Position

from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.listener.intercepts import Action, Fail, NoAnswer
from tests.real.cli import Cli, Finished
from tests.real.metadata import QUIETLY, SILENT

TOPIC = "orders"
GROUP_AUTHORIZATION_FAILED, COORDINATOR_NOT_AVAILABLE = 30, 15
HELD, MORE = 10, 5


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Yield a cluster: broker 2 lives and holds 10 records of each partition; 1 is dead and went on
    to 15 of partition 0, which groups have read."""
    with Cluster(Options(brokers=3)) as cluster:
        cluster.create_topic(TOPIC, assignment=[[1, 2]] * 2)
        for partition in (0, 1):
            cluster.produce(TOPIC, partition, HELD)
        _lose(cluster, 2)
        cluster.produce(TOPIC, 0, MORE)
        for group, partition, offset, epoch in (
            ("billing", 0, HELD + MORE, 0),
            ("audit", 0, HELD + 1, 0),
            ("content", 0, HELD, 0),
            ("set by hand", 1, 4000, -1),
        ):
            settings = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": group}
            consumer = Consumer({**settings, **QUIETLY}, logger=SILENT)
            where = Position(TOPIC, partition, offset, leader_epoch=epoch)
            consumer.commit(offsets=[where], asynchronous=False)
            consumer.close()
        _lose(cluster, 1)
        cluster.start(2)
        yield cluster


def _lose(cluster: Cluster, broker: int) -> None:
    cluster.kill(broker)
    cluster.fence(broker)


def _look(cluster: Cluster, home: Path, code: int = 0) -> Finished:
    servers = ("--bootstrap-server", cluster.bootstrap_servers)
    show = ("--all-offline-partitions", "--show-replica-info", "--format", "json")
    done = Cli(home).offline(*servers, *show)
    assert done.code == code, done.stderr
    return done


def _found(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    code = "commits_beyond_the_best_log"
    return [(f["severity"], f["message"]) for f in row["findings"] if f["code"] == code]


def test_groups_tell_how_much_is_lost_at_least(cluster: Cluster, tmp_path: Path) -> None:
    done = _look(cluster, tmp_path)
    assert done.report["unknown"] == []
    first, second = done.partitions(TOPIC).values()
    ((severity, message),) = _found(first)
    assert severity == "unknown"
    assert message.startswith(
        "group billing committed offset 15 (leader epoch 0), and the designated log ends at 10: at"
        " least 5 records that it read are not there (1 more group too)"
    )
    assert first["loss"] == {"certain": 0, "possible": None, "at_least": MORE}
    assert [(group["group"], group["committed_offset"]) for group in first["groups_beyond"]] == [
        ("billing", HELD + MORE),
        ("audit", HELD + 1),
    ]
    ((severity, message),) = _found(second)
    assert severity == "notice"
    assert message.startswith("group set by hand committed offset 4000 (leader epoch unknown)")
    assert second["loss"] == {"certain": 0, "possible": None, "at_least": None}


@pytest.mark.parametrize(
    ("api", "action", "expected"),
    [
        (
            "OffsetFetch",
            Fail(GROUP_AUTHORIZATION_FAILED),
            "what groups committed is unknown of 4 groups, the first: audit: GROUP_AUTHORIZATION_",
        ),
        (
            "ListGroups",
            Fail(COORDINATOR_NOT_AVAILABLE),
            "what groups of broker 2 committed is unknown: ListGroups: COORDINATOR_NOT_AVAILABLE",
        ),
        ("ListGroups", NoAnswer(carried_out=False), "what groups of broker 2 committed is unknown"),
        ("OffsetFetch", NoAnswer(carried_out=False), r"what \d groups? of broker \d committed"),
    ],
)
def test_groups_that_do_not_tell_are_unknown_and_hold_up_nothing(
    cluster: Cluster, tmp_path: Path, api: str, action: Action, expected: str
) -> None:
    cluster.intercept(api, action, times=9)
    try:
        done = _look(cluster, tmp_path)
    finally:
        cluster.clear_intercepts()
    assert any(re.match(expected, sentence) for sentence in done.report["unknown"]), done.report
    for row in done.partitions(TOPIC).values():
        assert row["loss"]["at_least"] is None
        assert row["designated_leader"] == 2


def test_groups_of_a_coordinator_without_leader_are_unknown(tmp_path: Path) -> None:
    with Cluster(Options(brokers=2)) as cluster:
        cluster.create_topic("__consumer_offsets", assignment=[[1], [2], [1]])
        _lose(cluster, 1)
        done = _look(cluster, tmp_path, code=1)  # No replica lives, so none is designated.
    offline = "2 of 3 partitions of __consumer_offsets had no leader when groups were asked"
    assert done.report["unknown"] == [f"{offline}: groups that are on them are unknown"]
