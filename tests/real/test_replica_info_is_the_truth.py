"""What `--show-replica-info` says of running replicas is what is then found in their files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import TopicPartition as Position
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions

from tests.real.cli import Cli
from tests.real.cluster import KafkaCluster
from tests.real.dump_log import ReplicaTruth, Span, replica_truths
from tests.real.metadata import QUIETLY, SILENT
from tests.real.outages import Outage, last_replica_standing, stale_tail
from tests.real.recipes import TOPIC
from tests.real.records import create_topic, numbered, produce, produce_many
from tests.real.releases import TESTED
from tests.real.waiting import wait_until

Restored = Callable[[Outage], KafkaCluster]
Rows = Mapping[int, dict[str, Any]]

VERSIONS = TESTED
SHOW = ("--all-offline-partitions", "--show-replica-info")


@pytest.mark.parametrize("version", VERSIONS)
def test_followers_are_seen_past_their_high_watermark(
    restored: Restored, cli: Cli, version: str
) -> None:
    cluster = restored(last_replica_standing(version))
    rows = shown(cluster, cli)
    assert sorted(rows) == list(range(24))
    assert all(row["designated_leader"] == 3 for row in rows.values())
    followers = [log_of(row, broker) for row in rows.values() for broker in (3, 4)]
    # How far past depends on when they last wrote their checkpoints before they were killed.
    assert any(log["log_end_offset"] > log["high_watermark"] for log in followers)
    the_files_agree(cluster, rows, live=(3, 4))


@pytest.mark.parametrize("version", VERSIONS)
def test_lineages_are_seen_whole(restored: Restored, cli: Cli, version: str) -> None:
    cluster = restored(stale_tail(version))
    rows = shown(cluster, cli)
    newer = log_of(rows[0], 4)["epochs"]
    assert [(span["epoch"], span["end_offset"]) for span in newer] == [(0, 1000), (2, 1100)]
    the_files_agree(cluster, rows, live=(1, 4))


@pytest.mark.parametrize("version", VERSIONS)
def test_moved_log_starts_and_empty_replicas_are_seen(
    cli: Cli, tmp_path: Path, version: str
) -> None:
    with _unusual_logs(tmp_path / "cluster", version) as cluster:
        rows = shown(cluster, cli)
        starts = {p: log_of(row, 3)["log_start_offset"] for p, row in rows.items()}
        assert starts == dict.fromkeys((EPOCH_SKIPPED, NEVER_WRITTEN, NEVER_COPIED), 0) | (
            DELETED_BELOW
        )
        lineages = {DELETED: [0, 1, 2], EPOCH_DELETED: [1], EPOCH_SKIPPED: [0, 2]}
        for p, epochs in lineages.items():
            assert [span["epoch"] for span in log_of(rows[p], 3)["epochs"]] == epochs
        for emptied in (NEVER_WRITTEN, NEVER_COPIED, EMPTIED):
            assert log_of(rows[emptied], 3)["epochs"] == []
        the_files_agree(cluster, rows, live=(2, 3))


def test_the_table_marks_the_designated_leader(restored: Restored, cli: Cli) -> None:
    cluster = restored(last_replica_standing())
    done = cli.recover(cluster, *SHOW)
    assert done.code == 0, done
    replicas = [line for line in done.stdout.splitlines() if re.search(r" (yes|no) +\S", line)]
    marked = [line for line in replicas if line.endswith("*")]
    assert (len(replicas), len(marked)) == (24 * 4, 24)
    # Where broker 4 had led first, broker 3 followed into the next epoch.
    lineage = r"(0 +0 +\d+ +1500 +0:\[0,1500\)|1 +0 +\d+ +1500 +0:\[0,1000\) 1:\[1000,1500\))"
    broker_3 = rf" 3 +yes +{lineage} +0 records +unknown +\*$"
    assert all(re.search(broker_3, line) for line in marked)
    broker_4 = r" 4 +yes +0 +0 +\d+ +1000 +0:\[0,1000\) +500 records +unknown$"
    assert sum(bool(re.search(broker_4, line)) for line in replicas) == 24


def shown(cluster: KafkaCluster, cli: Cli) -> Rows:
    done = cli.recover(cluster, *SHOW, "--format", "json")
    assert done.code == 0, done
    rows = done.partitions(TOPIC)
    assert all(row["outcome"] is None and row["leader"] == -1 for row in rows.values())
    return rows


def log_of(row: Mapping[str, Any], broker: int) -> dict[str, Any]:
    return next(log for log in row["replica_logs"] if log["broker"] == broker)


def the_files_agree(cluster: KafkaCluster, rows: Rows, live: Iterable[int]) -> None:
    """End the cluster, and compare every log that was shown with the files."""
    cluster.kill_all()
    for broker in live:
        hosted = [p for p, row in rows.items() if broker in row["replicas"]]
        shown = {p: log_of(rows[p], broker) for p in hosted}
        truths = replica_truths(cluster, broker, TOPIC, hosted)
        assert {p: _as_truth(log) for p, log in shown.items()} == {
            p: _readable(truth) for p, truth in truths.items()
        }
        epochs = {p: _last_epochs(truth) for p, truth in truths.items()}
        assert all(log["last_written_leader_epoch"] in epochs[p] for p, log in shown.items())
        marks = {p: log["high_watermark"] for p, log in shown.items()}
        assert marks == {p: _high_watermarks(cluster, broker).get(p, 0) for p in hosted}
    _the_dead_are_unknown(rows, live)


def _the_dead_are_unknown(rows: Rows, live: Iterable[int]) -> None:
    measured = ("last_written_leader_epoch", "log_start_offset", "high_watermark")
    for row in rows.values():
        for log in row["replica_logs"]:
            assert log["live"] == (log["broker"] in live)
            if not log["live"]:
                seen = [log[name] for name in (*measured, "log_end_offset", "epochs")]
                assert seen == [None] * 5


def _as_truth(log: Mapping[str, Any]) -> ReplicaTruth:
    spans = [Span(s["epoch"], s["start_offset"], s["end_offset"]) for s in log["epochs"]]
    return ReplicaTruth(log["log_start_offset"], log["log_end_offset"], spans)


def _readable(truth: ReplicaTruth) -> ReplicaTruth:
    """Return what can be read: deleted records stay in the file until their whole segment goes."""
    begin = truth.log_start
    spans = [Span(s.epoch, max(s.start, begin), s.end) for s in truth.lineage if s.end > begin]
    return truth._replace(lineage=spans)


def _last_epochs(truth: ReplicaTruth) -> tuple[int | None, ...]:
    """Return the last epochs: a broker forgets those of an emptied log when it is started again."""
    if truth.log_end == 0:
        return (-1,)
    last = truth.lineage[-1]
    return (last.epoch,) if last.end > truth.log_start else (last.epoch, None)


def _high_watermarks(cluster: KafkaCluster, broker: int) -> dict[int, int]:
    """Return the broker's own checkpoint, from which it begins and which it renews every 5 s."""
    lines = (cluster.log_dir(broker) / "replication-offset-checkpoint").read_text().splitlines()
    found = (line.split() for line in lines[2:])
    return {int(partition): int(offset) for topic, partition, offset in found if topic == TOPIC}


