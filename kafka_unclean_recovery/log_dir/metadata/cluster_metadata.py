"""Read the state of a cluster from one node's `__cluster_metadata-0`: a snapshot, then the log.

    <offset, 20 digits>-<epoch, 10 digits>.checkpoint   a snapshot of all before `offset`: batches
        as in the log, but offsets count from 0; the first record is a SnapshotHeader, and the last
        a SnapshotFooter, without which it was not finished
    <base offset, 20 digits>.log                        a segment; every offset is there

The other files there (.part, .deleted, indexes, quorum-state, leader-epoch-checkpoint) are ignored:
they hold nothing more about the cluster.

**What is certain.** A node writes records before they are committed, and none of its files tells
which are committed (quorum-state holds votes; replication-offset-checkpoint leaves this partition
out). Only the records in a snapshot are committed for sure: `committed_to`. The records after it,
up to `end_offset`, are decided in a cluster of one controller; with more controllers the last of
them may have been given up. Of several nodes, believe the one with the greatest `authority`; the
records of its last epoch that a majority of the voters hold are committed, and so are all records
before them.

**Where the log ends.** The log ends at the first batch whose length, magic, CRC, offset or epoch
does not follow from the batches before it, or whose records can't be decoded; `stopped` says why,
and the rest is not read. Base offset and epoch lie outside the CRC. Only one offset fits. An epoch
begins with a LeaderChange, so an epoch that begins with another record, or falls, is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeGuard

from crc32c import crc32c

from kafka_unclean_recovery.kafka_names import METADATA_VERSION
from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.metadata.batches import (
    Batch,
    MetadataFile,
    read_batches,
)
from kafka_unclean_recovery.log_dir.metadata.image import MetadataImage
from kafka_unclean_recovery.log_dir.metadata.layouts import NOT_TEXT
from kafka_unclean_recovery.log_dir.metadata.loading.replay import Fatal, Loading
from kafka_unclean_recovery.log_dir.metadata.records import (
    FEATURE_LEVEL,
    LEADER_CHANGE,
    SNAPSHOT_FOOTER,
    SNAPSHOT_HEADER,
    ControlRecord,
    MetadataRecord,
    UnknownRecord,
    decode_control_record,
    decode_record,
)
from kafka_unclean_recovery.log_dir.segments.batches import (
    OVERHEAD,
    UP_TO_MAGIC,
    V2,
    V2_CRC_FROM,
)

_SNAPSHOT = re.compile(r"([0-9]{20})-([0-9]{10})\.checkpoint")
_BEFORE_ALL = -1
"""This number stands for an epoch before the first."""
_SEGMENT = re.compile(r"([0-9]{20})\.log")

Record = MetadataRecord | ControlRecord | UnknownRecord


class SnapshotId(NamedTuple):
    """The id of a snapshot: it holds all records before `offset`, the last with `epoch`."""

    offset: int
    epoch: int


@dataclass(frozen=True, slots=True)
class ClusterMetadata:
    """The state that one node's files tell, and how far they tell it.

    `end_offset` is exclusive, `last_epoch` the epoch of the record before it, and
    `last_timestamp_ms` the time when that record was written; None when there is no record.
    `stopped` is the reason why the log ends before its files do. `problems` are snapshots passed
    over. `fatal` is the record at which a controller that loads all this dies, where that was
    asked for.
    """

    image: MetadataImage
    snapshot: SnapshotId | None
    end_offset: int
    last_epoch: int | None
    last_timestamp_ms: int | None
    stopped: str | None
    problems: tuple[str, ...] = ()
    fatal: Fatal | None = None

    @property
    def committed_to(self) -> int:
        """Return the end of the surely committed records (exclusive)."""
        return 0 if self.snapshot is None else self.snapshot.offset

    @property
    def authority(self) -> tuple[int, int]:
        """Return the rank of a node's log: believe the greater of two, as a quorum elects."""
        return -1 if self.last_epoch is None else self.last_epoch, self.end_offset


@dataclass(slots=True)
class _State:
    image: MetadataImage
    loading: Loading | None
    end_offset: int = 0
    last_epoch: int | None = None
    last_timestamp_ms: int | None = None

    def replay(self, record: Record, offset: int, *, in_snapshot: bool = False) -> None:
        self.image.replay(record)
        if self.loading is not None:
            self.loading.replay(record, offset, in_snapshot=in_snapshot)


def is_metadata_file(name: str) -> bool:
    """Return True for the files that `read_metadata` reads."""
    return bool(_SNAPSHOT.fullmatch(name) or _SEGMENT.fullmatch(name))


