"""What is truly in a replica's files, by kafka-dump-log.sh: the judge of every other answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from tests.real.cluster import KafkaCluster

DUMPING = re.compile(r"^Dumping (.+\.log)$")
BATCH = re.compile(r"^baseOffset: (\d+) lastOffset: (\d+) .*?partitionLeaderEpoch: (-?\d+) ")
# A command line holds about 2 MB of arguments, one of them 128 kB.
SEGMENTS_PER_CALL = 500


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
    if cluster.alive(broker):
        raise ValueError(f"broker {broker} is still writing")
    segments = {p: _segments(cluster, broker, topic, p) for p in partitions}
    batches = _dump(cluster, [segment for found in segments.values() for segment in found])
    starts = _log_starts(cluster, broker)
    return {
        partition: _truth(
            [span for segment in found for span in batches[segment]],
            max(int(found[0].stem), starts.get((topic, partition), 0)),
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
    for begin in range(0, len(segments), SEGMENTS_PER_CALL):
        names = ",".join(map(str, segments[begin : begin + SEGMENTS_PER_CALL]))
        output = cluster.script("kafka-dump-log", "--files", names).stdout
        for segment, span in _parse(output):
            batches[segment].append(span)
    return batches


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


def _log_starts(cluster: KafkaCluster, broker: int) -> dict[tuple[str, int], int]:
    """Partitions whose log starts later than their first segment: DeleteRecords does that."""
    starts: dict[tuple[str, int], int] = {}
    for log_dir in cluster.log_dirs(broker):
        checkpoint = log_dir / "log-start-offset-checkpoint"
        if checkpoint.exists():
            for line in checkpoint.read_text().splitlines()[2:]:
                topic, partition, offset = line.split()
                starts[topic, int(partition)] = int(offset)
    return starts