# Partitions of an outage of unusual logs, by what becomes of their records.
DELETED, SEGMENTS_GONE, EMPTIED, EPOCH_DELETED, EPOCH_SKIPPED, NEVER_WRITTEN = range(6)
NEVER_COPIED = 6
FIVE_HUNDRED = (EMPTIED, EPOCH_DELETED, EPOCH_SKIPPED)
DELETED_BELOW = {DELETED: 400, SEGMENTS_GONE: 2500, EMPTIED: 500, EPOCH_DELETED: 600}


def _unusual_logs(directory: Path, version: str) -> KafkaCluster:
    """Return a cluster: brokers 2 and 3 are back, broker 1 was the last in sync and is dead."""
    # Deleted segments go at once. The clean stops below write the log start checkpoint.
    properties = {"log.retention.check.interval.ms": "500", "log.initial.task.delay.ms": "500"}
    cluster = KafkaCluster.create(directory, version, brokers=3, properties=properties)
    try:
        cluster.start()
        _write_and_delete(cluster)
        _fall_behind(cluster)
    except BaseException:
        cluster.close()
        raise
    return cluster


def _write_and_delete(cluster: KafkaCluster) -> None:
    assignment = [(1, 2, 3)] * NEVER_COPIED
    create_topic(cluster.connection(), TOPIC, assignment, {"segment.bytes": str(1 << 20)})
    first = {DELETED: range(1000)} | dict.fromkeys(FIVE_HUNDRED, range(500))
    produce_many(cluster.connection(), TOPIC, first)
    big = {SEGMENTS_GONE: range(3000)}
    produce_many(cluster.connection(), TOPIC, big, value=lambda n: numbered(n).ljust(1000))
    # Broker 2 leads, in the second epoch, and then broker 1 again, in the third.
    cluster.stop(1)
    _in_sync(cluster, {2, 3})
    second = {DELETED: range(1000, 1200), EPOCH_DELETED: range(500, 800)}
    produce_many(cluster.connection(), TOPIC, second)
    cluster.start_node(1)
    _in_sync(cluster, {1, 2, 3})
    which = ("--election-type", "preferred", "--all-topic-partitions")
    cluster.script("kafka-leader-election", "--bootstrap-server", cluster.address(1), *which)
    cluster.wait_until_partitions(TOPIC, lambda seen: seen.leader == 1)
    third = {DELETED: range(1200, 1250), EPOCH_SKIPPED: range(500, 600)}
    produce_many(cluster.connection(), TOPIC, third)
    _delete_records(cluster, DELETED_BELOW)