def read_metadata(files: Iterable[MetadataFile], *, as_controller: bool = False) -> ClusterMetadata:
    """Return the newest state that the files of a `__cluster_metadata-0` hold; other files are
    ignored. as_controller: find the record at which a controller would die, too.

    A damaged snapshot is passed over for an older one, and the log is read from there. Raises
    BadFormat when there is nothing to begin from: no sound snapshot, and a log that does not begin
    at offset 0, or is damaged in its first batch.
    """
    snapshots, segments = _sorted(files)
    state, snapshot, problems = _newest_snapshot(snapshots, as_controller)
    stopped = _read_log(segments, state)
    if state.last_epoch is None and (stopped or problems or not segments):
        raise BadFormat("__cluster_metadata-0", "; ".join([*problems, stopped or "no log"]))
    return ClusterMetadata(
        image=state.image,
        snapshot=snapshot,
        end_offset=state.end_offset,
        last_epoch=state.last_epoch,
        last_timestamp_ms=state.last_timestamp_ms,
        stopped=stopped,
        problems=tuple(problems),
        fatal=None if state.loading is None else state.loading.first_fatal,
    )


def snapshots_of(files: Iterable[MetadataFile]) -> list[tuple[SnapshotId, MetadataFile]]:
    """Return the snapshots among the files, newest first."""
    return _sorted(files)[0]


def segments_of(files: Iterable[MetadataFile]) -> list[tuple[int, MetadataFile]]:
    """Return (base offset, segment) of the segments among the files, by base offset."""
    return _sorted(files)[1]


def is_finished(snapshot: SnapshotId, file: MetadataFile) -> bool:
    """Return True where every batch of the snapshot is whole and in its place, and the last is its
    footer; its records are not decoded."""
    expected, last = 0, None
    try:
        for last in read_batches(file):
            if last.base_offset != expected or last.leader_epoch != snapshot.epoch:
                return False
            expected = last.end_offset
        return last is not None and _is(_decoded(last, file)[-1], SNAPSHOT_FOOTER)
    except BadFormat:
        return False


def bootstrap_problem(name: str, data: bytes) -> str | None:
    """Return why no node starts with this bootstrap.checkpoint; None where one does. A node does
    not look at a batch that is cut at the end, nor at CRCs."""
    end, taken = 0, bytearray(data)
    while len(data) - end > UP_TO_MAGIC and (after := _batch_end(data, end)) <= len(data):
        start, end = end, max(after, end + OVERHEAD)
        if end - start >= V2.size:
            crc = crc32c(data[start + V2_CRC_FROM : end])
            taken[start + UP_TO_MAGIC : start + V2_CRC_FROM] = crc.to_bytes(4)
    file = MetadataFile.of(name, bytes(taken[:end]))
    try:
        names = {name for batch in read_batches(file) for name in _features_of(batch)}
    except BadFormat as error:
        return str(error)
    return None if METADATA_VERSION in names else f"it tells no {METADATA_VERSION}"


def _features_of(batch: Batch) -> Iterator[str]:
    for found in batch.records():
        try:
            record = _decode(batch, found.key, found.value)
        except BadFormat as error:
            # Java puts another character in the place of a byte that is no UTF-8.
            if NOT_TEXT in error.detail:
                continue
            raise
        if isinstance(record, MetadataRecord) and record.api_key == FEATURE_LEVEL:
            yield record.fields["name"]


def _batch_end(data: bytes, start: int) -> int:
    return start + OVERHEAD + int.from_bytes(data[start + 8 : start + OVERHEAD], signed=True)


def _sorted(
    files: Iterable[MetadataFile],
) -> tuple[list[tuple[SnapshotId, MetadataFile]], list[tuple[int, MetadataFile]]]:
    """Return (snapshots, newest first; segments by base offset)."""
    snapshots, segments = [], []
    for file in files:
        if found := _SNAPSHOT.fullmatch(file.name):
            snapshots.append((SnapshotId(int(found[1]), int(found[2])), file))
        elif found := _SEGMENT.fullmatch(file.name):
            segments.append((int(found[1]), file))
    snapshots.sort(key=lambda pair: pair[0], reverse=True)
    return snapshots, sorted(segments, key=lambda pair: pair[0])


def _newest_snapshot(
    snapshots: list[tuple[SnapshotId, MetadataFile]], as_controller: bool
) -> tuple[_State, SnapshotId | None, list[str]]:
    problems: list[str] = []
    for snapshot, file in snapshots:
        state = _State(
            MetadataImage(), Loading() if as_controller else None, snapshot.offset, snapshot.epoch
        )
        try:
            _read_snapshot(snapshot, file, state)
        except BadFormat as error:
            problems.append(f"snapshot passed over: {error}")
        else:
            return state, snapshot, problems
    return _State(MetadataImage(), Loading() if as_controller else None), None, problems


def _read_snapshot(snapshot: SnapshotId, file: MetadataFile, state: _State) -> None:
    last: Record | None = None
    for record in _snapshot_records(snapshot, file):
        if last is None:
            if not _is(record, SNAPSHOT_HEADER):
                raise BadFormat(file.name, "does not begin with a snapshot's header")
            state.last_timestamp_ms = record.fields["last_contained_log_timestamp"]
        elif _is(last, SNAPSHOT_FOOTER):
            raise BadFormat(file.name, "goes on behind its footer")
        state.replay(record, snapshot.offset, in_snapshot=True)
        last = record
    if last is None or not _is(last, SNAPSHOT_FOOTER):
        raise BadFormat(file.name, "ends without a footer: it was never finished")


