"""A salvage is produced to its targets: `Work` knows what there is to do, and `replay` does it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kafka_unclean_recovery.salvage.replay.checkpoint import Checkpoint, Key, Progress
from kafka_unclean_recovery.salvage.replay.origin import Headers, Origin, Position, origin_headers
from kafka_unclean_recovery.salvage.replay.parquet import read_records
from kafka_unclean_recovery.salvage.replay.producing import Client, Producer, ProducingFailed
from kafka_unclean_recovery.salvage.replay.records import Fate, SavedRecord, fate, merged
from kafka_unclean_recovery.salvage.replay.saved import SavedPartition
from kafka_unclean_recovery.salvage.replay.target import Target, TargetCounts

# This many records or bytes are sent and acknowledged before the checkpoint is written.
_RECORDS = 10_000
_BYTES = 16 << 20

_NOTHING_DONE = Progress("", 0)

Known = Mapping[Key, Progress]


@dataclass(slots=True)
class Work:
    """The replay of one partition. target: None when there is no such topic. there: how many
    records an earlier run had produced and not noted. produced: how many records this run
    produced."""

    cluster_id: str
    saved: SavedPartition
    target_topic: str
    target: Target | None
    with_open: bool
    counts: TargetCounts = field(default_factory=TargetCounts)
    there: int = 0
    produced: int = 0

    @property
    def key(self) -> Key:
        return self.saved.topic_partition, self.target_topic

    def wanted(self, known: Known, counts: TargetCounts) -> Iterator[tuple[SavedRecord, Headers]]:
        """Yield the records to produce with their headers, in order; tell `counts` what is left
        out.

        Raises InputError.
        """
        progress = known.get(self.key, _NOTHING_DONE)
        files = [read_records(file) for file in self.saved.files]
        for record in merged(files, str(self.saved.topic_partition)):
            kind = fate(record)
            if kind in (Fate.ABORTED, Fate.CONTROL) or (kind is Fate.OPEN and not self.with_open):
                counts.leave_out(record, kind)
            elif progress.has(kind, record.position):
                counts.leave_out(record, None)
            else:
                yield record, [*record.headers, *origin_headers(self._origin(record))]

    def look(self, known: Known, now: int, going_on: Callable[[], None]) -> None:
        """Fill in the counts. now: ms since 1970. Raises InputError, and what `going_on` raises."""
        for record, headers in self.wanted(known, self.counts):
            going_on()
            self.counts.produce(record, headers, self.target, now)

    def _origin(self, record: SavedRecord) -> Origin:
        topic, partition = self.saved.topic_partition.topic, self.saved.topic_partition.partition
        return Origin(
            self.cluster_id,
            topic,
            self.saved.topic_id,
            partition,
            record.offset,
            record.leader_epoch,
            record.broker,
            record.timestamp,
        )


Chunk = list[tuple[SavedRecord, Headers]]


def replay(
    work: Work,
    client: Client,
    producer: Producer,
    checkpoint: Checkpoint,
    going_on: Callable[[], None],
) -> None:
    """Produce the records of one partition. `going_on` is called between the steps; what it raises
    ends the run, which another run can continue. Raises ProducingFailed, InputError, OSError."""
    topic, partition = work.target_topic, work.saved.topic_partition.partition
    # All partitions were looked at before, which may have taken hours.
    if client.describe([topic]).get(topic) != work.target:
        raise ProducingFailed(
            f"{topic} is not as it was looked at: it or its configs were changed, or it was deleted"
            " and created again; nothing was produced to this partition"
        )
    progress = _begin(work, checkpoint)
    start = progress.next_offset if work.key in checkpoint.known else None
    end, origins = client.read_back(topic, partition, start, going_on)
    there = _positions(work.saved, origins)
    progress = replace(progress, next_offset=end)
    for chunk in _chunks(work.wanted(checkpoint.known, TargetCounts())):
        going_on()
        new = [(record, headers) for record, headers in chunk if record.position not in there]
        if new:
            end = producer.send(topic, partition, new)
            progress = replace(progress, next_offset=end)
        progress = replace(progress, done={**progress.done, **_last(chunk)})
        checkpoint.note(work.key, progress)
        work.produced += len(new)
        work.there += len(chunk) - len(new)


def _begin(work: Work, checkpoint: Checkpoint) -> Progress:
    assert work.target is not None
    progress = checkpoint.known.get(work.key)
    if progress is None:
        return Progress(work.target.topic_id, 0)
    if progress.target_topic_id != work.target.topic_id:
        raise ProducingFailed(
            f"{work.target_topic} was deleted and created again since the checkpoint was written:"
            " name a new --checkpoint"
        )
    return progress


def _positions(saved: SavedPartition, origins: Sequence[Origin]) -> set[Position]:
    partition = saved.topic_partition.partition
    return {
        origin.position
        for origin in origins
        if origin.topic_id == saved.topic_id and origin.partition == partition
    }


def _chunks(records: Iterator[tuple[SavedRecord, Headers]]) -> Iterator[Chunk]:
    chunk: Chunk = []
    size = 0
    for record, headers in records:
        chunk.append((record, headers))
        size += len(record.key or b"") + len(record.value or b"")
        size += sum(len(value or b"") for _, value in headers)
        if len(chunk) >= _RECORDS or size >= _BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _last(chunk: Chunk) -> dict[Fate, Position]:
    """Return the position of the last record of each fate."""
    return {fate(record): record.position for record, _ in chunk}
