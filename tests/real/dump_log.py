"""What is truly in a replica's files, by kafka-dump-log.sh: the judge of every other answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from kafka_unclean_recovery.model import TopicPartition
from tests.real.cluster import KafkaCluster

DUMPING = re.compile(r"^Dumping (.+\.log)$")
BATCH = re.compile(r"^baseOffset: (\d+) lastOffset: (\d+) .*?partitionLeaderEpoch: (-?\d+) ")
ZEROS = re.compile(r"Found record size 0 smaller than minimum record overhead .* file (.+\.log)\.")
# A command line holds about 2 MB of arguments, one of them 128 kB.
SEGMENTS_PER_CALL = 500
METADATA_TOPIC = "__cluster_metadata"


class Span(NamedTuple):
    """The records that one epoch wrote: offsets [start, end)."""

    epoch: int
    start: int
    end: int


class ReplicaTruth(NamedTuple):
    """An epoch that wrote nothing leaves no span, though leader-epoch-checkpoint may name it."""

    log_start: int
    log_end: int
    lineage: list[Span]


def replica_truth(cluster: KafkaCluster, broker: int, topic: str, partition: int) -> ReplicaTruth:
    """Read from the files of a stopped broker."""
    return replica_truths(cluster, broker, topic, [partition])[partition]


def replica_truths(
    cluster: KafkaCluster, broker: int, topic: str, partitions: Iterable[int]
) -> dict[int, ReplicaTruth]:
    """Many partitions for little more than the price of one."""
    found = {p: _segments(cluster, broker, topic, p) for p in partitions}
    truths = _truths(cluster, broker, {TopicPartition(topic, p): s for p, s in found.items()})
    return {partition.partition: truth for partition, truth in truths.items()}


def broker_truths(cluster: KafkaCluster, broker: int) -> dict[TopicPartition, ReplicaTruth]:
    """Every replica of a stopped broker that is in use, the metadata log apart."""
    segments: dict[TopicPartition, list[Path]] = {}
    for directory in (d for log_dir in cluster.log_dirs(broker) for d in log_dir.glob("*-*")):
        topic, _, partition = directory.name.rpartition("-")
        if partition.isdigit() and topic != METADATA_TOPIC:
            found = sorted(directory.glob("*.log"))
            segments[TopicPartition(topic, int(partition))] = found
    return _truths(cluster, broker, segments)


def _truths(
    cluster: KafkaCluster, broker: int, segments: Mapping[TopicPartition, list[Path]]
) -> dict[TopicPartition, ReplicaTruth]:
    if cluster.alive(broker):
        raise ValueError(f"broker {broker} is still writing")
    batches = _dump(cluster, [segment for found in segments.values() for segment in found])
    starts = _log_starts(cluster, broker)
    return {
        partition: _truth(
            [span for segment in found for span in batches[segment]],
            max(int(found[0].stem), starts.get(partition, 0)),
        )
        for partition, found in segments.items()
    }


def _segments(cluster: KafkaCluster, broker: int, topic: str, partition: int) -> list[Path]:
    for log_dir in cluster.log_dirs(broker):
        if found := sorted((log_dir / f"{topic}-{partition}").glob("*.log")):
            return found
    raise FileNotFoundError(f"broker {broker} holds no {topic}-{partition}")


def _dump(cluster: KafkaCluster, segments: list[Path]) -> dict[Path, list[Span]]:
    batches: dict[Path, list[Span]] = {segment: [] for segment in segments}
    left = segments
    while left:
        asked = left[:SEGMENTS_PER_CALL]
        output, done = _dump_once(cluster, asked)
        for segment, span in _parse(output):
            batches[segment].append(span)
        left = left[done:]
    return batches


def _dump_once(cluster: KafkaCluster, segments: list[Path]) -> tuple[str, int]:
    """(output, how many segments it is about): the tool gives up at the zeros behind the last
    batch of a preallocated segment."""
    names = ",".join(map(str, segments))
    done = cluster.script("kafka-dump-log", "--files", names, check=False)
    if done.returncode == 0:
        return done.stdout, len(segments)
    zeros = ZEROS.search(done.stderr)
    if zeros is None:
        raise RuntimeError(f"kafka-dump-log ended with {done.returncode}: {done.stderr}")
    return done.stdout, segments.index(Path(zeros[1])) + 1


def _parse(output: str) -> Iterator[tuple[Path, Span]]:
    segment: Path | None = None
    for line in output.splitlines():
        if dumping := DUMPING.match(line):
            segment = Path(dumping[1])
        elif (batch := BATCH.match(line)) and segment is not None:
            base, last, epoch = map(int, batch.groups())
            yield segment, Span(epoch, base, last + 1)


def _truth(batches: list[Span], log_start: int) -> ReplicaTruth:
    lineage = []
    for epoch, written in groupby(batches, key=lambda batch: batch.epoch):
        first, *rest = written
        lineage.append(Span(epoch, first.start, rest[-1].end if rest else first.end))
    return ReplicaTruth(log_start, lineage[-1].end if lineage else log_start, lineage)


def _log_starts(cluster: KafkaCluster, broker: int) -> dict[TopicPartition, int]:
    """Partitions whose log starts later than their first segment: DeleteRecords does that."""
    starts: dict[TopicPartition, int] = {}
    for log_dir in cluster.log_dirs(broker):
        checkpoint = log_dir / "log-start-offset-checkpoint"
        if checkpoint.exists():
            for line in checkpoint.read_text().splitlines()[2:]:
                topic, partition, offset = line.split()
                starts[TopicPartition(topic, int(partition))] = int(offset)
    return starts
