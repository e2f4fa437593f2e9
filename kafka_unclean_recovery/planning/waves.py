"""Decide which partitions are elected together, and what stops the next wave; no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kafka_unclean_recovery.model import INTERNAL_TOPICS, PartitionPlan, PartitionState


@dataclass(frozen=True, slots=True)
class Pace:
    """How many partitions go first (canary), and at once (wave_size); None is all."""

    canary: int | None = None
    wave_size: int | None = None

    @property
    def careful(self) -> bool:
        """True when a surprise is to stop the run."""
        return self.canary is not None or self.wave_size is not None


def waves(plans: Sequence[PartitionPlan], pace: Pace) -> list[Sequence[PartitionPlan]]:
    """Split `plans` in their order, but internal topics first and in waves of their own, so that
    groups and transactions work before writers go on. The first wave of all is the canary."""
    internal = [plan for plan in plans if plan.state.topic in INTERNAL_TOPICS]
    others = [plan for plan in plans if plan.state.topic not in INTERNAL_TOPICS]
    first, rest = (internal, others) if internal else (others, [])
    canary = pace.canary or 0
    size = pace.wave_size or max(len(plans), 1)
    found = [first[:canary], *_chunks(first[canary:], size), *_chunks(rest, size)]
    return [wave for wave in found if wave]


def _chunks(plans: Sequence[PartitionPlan], size: int) -> Iterator[Sequence[PartitionPlan]]:
    return (plans[start : start + size] for start in range(0, len(plans), size))


def surprise(led: PartitionState | None, now: PartitionState | None) -> str | None:
    """Return what became of a partition that was seen with a leader; None when nothing did. `led`
    is that view, None where only the existence of a leader is known."""
    if now is None:
        return "it no longer exists"
    if led is not None and now.topic_id != led.topic_id:
        return "its topic was deleted and created again"
    if now.offline:
        return "it has no leader again"
    if led is not None and now.leader != led.leader:
        return f"broker {now.leader} leads it by now, and not {led.leader}"
    return None


def outdated(led: PartitionState | None, now: PartitionState | None) -> bool:
    """Return True for a view that may be from before: brokers learn of an election one by one."""
    if led is None:
        return now is None or now.offline
    return now is not None and now.topic_id == led.topic_id and now.leader_epoch < led.leader_epoch
