"""Compare two copies of the metadata log batch by batch: up to where they are the same, and why
they part there.

Of two copies that part, the records of the lower epoch were given up: the leader of the higher
epoch was elected without them, and has all that was committed before. Two different batches of the
same offset and the same epoch, however, can't come from one quorum: then neither copy can be
believed.

Epochs say which copy leads within one history only. Controllers that were formatted anew begin a
history of their own, whose epochs have nothing to do with those of the copies of before. So copies
that have not one record in common are of two histories; and so are copies of which one goes on
with records that were committed, where the other has others: an earlier recovery, or a quorum that
lived on beside another, made two of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.metadata.batches import Batch, MetadataFile, read_batches
from kafka_unclean_recovery.log_dir.metadata.cluster_metadata import segments_of


class Relation(StrEnum):
    """The relation of a copy to the best one."""

    SAME = "same"
    PREFIX = "prefix"
    """All of it is the beginning of the best copy."""
    GIVEN_UP = "given_up"
    """It goes on with records of a lower epoch, which the best copy's leader had given up."""
    DIVERGES = "diverges"
    """Both have the same offset and epoch with different records."""
    OTHER_HISTORY = "other_history"
    """Another quorum wrote it, or went on with it after they parted."""
    NOT_COMPARED = "not_compared"
    """The best copy begins behind the end of this one."""


# A leader that no majority follows resigns after one and a half times the fetch time-out, which is
# 2 s unless somebody changes it. So one that wrote for so long had a majority.
_COMMITTED_AFTER_MS = 60_000


@dataclass(frozen=True, slots=True)
class Parting:
    """offset: the end (exclusive) of what both copies have alike, as far as they could be
    compared."""

    relation: Relation
    offset: int


def parting(
    best: Sequence[MetadataFile], best_end: int, other: Sequence[MetadataFile], other_end: int
) -> Parting:
    """Compare a copy with the best one; the ends are exclusive, as the logs were read."""
    if other_end == 0:
        # A node that was formatted and has not fetched anything: it knows nothing.
        return Parting(Relation.PREFIX, 0)
    ours, theirs = log_batches(best, best_end), log_batches(other, other_end)
    mine, its = next(ours, None), next(theirs, None)
    alike: int | None = None
    while mine is not None and its is not None:
        if mine.base_offset < its.base_offset:
            mine = next(ours, None)
        elif its.base_offset < mine.base_offset:
            its = next(theirs, None)
        elif not mine.same_as(its):
            why = _why(mine, its, alike, [its, *theirs])
            return Parting(why, mine.base_offset)
        else:
            alike = mine.end_offset
            mine, its = next(ours, None), next(theirs, None)
    if alike is not None:
        return _end(alike, best_end, other_end)
    return Parting(_apart(best, best_end, other), 0)


def _why(mine: Batch, its: Batch, alike: int | None, tail: Sequence[Batch]) -> Relation:
    # The epoch lies outside the CRC. Two leaders never write the same batch, which has their ids
    # and the time: it is one batch, and in one copy a bit of its epoch was flipped.
    flipped = mine.same_as(replace(its, leader_epoch=mine.leader_epoch))
    if mine.leader_epoch == its.leader_epoch or flipped:
        return Relation.DIVERGES
    if alike is None or _was_committed(tail):
        return Relation.OTHER_HISTORY
    return Relation.GIVEN_UP


def _was_committed(tail: Sequence[Batch]) -> bool:
    """Return True where one leader wrote these for longer than one without a majority could."""
    written: dict[int, list[int]] = {}
    for batch in tail:
        if batch.max_timestamp >= 0:
            written.setdefault(batch.leader_epoch, []).append(batch.max_timestamp)
    return any(max(times) - min(times) > _COMMITTED_AFTER_MS for times in written.values())


def _end(last: int, best_end: int, other_end: int) -> Parting:
    """Return what holds where one copy ended, and all before was alike."""
    if last < other_end:
        # The best can be led by a higher epoch, or the longer copy is not sound.
        return Parting(Relation.GIVEN_UP, last)
    return Parting(Relation.SAME if last == best_end else Relation.PREFIX, last)


def _apart(best: Sequence[MetadataFile], best_end: int, other: Sequence[MetadataFile]) -> Relation:
    """Return what holds where no offset is in both. In one history the copy that goes further has
    the higher epoch."""
    theirs = segments_of(other)
    beyond = bool(theirs) and theirs[0][0] >= best_end > 0
    return Relation.OTHER_HISTORY if beyond and segments_of(best) else Relation.NOT_COMPARED


def log_batches(files: Sequence[MetadataFile], end_offset: int, start: int = 0) -> Iterator[Batch]:
    """Yield the batches of the segments between the offsets; a batch that spans `start` too."""
    if start >= end_offset:
        return
    segments = segments_of(files)
    for index, (_, file) in enumerate(segments):
        following = segments[index + 1][0] if index + 1 < len(segments) else end_offset
        if following <= start:
            continue
        try:
            for batch in read_batches(file):
                if batch.end_offset > end_offset:
                    return
                if batch.end_offset > start:
                    yield batch
        except BadFormat:
            return
