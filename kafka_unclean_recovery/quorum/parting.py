"""Compare two copies of the metadata log batch by batch: up to where they are the same, and why
they part there.

Of two copies that part, the records of the lower epoch were given up: the leader of the higher
epoch was elected without them, and has all that was committed before. Two different batches of the
same offset and the same epoch, however, can't come from one quorum: then neither copy can be
believed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.metadata.batches import Batch, MetadataFile, read_batches
from kafka_unclean_recovery.quorum.log_end import segments_of


class Relation(StrEnum):
    """The relation of a copy to the best one."""

    SAME = "same"
    PREFIX = "prefix"
    """All of it is the beginning of the best copy."""
    GIVEN_UP = "given_up"
    """It goes on with records of a lower epoch, which the best copy's leader had given up."""
    DIVERGES = "diverges"
    """Both have the same offset and epoch with different records."""
    NOT_COMPARED = "not_compared"
    """The best copy begins behind the end of this one."""


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
    ours, theirs = log_batches(best, best_end), log_batches(other, other_end)
    mine, its = next(ours, None), next(theirs, None)
    while mine is not None and its is not None:
        if mine.base_offset < its.base_offset:
            mine = next(ours, None)
        elif its.base_offset < mine.base_offset:
            its = next(theirs, None)
        elif not mine.same_as(its):
            return Parting(_why(mine, its), mine.base_offset)
        else:
            last = mine.end_offset
            mine, its = next(ours, None), next(theirs, None)
            if mine is None or its is None:
                return _end(last, best_end, other_end)
    return Parting(Relation.NOT_COMPARED, 0)


def _why(mine: Batch, its: Batch) -> Relation:
    # The epoch lies outside the CRC. Two leaders never write the same batch, which has their ids
    # and the time: it is one batch, and in one copy a bit of its epoch was flipped.
    flipped = mine.same_as(replace(its, leader_epoch=mine.leader_epoch))
    same_epoch = mine.leader_epoch == its.leader_epoch
    return Relation.DIVERGES if same_epoch or flipped else Relation.GIVEN_UP


def _end(last: int, best_end: int, other_end: int) -> Parting:
    """Return what holds where one copy ended, and all before was alike."""
    if last < other_end:
        # Only a copy of a lower epoch can be longer than the best.
        return Parting(Relation.GIVEN_UP, last)
    return Parting(Relation.SAME if last == best_end else Relation.PREFIX, last)


def log_batches(files: Sequence[MetadataFile], end_offset: int, start: int = 0) -> Iterator[Batch]:
    """Yield the batches of the segments between the offsets; a batch that spans `start` too."""
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
