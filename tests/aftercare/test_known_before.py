"""What the journal and the controller know, and what the partitions alone do not show."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer
from confluent_kafka import TopicPartition as Position

from kafka_unclean_recovery.emulator import Cluster, Options, Settings
from kafka_unclean_recovery.emulator.control.status import partition_status
from kafka_unclean_recovery.emulator.faults import STOPPED
from kafka_unclean_recovery.emulator.listener.intercepts import Fail
from tests.cli.in_process import RECOVERY, invoke
from tests.real.metadata import QUIETLY, SILENT

TOPIC, DEAD, SURVIVOR = "orders", 1, 4
HELD, GIVEN_UP = 10, 10
COMMITTED = HELD + 7


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """Yield a cluster: 1 died with 20 records of orders-0, of which the only survivor has ten."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with Cluster(Options(settings=Settings(session_timeout=600.0))) as cluster:
        cluster.create_topic(TOPIC, assignment=[(DEAD, SURVIVOR)])
        cluster.produce(TOPIC, 0, HELD)
        _lose(cluster, SURVIVOR)
        cluster.produce(TOPIC, 0, GIVEN_UP, acks="1")
        yield cluster


def _lose(cluster: Cluster, broker: int) -> None:
    cluster.kill(broker)
    cluster.fence(broker)


def _commit(cluster: Cluster, group: str, offset: int) -> None:
    """Commit as kafka-consumer-groups.sh does, without a leader epoch."""
    settings = {"bootstrap.servers": cluster.bootstrap_servers, **QUIETLY, "group.id": group}
    with closing(Consumer(settings, logger=SILENT)) as consumer:
        consumer.commit(offsets=[Position(TOPIC, 0, offset)], asynchronous=False)


def _elect(cluster: Cluster) -> None:
    _lose(cluster, DEAD)
    cluster.start(SURVIVOR)
    which = ("--all-offline-partitions", "--automated-recovery", "--yes")
    done = invoke(RECOVERY, *which, "--bootstrap-server", cluster.bootstrap_servers)
    assert done.code == 0, done.stderr


def _care(cluster: Cluster, *flags: str, journal: bool = True) -> tuple[int, Any, str]:
    (written,) = Path(os.environ["XDG_STATE_HOME"]).rglob("*.jsonl")
    which = ("--journal", str(written)) if journal else ("--topics", TOPIC)
    servers = ("--bootstrap-server", cluster.bootstrap_servers)
    done = invoke(RECOVERY, "aftercare", *servers, *which, "--format", "json", *flags)
    return done.code, json.loads(done.stdout), done.stderr


def _groups(document: Any) -> list[tuple[str, int, int, bool]]:
    return [
        (g["group"], g["committed_offset"], g["resume_offset"], g["refilled"])
        for row in document["partitions"]
        for g in row["groups"]
    ]


def test_a_group_that_committed_without_an_epoch_skips_what_is_written_anew(
    cluster: Cluster,
) -> None:
    for group, offset in (("billing", COMMITTED), ("mail", COMMITTED), ("content", HELD)):
        _commit(cluster, group, offset)
    _elect(cluster)
    cluster.produce(TOPIC, 0, GIVEN_UP + 5, acks="1")
    cluster.start(DEAD)
    cluster.wait_until(lambda e: set(partition_status(e, TOPIC, 0).isr) == {DEAD, SURVIVOR})
    # It was set back, and has read on since.
    _commit(cluster, "mail", HELD + 9)
    code, document, said = _care(cluster)
    assert (code, _groups(document)) == (1, [("billing", COMMITTED, HELD, True)])
    assert f"--to-offset {HELD}" in said
    # Nothing else tells of it.
    code, document, _ = _care(cluster, journal=False)
    assert (code, _groups(document)) == (0, [])
    _commit(cluster, "billing", HELD)
    code, document, _ = _care(cluster)
    assert (code, document["over"]) == (0, True)


def test_a_topic_that_was_made_anew_since_is_not_taken_for_the_one_that_was_elected(
    cluster: Cluster,
) -> None:
    _elect(cluster)
    cluster.delete_topic(TOPIC)
    cluster.create_topic(TOPIC, assignment=[(SURVIVOR,)])
    cluster.produce(TOPIC, 0, GIVEN_UP)
    code, document, _ = _care(cluster)
    assert (code, document["over"], document["partitions"]) == (1, False, [])
    (unknown,) = document["unknown"]
    assert "orders-0: its topic was deleted and created again since the election" in unknown
    assert _care(cluster, journal=False)[0] == 0


def test_a_broker_whose_metadata_is_old_is_not_believed(cluster: Cluster) -> None:
    _elect(cluster)
    cluster.start(DEAD)
    cluster.wait_until(lambda e: set(partition_status(e, TOPIC, 0).isr) == {DEAD, SURVIVOR})
    assert _care(cluster)[0] == 0
    for broker in (2, 3):
        cluster.lag_metadata(broker, STOPPED)
    _lose(cluster, DEAD)
    code, document, _ = _care(cluster)
    assert (code, document["partitions"][0]["out_of_sync"]) == (1, [DEAD])


def test_reassignments_that_nobody_told_of_are_unknown(cluster: Cluster) -> None:
    _elect(cluster)
    cluster.start(DEAD)
    cluster.wait_until(lambda e: set(partition_status(e, TOPIC, 0).isr) == {DEAD, SURVIVOR})
    cluster.intercept("ListPartitionReassignments", Fail(31), times=99)
    code, document, _ = _care(cluster)
    assert code == 1
    assert any(each.startswith("reassignments are unknown") for each in document["unknown"])