def _delete_records(cluster: KafkaCluster, below: Mapping[int, int]) -> None:
    """Delete records; every replica has moved its log start when this returns."""
    client = _admin(cluster)
    asked = client.delete_records([Position(TOPIC, p, offset) for p, offset in below.items()])
    for at, answer in asked.items():
        assert answer.result(30.0).low_watermark == below[at.partition]
    brokers = cluster.spec.broker_ids
    wait_until(
        lambda: all(_first_segment(cluster, broker) > 0 for broker in brokers),
        30.0,
        lambda: f"segments deleted; first: {[_first_segment(cluster, b) for b in brokers]}",
    )


def _first_segment(cluster: KafkaCluster, broker: int) -> int:
    segments = (cluster.log_dir(broker) / f"{TOPIC}-{SEGMENTS_GONE}").glob("*.log")
    return min(int(segment.stem) for segment in segments)


def _fall_behind(cluster: KafkaCluster) -> None:
    """Stop broker 3, then broker 2; broker 1 writes on alone before it dies."""
    cluster.stop(3)
    _in_sync(cluster, {1, 2})
    produce(cluster.connection(), TOPIC, DELETED, 50, first=1250)
    _add_partition(cluster)
    produce(cluster.connection(), TOPIC, NEVER_COPIED, 50)
    cluster.stop(2)
    _in_sync(cluster, {1})
    produce(cluster.connection(), TOPIC, DELETED, 50, first=1300)
    cluster.kill(1)
    cluster.wait_until_fenced({1})
    cluster.start([2, 3])
    cluster.wait_until_partitions(TOPIC, lambda seen: seen.offline)


def _add_partition(cluster: KafkaCluster) -> None:
    """Add a partition while 3 is down: it begins outside the ISR and never gets a record."""
    client = _admin(cluster)
    new = NewPartitions(TOPIC, NEVER_COPIED + 1, replica_assignment=[[1, 2, 3]])
    client.create_partitions([new])[TOPIC].result(30.0)
    wait_until(
        lambda: all(NEVER_COPIED in cluster.view(b).topics[TOPIC] for b in cluster.live_brokers),
        30.0,
        lambda: f"partition {NEVER_COPIED} known to every broker",
    )


def _admin(cluster: KafkaCluster) -> AdminClient:
    settings: dict[str, str | int | float | bool] = {**cluster.connection(), **QUIETLY}
    return AdminClient(settings, logger=SILENT)


def _in_sync(cluster: KafkaCluster, isr: set[int]) -> None:
    cluster.wait_until_partitions(
        TOPIC, lambda seen: not seen.offline and set(seen.isr) == isr, timeout=60.0
    )
