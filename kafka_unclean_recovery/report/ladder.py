"""A ladder holds what a picture of a partition's replicas shows, one rung for each replica.

A rung shows which offsets the replica holds, coloured by the leader epoch that wrote them, and from
which offset on they would be truncated if the first replica were the leader. A log may be a
thousand times as long as its differences to other logs, so the picture begins shortly below the
first offset where two replicas differ. This module does no I/O.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kafka_unclean_recovery.model import PartitionPlan, ReplicaLog
from kafka_unclean_recovery.planning.lineage import count_once, tail_of
from kafka_unclean_recovery.planning.reach import kept_under
from kafka_unclean_recovery.wording import (
    count_text,
    lineage_text,
    number_text,
    trust_text,
)

_LEAST_WIDTH = 10
# The picture shows this much of the common part, as a fraction of the width of the rest.
_COMMON = 0.5


@dataclass(frozen=True, slots=True)
class Rung:
    """One replica in the picture.

    first: True for the replica that the others are compared with. kept: the exclusive end of what
    this replica keeps when the first one leads, None when that is not certain. lost: how many
    records are beyond `kept`, None when unknown. spans: (epoch, start, exclusive end) from the
    ladder's `low` on; a single span of epoch None when the lineage is not known, over all of the
    ladder when the end is not known either.
    """

    log: ReplicaLog
    first: bool
    kept: int | None
    lost: int | None
    spans: tuple[tuple[int | None, int, int], ...]


@dataclass(frozen=True, slots=True)
class Ladder:
    """The picture of one partition, which shows the offsets [low, high).

    epochs: the leader epochs in the picture, the newest first. rungs: the replicas in the plan's
    order.
    """

    low: int
    high: int
    epochs: tuple[int, ...]
    rungs: tuple[Rung, ...]


def ladder_of(plan: PartitionPlan, leader_id: int | None = None) -> Ladder:
    """Return the ladder of a partition.

    leader_id: the replica that the others are compared with; None means the designated leader.
    When that one can't be elected, the best candidate takes its place.
    """
    leader = _leader(plan, plan.designated_leader if leader_id is None else leader_id)
    logs = {log.broker: log for log in plan.replica_logs}
    ordered = [logs[broker] for broker in plan.order]
    kept = [_kept(log, leader) for log in ordered]
    low, high = _range(ordered, kept)
    rungs = tuple(
        Rung(log, log is leader, end, _lost(log, end), tuple(_spans(log, low, high)))
        for log, end in zip(ordered, kept, strict=True)
    )
    epochs = {epoch for rung in rungs for epoch, _, _ in rung.spans if epoch is not None}
    return Ladder(low, high, tuple(sorted(epochs, reverse=True)), rungs)


def _leader(plan: PartitionPlan, leader_id: int | None) -> ReplicaLog | None:
    candidates = [candidate.log for candidate in plan.ranking]
    return next(
        (log for log in candidates if log.broker == leader_id), next(iter(candidates), None)
    )


def _kept(log: ReplicaLog, leader: ReplicaLog | None) -> int | None:
    return None if leader is None else kept_under(log, leader)


def _lost(log: ReplicaLog, kept: int | None) -> int | None:
    if kept is None or log.epochs is None:
        return None
    return count_once([tail_of(log.epochs, kept)])


def _range(logs: list[ReplicaLog], kept: list[int | None]) -> tuple[int, int]:
    ends = [log.log_end_offset for log in logs if log.log_end_offset is not None]
    ends += [log.epochs[-1].end_offset for log in logs if log.epochs]
    starts = [log.log_start_offset for log in logs if log.log_start_offset is not None]
    high, least = max(ends, default=0), min(starts, default=0)
    parting = min([*ends, *(end for end in kept if end is not None)], default=0)
    width = max(high - parting, _LEAST_WIDTH)
    low = max(least, parting - int(width * _COMMON) - 1)
    return low, max(high, low + 1)


def _spans(log: ReplicaLog, low: int, high: int) -> list[tuple[int | None, int, int]]:
    if log.epochs is not None:
        return [(s.epoch, s.start_offset, s.end_offset) for s in tail_of(log.epochs, low)]
    if log.log_end_offset is None:
        return [(None, low, high)]  # Nobody read it: it may hold anything, and is not empty.
    if log.log_end_offset <= low:
        return []
    return [(None, max(low, log.log_start_offset or 0), log.log_end_offset)]


def rung_texts(rung: Rung) -> Iterator[str]:
    """Return in words what a rung shows."""
    log = rung.log
    if log.problem is not None:
        yield trust_text(log)
        return
    yield f"log end offset {number_text(log.log_end_offset)}"
    yield f"high watermark {number_text(log.high_watermark)}"
    yield f"epochs {lineage_text(log.epochs)}"
    if rung.lost:
        yield f"loses {count_text(rung.lost, 'record')} from offset {rung.kept} on"
    elif rung.lost is None and not rung.first:
        yield "what it loses is unknown"
    if log.suspect is not None:
        yield trust_text(log)
