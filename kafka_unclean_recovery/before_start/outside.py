"""What other brokers hold of a partition: live answers first, then scanned disks. Pure."""

from __future__ import annotations

from collections.abc import Container, Mapping
from itertools import pairwise

from kafka_unclean_recovery.model import EpochSpan, PartitionInfo, PartitionState, ReplicaLog
from kafka_unclean_recovery.planning.log_trust import cross_check

BY_EPOCHS = "offset-for-leader-epoch"
"""The source of a leader's log of which only the ends of some epochs are known."""


def led_by_epochs(
    leader: int,
    answers: Mapping[int, tuple[int, int]],
    start: int,
    unproven: str | None = None,
) -> ReplicaLog:
    """Return a leader's log as far as a follower asks for it: where the follower's own epochs end.
    answers: by epoch that was asked for, (the epoch that was answered, its exclusive end).
    unproven: see ReplicaLog."""
    ends = sorted(set(answers.values()))
    starts = [start, *(end for _, end in ends)]
    spans = (
        EpochSpan(epoch, begin, end)
        for (epoch, _), (begin, end) in zip(ends, pairwise(starts), strict=True)
    )
    return ReplicaLog(
        leader,
        live=True,
        log_start_offset=start,
        log_end_offset=starts[-1],
        epochs=tuple(spans),
        source=BY_EPOCHS,
        unproven=unproven,
    )


def of_others(
    own: int,
    state: PartitionState,
    live: Mapping[int, ReplicaLog],
    scanned: PartitionInfo | None,
    gone: Container[int] = (),
) -> dict[int, ReplicaLog]:
    """Return the logs of the other brokers. A live broker's answer is not replaced by a scan of its
    disk, and a disk that has another topic of that name tells nothing. gone: brokers whose disks
    are lost, so that what was read of them once counts for nothing."""
    every = scanned.replica_logs if scanned else ()
    disks = [log for log in every if log.broker != own and log.broker not in gone]
    beside = [log for log in disks if log.broker not in live and _is_of(state, log)]
    checked = cross_check(
        state,
        [*live.values(), *beside],
        compacted=scanned is not None and scanned.compacted,
        covered=[log.broker for log in beside],
    )
    return {log.broker: log for log in checked}


def _is_of(state: PartitionState, log: ReplicaLog) -> bool:
    return log.scanned is None or log.scanned.topic_id in (None, state.topic_id)
