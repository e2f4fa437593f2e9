"""Decide which partitions are elected together, and what stops the next wave; no I/O."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kafka_unclean_recovery.kafka_names import INTERNAL_TOPICS
from kafka_unclean_recovery.model import PartitionPlan, PartitionState, TopicPartition

# Each wave looks at so many times its own number of earlier partitions.
_EARLIER = 2


@dataclass(frozen=True, slots=True)
class Pace:
    """How many partitions go first (canary), and at once (wave_size); None is all."""

    canary: int | None = None
    wave_size: int | None = None

    @property
    def careful(self) -> bool:
        """Return True when a surprise is to stop the run."""
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


class SoFar:
    """The partitions that were elected so far, and whose turn it is to be looked at again.

    A wave costs what its own size asks for, however many were elected before it. led: the
    partitions as they were last seen with their leaders; None when not seen yet.
    """

    def __init__(self) -> None:
        self.led: dict[TopicPartition, PartitionState | None] = {}
        self._in_order: list[TopicPartition] = []
        self._next = 0
        self._leaders: set[int] = set()
        self._away: frozenset[int] = frozenset()

    def in_turn(self, wave: int) -> list[TopicPartition]:
        """Return the earlier partitions whose turn it is after a wave of this size: all have been
        looked at again when twice as many are elected."""
        if self._next >= len(self._in_order):
            self._next = 0
        begin, self._next = self._next, self._next + _EARLIER * wave
        return self._in_order[begin : self._next]

    def add(self, led: Mapping[TopicPartition, PartitionState | None]) -> None:
        self._in_order.extend(sorted(led))
        self.seen(led)

    def seen(self, led: Mapping[TopicPartition, PartitionState | None]) -> None:
        """Note how the partitions were seen; what was noted of one before stays."""
        for tp, state in led.items():
            known = self.led[tp] = self.led.get(tp) or state
            if known is not None:
                self._leaders.add(known.leader)

    def led_by_lost(self, live: Collection[int]) -> list[TopicPartition]:
        """Return the partitions whose leader was listed as live before and is not any more."""
        away = frozenset(self._leaders.difference(live))
        lost, self._away = away - self._away, away
        if not lost:
            return []
        return [tp for tp, state in self.led.items() if state is not None and state.leader in lost]
