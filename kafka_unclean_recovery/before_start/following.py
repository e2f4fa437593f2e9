"""What a replica loses, and keeps, as a follower; no I/O.

Source: kafka.server.AbstractFetcherThread: a follower truncates to where its lineage parts from the
leader's (planning/lineage.py). One whose log ends below the leader's log start is emptied, and
begins again there: what lay below was deleted on purpose, by retention or DeleteRecords.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kafka_unclean_recovery.before_start.outside import BY_EPOCHS
from kafka_unclean_recovery.before_start.replica import OwnReplica
from kafka_unclean_recovery.before_start.verdict import Effect, Known, Verdict
from kafka_unclean_recovery.model import EpochLineage, PartitionState, ReplicaLog
from kafka_unclean_recovery.planning.lineage import count_once, tail_of
from kafka_unclean_recovery.planning.log_trust import cross_check
from kafka_unclean_recovery.planning.reach import kept_under
from kafka_unclean_recovery.planning.start_cuts import may_stick, start_by_epochs, stuck_text
from kafka_unclean_recovery.wording import count_text


def keeps(verdict: Verdict) -> Verdict:
    """Return the verdict on a replica that loses nothing."""
    return replace(verdict, records=0, unique=0, expired=0)


def follows(
    replica: OwnReplica, log: ReplicaLog, state: PartitionState, known: Known, own: int
) -> Verdict:
    found = Verdict(replica, Effect.UNKNOWN, "", leader=state.leader)
    leader = known.logs.get(state.leader)
    if leader is None or leader.problem is not None:
        why = "nobody has read it" if leader is None else leader.problem
        return replace(
            found, why=f"the log of its leader, broker {state.leader}, is unknown: {why}"
        )
    start, end = leader.log_start_offset, log.log_end_offset
    if log.empty:
        return keeps(replace(found, effect=Effect.KEPT, why="it holds no record"))
    kept = _kept(replica, log, leader, state)
    if kept is None or start is None or end is None:
        doubt = leader.suspect or leader.unproven or "their leader epochs are not known"
        why = f"it can't be compared with the log of broker {state.leader}: {doubt}"
        return replace(found, why=why)
    if (firm := start_by_epochs(leader)) is not None and (log.log_start_offset or 0) < firm:
        why = (
            f"the disk of its leader, broker {state.leader}, does not tell where its log starts:"
            f" at {start}, or at {firm}, up to where its records were deleted"
        )
        return replace(found, why=why)
    if end <= start:
        why = (
            f"it ends at {end}, and the log of its leader, broker {state.leader}, begins at"
            f" {start}: it is emptied, and begins again there"
        )
        emptied = _destroyed(found, Effect.EMPTIED, why, log, kept, known, own)
        begin = log.log_start_offset or 0
        return replace(emptied, offset=begin, expired=max(0, kept - begin))
    expired = max(0, min(kept, start) - (log.log_start_offset or 0))
    if kept < end:
        why = f"from {kept} on it holds what its leader, broker {state.leader}, lacks"
        why += stuck_text([own]) if may_stick(kept, leader) else ""
        cut = _destroyed(found, Effect.TRUNCATED, why, log, kept, known, own)
        return replace(cut, expired=expired)
    why = f"it follows broker {state.leader}, which has all of it"
    if expired:
        why += f" but {count_text(expired, 'record')} that it deleted below its log start {start}"
    return replace(found, effect=Effect.KEPT, why=why, records=0, unique=0, expired=expired)


def _kept(
    replica: OwnReplica, log: ReplicaLog, leader: ReplicaLog, state: PartitionState
) -> int | None:
    """Return the exclusive end of what the replica keeps; None where that is not sure."""
    if leader.source == BY_EPOCHS:
        return kept_under(log, leader)
    _, checked = cross_check(
        state, [leader, log], compacted=replica.compacted, covered=[leader.broker, log.broker]
    )
    return kept_under(checked, leader)


def _destroyed(
    found: Verdict,
    effect: Effect,
    why: str,
    log: ReplicaLog,
    offset: int,
    known: Known,
    own: int,
) -> Verdict:
    tail = tail_of(log.epochs or (), offset)
    most = "; at most so many, for the topic is compacted" if found.replica.compacted else ""
    others = [o for b, o in known.logs.items() if b != own and o.source != BY_EPOCHS]
    unique = beyond_all(tail, others)
    if unique is None:
        for other in others:
            if not other.sure or other.epochs is None:
                doubt = (
                    other.problem
                    or other.suspect
                    or other.unproven
                    or "its leader epochs are not known"
                )
                why += f"; what broker {other.broker} has of that is unknown: {doubt}"
    return replace(
        found,
        effect=effect,
        why=why + most,
        offset=offset,
        records=count_once([tail]),
        unique=unique,
        unread=known.unread(own),
        expired=0,
    )


def beyond_all(tail: EpochLineage, others: Sequence[ReplicaLog]) -> int | None:
    """Return how many records of the tail no other log has; None where a log that may have some
    can't be compared."""
    sure = [log.epochs for log in others if log.sure and log.epochs is not None]
    alone = count_once([tail, *sure]) - count_once(sure)
    return alone if alone == 0 or len(sure) == len(others) else None
