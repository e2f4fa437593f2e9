"""Check a log that reads well against the controller and the peers; no I/O.

The CRC of a batch does not cover its leader epoch and base offset, so a flipped bit there makes a
log look newer or longer than it is. The controller gives out the leader epochs. Each epoch has one
leader, so it begins at the same offset on every replica.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence

from msgspec.structs import replace

from kafka_unclean_recovery.model import (
    NO_TOPIC_ID,
    EpochLineage,
    PartitionState,
    ReplicaLog,
    Scanned,
)
from kafka_unclean_recovery.planning.gaps import without_shared_gaps

NAMELESS = "it has no partition.metadata: its broker puts it aside as -stray, and begins it empty"
"""The problem of a scanned log that lacks the topic id by which a broker knows it."""
ZOOKEEPER_NAMELESS = (
    "it has no partition.metadata: a broker on ZooKeeper keeps it, one on KRaft puts it aside as"
    " -stray, and begins it empty"
)
"""The doubt of one whose broker last ran on ZooKeeper, as others there that have a topic id."""
_UNREADABLE = "partition.metadata: "


def cross_check(
    state: PartitionState | None,
    logs: Sequence[ReplicaLog],
    *,
    compacted: bool,
    covered: Container[int],
) -> tuple[ReplicaLog, ...]:
    """Return the same logs; scanned logs that contradict `state` or each other get a `problem`
    (another topic of that name) or are `suspect`.

    covered: brokers that can't have heard of a leader epoch that `state` does not know. If `state`
    is a live controller's, these are all brokers; else the brokers whose own metadata log was among
    those that `state` was taken from. The answer of a live broker is a witness and never suspected.
    A row with a problem, or suspect already, stays as it is and is no witness, unless it is suspect
    for a gap that another disk has too. In a compacted topic an epoch begins at the first record
    that is left, so there the peers say nothing.
    """
    known = without_shared_gaps(logs)
    checked = tuple(_against_controller(state, log, covered) for log in known)
    if compacted or len(_topic_ids(checked)) > 1:
        return checked
    disagreeing = _disagreeing([log for log in checked if _readable(log)])
    return tuple(
        _suspected(log, *disagreeing[log.broker])
        if log.broker in disagreeing and _readable(log) and log.scanned
        else log
        for log in checked
    )


def _suspected(log: ReplicaLog, certain_end: int | None, reason: str) -> ReplicaLog:
    return replace(log, suspect=reason, certain_end_offset=certain_end)


def _readable(log: ReplicaLog) -> bool:
    return log.problem is None and log.suspect is None


def _topic_ids(logs: Sequence[ReplicaLog]) -> set[str]:
    scanned = [log.scanned for log in logs if _readable(log) and log.scanned]
    return {known.topic_id for known in scanned if known.topic_id is not None}


def _against_controller(
    state: PartitionState | None, log: ReplicaLog, covered: Container[int]
) -> ReplicaLog:
    if state is None or log.scanned is None or log.problem is not None:
        return log
    topic_id, epoch = log.scanned.topic_id, log.last_written_leader_epoch
    if _nameless(state, log, log.scanned):
        return replace(log, problem=NAMELESS)
    if topic_id is not None and state.topic_id not in (topic_id, *NO_TOPIC_ID):
        return replace(
            log,
            problem=f"its disk holds another topic of that name (topic id {topic_id}; the"
            f" controller has {state.topic_id})",
        )
    if log.suspect is not None or epoch is None or epoch <= state.leader_epoch:
        return log
    if log.broker not in covered:
        return log
    reason = (
        f"wrote in leader epoch {epoch}, which the controller (leader epoch {state.leader_epoch})"
        " never gave"
    )
    return _suspected(log, _end_of_epochs(log, state.leader_epoch), reason)


def _nameless(state: PartitionState, log: ReplicaLog, scanned: Scanned) -> bool:
    """Return True where partition.metadata is missing; a file that can't be read says nothing."""
    doubts = (_UNREADABLE, ZOOKEEPER_NAMELESS)
    unreadable = log.suspect is not None and log.suspect.startswith(doubts)
    return scanned.topic_id is None and not unreadable and state.topic_id not in NO_TOPIC_ID


def _end_of_epochs(log: ReplicaLog, last: int) -> int | None:
    """Return where the epochs up to `last`, inclusive, end in `log`, exclusive; None is unknown."""
    if log.epochs is None:
        return None
    ends = [span.end_offset for span in log.epochs if span.epoch <= last]
    return ends[-1] if ends else log.log_start_offset


def _disagreeing(logs: Sequence[ReplicaLog]) -> dict[int, tuple[int, str]]:
    """Return by broker (its certain end, exclusive; why it is suspect); the lowest end counts."""
    found: dict[int, tuple[int, str]] = {}
    for epoch in sorted({span.epoch for log in logs for span in log.epochs or ()}):
        for broker, end, reason in _disagreeing_on(epoch, _starts(logs, epoch)):
            if broker not in found or end < found[broker][0]:
                found[broker] = end, reason
    return found


def _starts(logs: Sequence[ReplicaLog], epoch: int) -> dict[int, int]:
    """Return by broker where `epoch` begins, on each replica that can tell: its lineage goes back
    below the lowest of these offsets."""
    begun = {
        log.broker: span.start_offset
        for log in logs
        for span in log.epochs or ()
        if span.epoch == epoch and _goes_below(log, span.start_offset)
    }
    lowest = min(begun.values(), default=0)
    return {
        log.broker: begun[log.broker]
        for log in logs
        if log.broker in begun and _goes_below(log, lowest)
    }


def _goes_below(log: ReplicaLog, offset: int) -> bool:
    lineage: EpochLineage = log.epochs or ()
    log_start = log.log_start_offset
    return lineage[0].start_offset < offset and (log_start is None or log_start <= offset)


def _disagreeing_on(epoch: int, starts: dict[int, int]) -> Iterator[tuple[int, int, str]]:
    """Yield (broker, its certain end, why) of each replica that most of the others contradict, or
    of every replica when there is no majority."""
    if len(set(starts.values())) < 2:
        return
    most, votes = Counter(starts.values()).most_common(1)[0]
    trusted = {most} if votes * 2 > len(starts) else set()
    for broker, start in starts.items():
        if start in trusted:
            continue
        other = next(b for b, s in starts.items() if s != start and (not trusted or s in trusted))
        reason = (
            f"leader epoch {epoch} begins at offset {start} here, at {starts[other]} on broker"
            f" {other}"
        )
        yield broker, min(start, *(trusted or starts.values())), reason
