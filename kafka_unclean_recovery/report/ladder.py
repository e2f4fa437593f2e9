"""The replicas of a partition beside each other, as a picture needs them. Pure.

One rung a replica: what it holds, coloured by who wrote it, and from where on it would be cut off
under the replica that stands first. A log may be a thousand times as long as what it lacks, so the
picture begins not far below the first place where two replicas part.
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
# Of the width that is shown, how much of what the replicas have in common.
_COMMON = 0.5


@dataclass(frozen=True, slots=True)
class Rung:
    """A replica. kept: the exclusive end of what it keeps under the first, None where that is not
    for sure; lost: the records beyond. spans: its lineage from the ladder's `low` on; one of epoch
    None where it is not known."""

    log: ReplicaLog
    first: bool
    kept: int | None
    lost: int | None
    spans: tuple[tuple[int | None, int, int], ...]


@dataclass(frozen=True, slots=True)
class Ladder:
    """Offsets [low, high) are shown. epochs: those in the picture, the newest first. rungs: in the
    plan's order."""

    low: int
    high: int
    epochs: tuple[int, ...]
    rungs: tuple[Rung, ...]


def ladder_of(plan: PartitionPlan, leader_id: int | None = None) -> Ladder:
    """leader_id: whom the others are held against; else the designated leader, else the best."""
    leader = _leader(plan, plan.designated_leader if leader_id is None else leader_id)
    logs = {log.broker: log for log in plan.replica_logs}
    ordered = [logs[broker] for broker in plan.order]
    kept = [_kept(log, leader) for log in ordered]
    low, high = _range(ordered, kept)
    rungs = tuple(
        Rung(log, log is leader, end, _lost(log, end), tuple(_spans(log, low)))
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


def _spans(log: ReplicaLog, low: int) -> list[tuple[int | None, int, int]]:
    if log.epochs is not None:
        return [(s.epoch, s.start_offset, s.end_offset) for s in tail_of(log.epochs, low)]
    if log.log_end_offset is None or log.log_end_offset <= low:
        return []
    return [(None, max(low, log.log_start_offset or 0), log.log_end_offset)]


def rung_texts(rung: Rung) -> Iterator[str]:
    """What a rung shows, in words."""
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
