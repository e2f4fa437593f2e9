"""Which records of a replica the designated leader's log lacks. Pure.

A record of a partition is known by its leader epoch and its offset: each epoch has one leader,
which gives each offset out once (KIP-101). So their lineages tell what two logs share.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kafka_unclean_recovery.model import EpochLineage, EpochSpan, ReplicaLog
from kafka_unclean_recovery.planning.lineage import tail_of

NO_EPOCH = -1
"""Of a span whose leader epochs are not known."""

_NO_LINEAGE = (
    "its lineage is not known: only what lies beyond the designated leader's log end is certain to"
    " be missing there, and only that was salvaged"
)


@dataclass(frozen=True, slots=True)
class Lost:
    """What the leader lacks of one replica's log.

    spans: in rising offset, not empty; a part of the replica's lineage, or one span of NO_EPOCH.
    below_log_start: what it lacks because its log starts later. Retention or DeleteRecords took
    that, no election, so it is not salvaged. doubt: why there may be more.
    """

    spans: EpochLineage
    below_log_start: EpochLineage = ()
    doubt: str | None = None


def lost_under(replica: ReplicaLog, leader: ReplicaLog) -> Lost:
    """Both logs have a log end offset, and the leader a lineage; else ValueError."""
    if leader.epochs is None or leader.log_end_offset is None or replica.log_end_offset is None:
        raise ValueError("a log without an end or the leader without a lineage")
    if replica.epochs is None:
        start = max(leader.log_end_offset, replica.log_start_offset or 0)
        beyond = EpochSpan(NO_EPOCH, start, replica.log_end_offset)
        return Lost((beyond,) if beyond.start_offset < beyond.end_offset else (), (), _NO_LINEAGE)
    # Where its log start was moved less than a minute before a kill, the log start that is written
    # down is an older one, and only the lineage begins where records were deleted up to.
    start = leader.epochs[0].start_offset if leader.epochs else leader.log_end_offset
    missing = tuple(_minus(replica.epochs, leader.epochs))
    below = tuple(
        EpochSpan(span.epoch, span.start_offset, min(span.end_offset, start))
        for span in missing
        if span.start_offset < start
    )
    return Lost(tail_of(missing, start), below)


def _minus(replica: EpochLineage, leader: EpochLineage) -> Iterator[EpochSpan]:
    """The (leader epoch, offset) pairs of `replica` that are not among those of `leader`."""
    held = {span.epoch: span for span in leader}
    for span in replica:
        same = held.get(span.epoch, EpochSpan(span.epoch, span.end_offset, span.end_offset))
        before = min(span.end_offset, same.start_offset)
        after = max(span.start_offset, same.end_offset)
        if span.start_offset < before:
            yield EpochSpan(span.epoch, span.start_offset, before)
        if after < span.end_offset:
            yield EpochSpan(span.epoch, after, span.end_offset)
