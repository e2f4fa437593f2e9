"""What a plan says of electing one leader or another. Pure."""

from __future__ import annotations

from msgspec.structs import replace

from kafka_unclean_recovery.model import GroupBeyond, Loss, Outcome, PartitionPlan

UNKNOWN_LOSS = Loss(None, None)


def loss_under(plan: PartitionPlan | None, leader: int | None) -> Loss:
    """Return what `leader` costs, unknown when it is not among the candidates. An operator may have
    designated another one than the best candidate."""
    ranking = plan.ranking if plan else ()
    return next((c.loss for c in ranking if c.log.broker == leader), UNKNOWN_LOSS)


def loss_after(plan: PartitionPlan | None, leader: int | None, outcome: Outcome | None) -> Loss:
    """Return what electing `leader` cost: unknown where the outcome names a replica that nobody
    weighed, or is in doubt; at least what whoever leads in the end was found to lack. An outcome of
    None is that of an election that is not made yet."""
    loss = loss_under(plan, leader)
    if outcome is not None and (outcome.unweighed or outcome.in_doubt):
        return replace(loss, certain=None, possible=None)
    if outcome is not None and outcome.lost:
        return replace(loss, certain=max(outcome.lost, loss.certain or 0))
    return loss


def worst_first(loss: Loss) -> tuple[int, ...]:
    """Return a key that sorts the largest certain loss first, then the largest possible one. One
    that is not known is larger than any."""
    return *_largest_first(loss.certain), *_largest_first(loss.possible)


def _largest_first(count: int | None) -> tuple[int, int]:
    return (0, 0) if count is None else (1, -count)


def groups_under(plan: PartitionPlan | None, leader: int | None) -> tuple[GroupBeyond, ...]:
    """Return the groups that have read more than `leader` holds; none if it is no candidate."""
    ranking = plan.ranking if plan else ()
    return next((c.groups for c in ranking if c.log.broker == leader), ())
