"""The lineages of two logs tell which records of a replica the designated leader's log lacks. This
module does no I/O.

A record of a partition is known by its leader epoch and its offset: each epoch has one leader,
which gives each offset out once (KIP-101). So two logs share the records whose epoch and offset are
in both lineages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kafka_unclean_recovery.model import EpochLineage, EpochSpan, ReplicaLog
from kafka_unclean_recovery.planning.lineage import tail_of

NO_EPOCH = -1
"""The epoch of a span whose leader epochs are not known."""

_NO_LINEAGE = (
    "its lineage is not known: only what lies beyond the designated leader's log end is certain to"
    " be missing there, and only that was salvaged"
)


@dataclass(frozen=True, slots=True)
class Lost:
    """The records of one replica's log that the leader lacks.

    spans: in rising offset, none of them empty; a part of the replica's lineage, or one span of
    NO_EPOCH. below_log_start: records that the leader lacks because its log starts later. Retention
    or DeleteRecords took them, not an election, so they are not salvaged. doubt: why there may be
    more.
    """

    spans: EpochLineage
    below_log_start: EpochLineage = ()
    doubt: str | None = None


def lost_under(replica: ReplicaLog, leader: ReplicaLog) -> Lost:
    """Return the records of `replica` that `leader` lacks. Raises ValueError unless both logs have
    a log end offset and the leader's log has a lineage."""
    if leader.epochs is None or leader.log_end_offset is None or replica.log_end_offset is None:
        raise ValueError("a log without an end or the leader without a lineage")
    if replica.epochs is None:
        start = max(leader.log_end_offset, replica.log_start_offset or 0)
        beyond = EpochSpan(NO_EPOCH, start, replica.log_end_offset)
        return Lost((beyond,) if beyond.start_offset < beyond.end_offset else (), (), _NO_LINEAGE)
    # When the leader's log start moved less than a minute before a kill, the log start on its disk
    # is an older one. Only the lineage then begins where the deleted records end.
    start = leader.epochs[0].start_offset if leader.epochs else leader.log_end_offset
    missing = tuple(_minus(replica.epochs, leader.epochs))
    below = tuple(
        EpochSpan(span.epoch, span.start_offset, min(span.end_offset, start))
        for span in missing
        if span.start_offset < start
    )
    return Lost(tail_of(missing, start), below)


def _minus(replica: EpochLineage, leader: EpochLineage) -> Iterator[EpochSpan]:
    """Yield the spans of `replica` whose (leader epoch, offset) pairs `leader` lacks."""
    held = {span.epoch: span for span in leader}
    for span in replica:
        same = held.get(span.epoch, EpochSpan(span.epoch, span.end_offset, span.end_offset))
        before = min(span.end_offset, same.start_offset)
        after = max(span.start_offset, same.end_offset)
        if span.start_offset < before:
            yield EpochSpan(span.epoch, span.start_offset, before)
        if after < span.end_offset:
            yield EpochSpan(span.epoch, after, span.end_offset)