def _snapshot_records(snapshot: SnapshotId, file: MetadataFile) -> Iterator[Record]:
    expected = 0
    for batch in read_batches(file):
        if batch.base_offset != expected or batch.leader_epoch != snapshot.epoch:
            raise BadFormat(
                file.name,
                f"a batch of offset {batch.base_offset} and epoch {batch.leader_epoch} where"
                f" {expected} and {snapshot.epoch} belong",
            )
        expected = batch.end_offset
        yield from _decoded(batch, file)


def _is(record: Record, control_type: int) -> TypeGuard[ControlRecord]:
    return isinstance(record, ControlRecord) and record.type == control_type


def _decoded(batch: Batch, file: MetadataFile) -> list[Record]:
    try:
        return [_decode(batch, found.key, found.value) for found in batch.records()]
    except BadFormat as error:
        raise BadFormat(file.name, f"{error}, in the batch at byte {batch.position}") from None


def _decode(batch: Batch, key: bytes | None, value: bytes | None) -> Record:
    if value is None or (batch.control and key is None):
        raise BadFormat("record", "null where nothing may be null")
    return decode_control_record(key or b"", value) if batch.control else decode_record(value)


def _read_log(segments: list[tuple[int, MetadataFile]], state: _State) -> str | None:
    """Replay the log after `state` onto it, and return the reason why it ended early, or None."""
    begun = [base for base, _ in segments if base <= state.end_offset]
    needed = [pair for pair in segments if not begun or pair[0] >= begun[-1]]
    if not needed:
        return None
    first = needed[0][0]
    if first > state.end_offset:
        return (
            f"the log begins at offset {first}, and nothing leads from {state.end_offset} to there"
        )
    sequence = _Sequence(first, state.end_offset, state.last_epoch)
    try:
        for base, file in needed:
            sequence.must_begin(base, file)
            for batch in read_batches(file):
                _replay(batch, sequence.next(batch, file), state)
    except BadFormat as error:
        return str(error)
    return None


def _replay(batch: Batch, decoded: list[Record], state: _State) -> None:
    if batch.end_offset <= state.end_offset:
        return
    known = max(0, state.end_offset - batch.base_offset)
    for offset, record in enumerate(decoded[known:], batch.base_offset + known):
        state.replay(record, offset)
    state.end_offset = batch.end_offset
    state.last_epoch = batch.leader_epoch
    if batch.max_timestamp >= 0:
        state.last_timestamp_ms = batch.max_timestamp


class _Sequence:
    """The rules for the next batch of the log, given the batch before it and the snapshot."""

    def __init__(self, first: int, snapshot_end: int, snapshot_epoch: int | None) -> None:
        self.expected = first
        self._snapshot_end = snapshot_end
        self._snapshot_epoch = snapshot_epoch
        before_all = _BEFORE_ALL if snapshot_epoch is None else snapshot_epoch
        # If the log begins before the snapshot's end, the epoch of its first batch is not known.
        self._epoch = before_all if first == snapshot_end else None

    def must_begin(self, base: int, file: MetadataFile) -> None:
        if base != self.expected:
            raise BadFormat(file.name, f"the segment before it ends at {self.expected}")

    def next(self, batch: Batch, file: MetadataFile) -> list[Record]:
        """Return the records of a batch, none if the snapshot holds it whole. Raises BadFormat."""

        def refused(why: str) -> BadFormat:
            return BadFormat(file.name, f"{why}, at byte {batch.position}")

        if batch.base_offset != self.expected:
            raise refused(f"offset {batch.base_offset} where {self.expected} belongs")
        rises = self._epoch is not None and batch.leader_epoch > self._epoch
        needed = rises or batch.end_offset > self._snapshot_end
        decoded = _decoded(batch, file) if needed else []
        if self._epoch is not None and batch.leader_epoch < self._epoch:
            raise refused(f"epoch {batch.leader_epoch} after epoch {self._epoch}")
        if rises and not _is(decoded[0], LEADER_CHANGE):
            raise refused(f"epoch {batch.leader_epoch} begins without a change of leader")
        if batch.base_offset < self._snapshot_end <= batch.end_offset:
            self._must_agree(batch, refused)
        self.expected = batch.end_offset
        self._epoch = batch.leader_epoch
        return decoded

    def _must_agree(self, batch: Batch, refused: Callable[[str], BadFormat]) -> None:
        if batch.leader_epoch != self._snapshot_epoch:
            ours, theirs = batch.leader_epoch, self._snapshot_epoch
            raise refused(f"epoch {ours} where the snapshot ends with epoch {theirs}")
