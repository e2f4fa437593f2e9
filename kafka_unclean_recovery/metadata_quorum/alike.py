"""Read a copy of the metadata log by comparing its bytes with one that was read before.

Most copies of a cluster are the beginning of the longest one, byte by byte, and to decode each
takes as long as to decode that one. Checkpoints of one offset differ in their bytes, for each node
writes its own, and hold the same state.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.metadata.batches import Batch, MetadataFile, read_batches
from kafka_unclean_recovery.log_dir.metadata.cluster_metadata import (
    is_finished,
    segments_of,
    snapshots_of,
)
from kafka_unclean_recovery.log_dir.metadata.parting import log_batches
from kafka_unclean_recovery.metadata_quorum.copies import Copy, with_node
from kafka_unclean_recovery.metadata_quorum.log_end import LogEnd
from kafka_unclean_recovery.metadata_quorum.places import CopyPlace, metadata_files

_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True)
class _End:
    """The last batch of a log that is shorter than the other."""

    segment: MetadataFile
    batch: Batch


def alike(place: CopyPlace, base: Copy) -> Copy | None:
    """Return the copy at this place if it is the beginning of `base`, or all of it; None where it
    has to be read by itself. Raises BadFormat, Unreadable."""
    plain = base.sound and base.end.torn == 0 and not base.problems
    if not plain:
        return None
    with metadata_files(base.place) as ours, metadata_files(place) as theirs:
        if not _same_checkpoint(ours, theirs) or not _begins(
            segments_of(ours), segments_of(theirs)
        ):
            return None
        if _sizes(ours) == _sizes(theirs):
            return with_node(base, place)
        end = _end(segments_of(theirs)[-1][1])
        if end is None or _says_who_votes(ours, base, end.batch.end_offset):
            return None
    return with_node(
        base,
        place,
        end_offset=end.batch.end_offset,
        last_epoch=end.batch.leader_epoch,
        last_timestamp_ms=end.batch.max_timestamp,
        end=LogEnd(end.segment.name, end.segment.size),
    )


def _same_checkpoint(ours: Sequence[MetadataFile], theirs: Sequence[MetadataFile]) -> bool:
    """Return True where both begin from the same checkpoint, and theirs is whole."""
    mine, its = snapshots_of(ours), snapshots_of(theirs)
    if not mine or not its:
        return mine == its
    (id_, one), (other_id, other) = mine[0], its[0]
    same = one.size == other.size and _same(one, other, one.size)
    return id_ == other_id and (same or is_finished(id_, other))


def _begins(
    ours: Sequence[tuple[int, MetadataFile]], theirs: Sequence[tuple[int, MetadataFile]]
) -> bool:
    """Return True where their segments are the beginning of ours."""
    if not 0 < len(theirs) <= len(ours):
        return False
    pairs = list(zip(ours, theirs, strict=False))
    last = len(pairs) - 1
    for index, ((base, one), (other_base, other)) in enumerate(pairs):
        fits = one.size == other.size or (index == last and other.size < one.size)
        if base != other_base or not fits or not _same(one, other, other.size):
            return False
    return True


def _same(one: MetadataFile, other: MetadataFile, size: int) -> bool:
    return all(
        one.read_at(at, min(_AT_ONCE, size - at)) == other.read_at(at, min(_AT_ONCE, size - at))
        for at in range(0, size, _AT_ONCE)
    )


def _sizes(files: Sequence[MetadataFile]) -> dict[int, int]:
    return {base: file.size for base, file in segments_of(files)}


def _end(segment: MetadataFile) -> _End | None:
    """Return the end of this segment, None where it is empty or ends within a batch."""
    try:
        last = next(iter(deque(read_batches(segment), maxlen=1)), None)
    except BadFormat:
        return None
    return None if last is None or last.max_timestamp < 0 else _End(segment, last)


def _says_who_votes(files: Sequence[MetadataFile], base: Copy, start: int) -> bool:
    """Return True where a record of the quorum's own lies behind this offset."""
    return any(batch.control for batch in log_batches(files, base.end_offset, start))
