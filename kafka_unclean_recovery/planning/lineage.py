"""Compare the logs of one partition: where two agree, and what a follower truncates; no I/O.

A lineage is the content of Kafka's `leader-epoch-checkpoint`: which leader epoch wrote which
offsets. Two logs agree up to the first offset at which their lineages differ; a follower truncates
to that offset (KIP-101, KIP-279;
org.apache.kafka.storage.internals.epoch.LeaderEpochFileCache.endOffsetFor and
kafka.server.AbstractFetcherThread.getOffsetTruncationState).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafka_unclean_recovery.model import EpochLineage, EpochSpan


def end_offset_for(lineage: EpochLineage, log_end_offset: int, epoch: int) -> tuple[int, int]:
    """Return (largest epoch <= `epoch`, its exclusive end offset), as a broker answers it.

    With no such epoch the broker answers the requested one and the start of the lineage; an epoch
    newer than all ends at `log_end_offset`.
    """
    lower = [span for span in lineage if span.epoch <= epoch]
    if not lower:
        return epoch, lineage[0].start_offset if lineage else log_end_offset
    newest = lower[-1]
    if newest is lineage[-1]:
        return newest.epoch, log_end_offset
    return newest.epoch, lineage[len(lower)].start_offset


def truncation_offset(
    follower: EpochLineage, follower_end: int, leader: EpochLineage, leader_end: int
) -> int:
    """Return the exclusive end to which `follower` is truncated when `leader` leads.

    The end is never above `follower_end`. The function follows the exchange of the two brokers: the
    follower names its newest epoch, the leader answers where that epoch ends in its log, and the
    follower steps down until both know the same epoch.
    """
    if follower and leader and follower[-1].epoch == leader[-1].epoch:
        # So it is in nearly every partition, and nobody steps down.
        return min(leader_end, follower_end)
    spans, end = follower, follower_end
    while spans:
        leader_epoch, leader_says = end_offset_for(leader, leader_end, spans[-1].epoch)
        follower_epoch, follower_says = end_offset_for(spans, end, leader_epoch)
        if follower_epoch == leader_epoch:
            return min(leader_says, follower_says, end)
        end = min(follower_says, end)
        spans = tuple(span for span in spans if span.start_offset < end)
    return min(end, leader_end)


def tail_of(lineage: EpochLineage, offset: int) -> EpochLineage:
    """Return the part of `lineage` at or beyond `offset`."""
    return tuple(
        EpochSpan(span.epoch, max(span.start_offset, offset), span.end_offset)
        for span in lineage
        if span.end_offset > offset
    )


def count_once(tails: Iterable[EpochLineage]) -> int:
    """Return how many distinct (leader epoch, offset) pairs `tails` hold together.

    Two replicas that hold the same records of the same epoch lose them once.
    """
    by_epoch: dict[int, list[tuple[int, int]]] = {}
    for tail in tails:
        for span in tail:
            by_epoch.setdefault(span.epoch, []).append((span.start_offset, span.end_offset))
    return sum(_covered(ranges) for ranges in by_epoch.values())


def _covered(ranges: Sequence[tuple[int, int]]) -> int:
    """Return the length of the union of half-open ranges."""
    total, reached = 0, -1
    for start, end in sorted(ranges):
        total += max(0, end - max(start, reached))
        reached = max(reached, end)
    return total
