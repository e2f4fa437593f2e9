"""Tell, without replaying it, that a copy of the metadata log has nothing that a newer one lacks.

Every KRaft broker has a copy, and nearly all of them are the beginning of one and the same log. To
replay each of them would take as long as all together are large; to compare bytes takes next to
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.metadata.batches import MetadataFile, read_batches
from kafka_unclean_recovery.log_dir.metadata.cluster_metadata import (
    ClusterMetadata,
    is_finished,
    segments_of,
    snapshots_of,
)

_AT_ONCE = 1 << 20


def reach(files: Sequence[MetadataFile]) -> tuple[int, int, int]:
    """Return a rank by names and sizes alone: of copies of one log the one that goes furthest has
    the greatest, where all began their segments alike. Whoever trusts more than the order in which
    to read them is deceived by the first damaged one."""
    segments, snapshots = segments_of(files), snapshots_of(files)
    newest = snapshots[0][0].offset if snapshots else -1
    base, last = segments[-1] if segments else (-1, None)
    return max(base, newest), base, 0 if last is None else last.size


def can_be_followed(metadata: ClusterMetadata) -> bool:
    """Return True where other copies may be compared with this one: one that is damaged may end
    before a copy that is the beginning of its bytes."""
    return metadata.stopped is None and metadata.last_epoch is not None


def follows(
    authority: tuple[int, int], its_files: Sequence[MetadataFile], files: Sequence[MetadataFile]
) -> bool:
    """Return True where a copy with these files can be read, was written by the quorum that wrote a
    sound log of this authority, and ends no later. False is no answer: then the copy has to be
    read. Raises Unreadable."""
    if not begins(its_files, files):
        return False
    epoch, end_offset = authority
    snapshots = snapshots_of(files)
    if snapshots and snapshots[0][0] > (end_offset, epoch):
        return False
    return any(is_finished(*each) for each in snapshots) or _begins_at_zero(files)


def _begins_at_zero(files: Sequence[MetadataFile]) -> bool:
    base, first = segments_of(files)[0]
    try:
        return base == 0 and next(read_batches(first), None) is not None
    except BadFormat:
        return False


def begins(ours: Sequence[MetadataFile], theirs: Sequence[MetadataFile]) -> bool:
    """Return True where the last segment of theirs is the beginning of one of ours, byte by byte:
    then all before it is alike, too. Raises Unreadable."""
    segments = segments_of(theirs)
    if not segments:
        return False
    base, last = segments[-1]
    same = dict(segments_of(ours)).get(base)
    return same is not None and 0 < last.size <= same.size and _same(same, last)


def _same(one: MetadataFile, other: MetadataFile) -> bool:
    size = other.size
    return all(
        one.read_at(at, min(_AT_ONCE, size - at)) == other.read_at(at, min(_AT_ONCE, size - at))
        for at in range(0, size, _AT_ONCE)
    )
