"""An election is cleared when the tails that it destroys were saved, and refused when they were
not. This module does no I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kafka_unclean_recovery.model import Outcome, OutcomeKind, PartitionPlan, TopicPartition
from kafka_unclean_recovery.salvage.live.losers import Loser, other_leader, unsaved
from kafka_unclean_recovery.wording import count_text


@dataclass(frozen=True, slots=True)
class ClearedTail:
    """The result for one tail. why_not: why the tail is not saved whole, None if it is. doubts: the
    other problems that the manifest has for it."""

    loser: Loser
    why_not: str | None
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cleared:
    """Elections that may go ahead, and refusals for the others. unsaved: sentences on what the
    former lose all the same (--allow-loss)."""

    plans: list[PartitionPlan]
    refused: dict[TopicPartition, Outcome]
    unsaved: tuple[str, ...] = ()


def cleared(
    plans: Sequence[PartitionPlan],
    now: Mapping[TopicPartition, PartitionPlan],
    tails: Sequence[ClearedTail],
    *,
    allow_loss: bool,
) -> Cleared:
    """Divide the elections into those that may go ahead and those that are refused.

    now: plans by what was observed after saving, of the partitions that are still offline. For any
    other partition the elector looks for itself, and sends nothing.
    """
    by_partition: dict[TopicPartition, list[ClearedTail]] = {}
    for tail in tails:
        by_partition.setdefault(tail.loser.topic_partition, []).append(tail)
    may_go: list[PartitionPlan] = []
    refused: dict[TopicPartition, Outcome] = {}
    lost: list[str] = []
    for plan in plans:
        partition = plan.state.topic_partition
        seen = now.get(partition)
        changed = other_leader(plan, seen) if seen else None
        loss = _loss(seen, by_partition.get(partition, [])) if seen else None
        if changed is not None:
            refused[partition] = Outcome(OutcomeKind.REFUSED, changed)
        elif loss is not None and not allow_loss:
            reason = f"{loss} (--allow-loss elects all the same)"
            refused[partition] = Outcome(OutcomeKind.REFUSED, reason)
        else:
            may_go.append(plan)
            lost += [] if loss is None else [f"{partition}: {loss}"]
    return Cleared(may_go, refused, tuple(lost))


def _loss(now: PartitionPlan, tails: Sequence[ClearedTail]) -> str | None:
    lost = [f"not saved: {tail_text(t.loser)}: {t.why_not}" for t in tails if t.why_not is not None]
    return "; ".join(lost) or unsaved(now, [tail.loser for tail in tails])


def tail_text(loser: Loser) -> str:
    return f"{count_text(loser.records, 'record')} of broker {loser.broker}"
