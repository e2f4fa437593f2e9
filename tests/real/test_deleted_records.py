"""Records deleted less than a minute before a power cut, as Kafka Streams does every 30 s: the log
start that a broker has moved is written down later than the leader epochs that go with it.

Scanned in every mode, planned, and held against what the brokers say once they are back.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import TopicPartition as Position
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined]

from tests.real.cli import Cli
from tests.real.cluster import KafkaCluster
from tests.real.metadata import QUIETLY, SILENT
from tests.real.properties import node_directory
from tests.real.records import create_topic, numbered, produce_many, wait_until_replicated
from tests.real.releases import TESTED
from tests.real.waiting import wait_until

TIMEOUT = 60.0
# The time in which the second deletions must be made and both brokers killed.
WRITTEN_DOWN_MS = "20000"
PROPERTIES: Mapping[str, str] = {
    "log.flush.start.offset.checkpoint.interval.ms": WRITTEN_DOWN_MS,
    "log.retention.check.interval.ms": WRITTEN_DOWN_MS,
    "log.flush.offset.checkpoint.interval.ms": "1000",
    "log.initial.task.delay.ms": "500",
}
# Broker 3 dies before any record is deleted.
EARLY, END = 80, 120
LIVE = (1, 2)
TRIES = 3


@dataclass(frozen=True, slots=True)
class Topic:
    """Where its records are deleted up to: before the log starts are written down, and after; then
    so many are appended. small: it has three segments."""

    before: int | None = None
    after: int | None = None
    appended: int = 0
    small: bool = False


TOPICS = {
    "flushed": Topic(before=33),
    "inside_a_segment": Topic(after=33),
    "all_in_one_segment": Topic(after=END),
    "all_in_three_segments": Topic(after=END, small=True),
    "all_then_appended": Topic(after=END, appended=20),
    "all_flushed": Topic(before=END),
    "old_checkpoint": Topic(before=20, after=60),
    "leading_segments_deleted": Topic(before=70, after=110, small=True),
}


@dataclass(frozen=True, slots=True)
class AfterThePowerCut:
    cluster: KafkaCluster

    @property
    def disks(self) -> list[str]:
        nodes = (101, 1, 2, 3)
        return [str(node_directory(self.cluster.directory, node)) for node in nodes]

    def segments(self, topic: str) -> list[int]:
        directory = self.cluster.log_dir(1) / f"{topic}-0"
        return sorted(int(segment.stem) for segment in directory.glob("*.log"))

    def was_written_down(self, broker: int, topic: str, start: int | None) -> bool:
        path = self.cluster.log_dir(broker) / "log-start-offset-checkpoint"
        return f"{topic} 0 {start}\n" in path.read_text()

    def checkpoint(self, name: str, topic: str) -> str:
        path = self.cluster.log_dir(1) / name
        return next((x for x in path.read_text().splitlines() if x.startswith(f"{topic} 0 ")), "")


@pytest.fixture(scope="module", params=TESTED)
def cut(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[AfterThePowerCut]:
    for _ in range(TRIES):
        directory = tmp_path_factory.mktemp("deleted") / "cluster"
        with KafkaCluster.create(
            directory, request.param, brokers=3, properties=PROPERTIES
        ) as cluster:
            found = _cut(cluster)
            if not any(
                found.was_written_down(b, n, t.after) for n, t in TOPICS.items() for b in LIVE
            ):
                yield found
                return
    pytest.fail(f"log starts were written down once more before the power cut, {TRIES} times")


def _cut(cluster: KafkaCluster) -> AfterThePowerCut:
    """Delete records before log starts are written down, and after. On a busy machine they may be
    written down once more before all is killed."""
    cluster.start()
    _write_topics(cluster)
    _delete(cluster, {name: topic.before for name, topic in TOPICS.items()})
    found = AfterThePowerCut(cluster)
    _until_written_down(found)
    _delete(cluster, {name: topic.after for name, topic in TOPICS.items()})
    for name, topic in TOPICS.items():
        _produce(cluster, name, range(END, END + topic.appended))
    cluster.kill_all()
    return found


def _write_topics(cluster: KafkaCluster) -> None:
    modern = int(cluster.spec.version.partition(".")[0]) >= 4
    small = {"internal.segment.bytes" if modern else "segment.bytes": "16384"}
    for name, topic in TOPICS.items():
        config = small if topic.small else {}
        create_topic(cluster.connection(), name, [[1, 2, 3]], config)
        cluster.wait_until_partitions(name, lambda seen: not seen.offline)
        _produce(cluster, name, range(EARLY))
    cluster.kill(3)
    cluster.wait_until_fenced({3})
    for name in TOPICS:
        _produce(cluster, name, range(EARLY, END))


def _produce(cluster: KafkaCluster, topic: str, numbers: range) -> None:
    connection = {**cluster.connection(), "batch.num.messages": "10"}
    produce_many(connection, topic, {0: numbers}, value=lambda n: numbered(n).ljust(300))
    wait_until_replicated(cluster.connection(), topic, {0: numbers.stop})


def _delete(cluster: KafkaCluster, below: Mapping[str, int | None]) -> None:
    """Delete records; both brokers have done so when this returns."""
    client = AdminClient({**cluster.connection(), **QUIETLY}, logger=SILENT)
    wanted = [Position(topic, 0, offset) for topic, offset in below.items() if offset is not None]
    for at, answer in client.delete_records(wanted).items():
        assert answer.result(TIMEOUT).low_watermark == below[at.topic]


def _until_written_down(found: AfterThePowerCut) -> None:
    """Wait until log starts are written down, and segments below them deleted, on both brokers."""

    def left() -> list[str]:
        known = [
            f"{name} of {broker}"
            for name, topic in TOPICS.items()
            for broker in LIVE
            if topic.before is not None and not found.was_written_down(broker, name, topic.before)
        ]
        whole = [
            str(directory)
            for broker in LIVE
            for directory in found.cluster.log_dir(broker).glob("leading_segments_deleted-0")
            if (directory / f"{0:020}.log").exists()
        ]
        return known + whole

    wait_until(lambda: not left(), TIMEOUT, lambda: f"written down; left: {left()}")


def test_the_disks_are_as_a_power_cut_leaves_them(cut: AfterThePowerCut) -> None:
    """What the tests below would not notice, were it missing."""
    for name, topic in TOPICS.items():
        written = cut.checkpoint("log-start-offset-checkpoint", name)
        assert written == (f"{name} 0 {topic.before}" if topic.before else ""), name
        epochs = cut.cluster.log_dir(1) / f"{name}-0" / "leader-epoch-checkpoint"
        assert epochs.read_text().splitlines()[2].split()[1] == str(topic.after or topic.before)
    assert cut.segments("all_in_one_segment") == [0]
    assert len(cut.segments("all_in_three_segments")) >= 3
    assert cut.segments("leading_segments_deleted")[0] > 0


@pytest.mark.parametrize("mode", ["fast", "recover", "deep"])
def test_every_replica_is_trusted_and_goes_as_far_as_its_broker_says_once_back(
    cut: AfterThePowerCut, tmp_path: Path, mode: str
) -> None:
    done = Cli(tmp_path).offline("scan-log-dirs", *cut.disks, "--mode", mode, "--format", "json")
    assert done.code == 0, done
    for name, topic in TOPICS.items():
        rows = _rows(done.replica_info, name)
        assert [row["broker"] for row in rows] == [1, 2, 3]
        for row in rows:
            assert (row["problem"], row["suspect"]) == (None, None), (name, row)
        end = END + topic.appended
        assert [row["log_end_offset"] for row in rows] == [end, end, EARLY], name
        deleted = max(topic.before or 0, topic.after or 0)
        spans = [{"epoch": 0, "start_offset": deleted, "end_offset": end}] if deleted < end else []
        assert [_spans(row) for row in rows[:2]] == [spans, spans], name


def _rows(info: Mapping[str, Any], topic: str) -> list[dict[str, Any]]:
    part = next(part for part in info["partitions"] if part["topic"] == topic)
    rows: list[dict[str, Any]] = part["replica_logs"]
    return rows


def _spans(row: Mapping[str, Any]) -> list[dict[str, int]]:
    """Return the spans whatever epoch led: broker 1's death is no part of this."""
    spans: list[dict[str, int]] = row["epochs"]
    return [{**span, "epoch": 0} for span in spans]


def test_the_plan_designates_a_replica_that_was_healthy_and_not_the_one_that_died_first(
    cut: AfterThePowerCut, tmp_path: Path
) -> None:
    leaders = tmp_path / "leaders.json"
    directories = [word for disk in cut.disks for word in ("--log-dirs", disk)]
    done = Cli(tmp_path).offline(
        "plan", *directories, "--manual-recovery-output-file", str(leaders), "--format", "json"
    )
    assert done.code == 0, done
    designated = {
        row["topic"]: row["designatedLeader"]
        for row in json.loads(leaders.read_text())["partitions"]
    }
    assert designated == dict.fromkeys(TOPICS, 1)
    for name in TOPICS:
        row = done.partitions(name)[0]
        assert row["loss"]["certain"] == 0, (name, row["loss"])


def test_the_brokers_say_the_same_once_they_are_back(cut: AfterThePowerCut, tmp_path: Path) -> None:
    """Last: it changes the disks."""
    done = Cli(tmp_path).offline("scan-log-dirs", *cut.disks, "--format", "json")
    cut.cluster.start([101, 1, 2])
    for name, topic in TOPICS.items():
        cut.cluster.wait_until_partitions(name, lambda seen: seen.leader in (1, 2), TIMEOUT)
        wait_until_replicated(cut.cluster.connection(), name, {0: END + topic.appended})
        leader = cut.cluster.view(1).topics[name][0].leader
        row = next(r for r in _rows(done.replica_info, name) if r["broker"] == leader)
        said = (row["log_start_offset"], row["log_end_offset"])
        assert said == _offsets(cut.cluster, name), (name, row)


def _offsets(cluster: KafkaCluster, topic: str) -> tuple[int, int]:
    """Return log start and high watermark by the leader, here the log end."""
    client = AdminClient({**cluster.connection(), **QUIETLY}, logger=SILENT)
    at = Position(topic, 0)

    def ask(which: Any) -> int:
        found: int = client.list_offsets({at: which})[at].result(TIMEOUT).offset
        return found

    return (
        ask(OffsetSpec.earliest()),  # type: ignore[no-untyped-call]
        ask(OffsetSpec.latest()),  # type: ignore[no-untyped-call]
    )
