"""What a plan says of electing one leader or another. Pure."""

from __future__ import annotations

from kafka_unclean_recovery.model import GroupBeyond, Loss, PartitionPlan

UNKNOWN_LOSS = Loss(None, None)


def loss_under(plan: PartitionPlan | None, leader: int | None) -> Loss:
    """What `leader` costs, unknown when it is not among the candidates.

    Not always the loss of the best candidate: an operator may have designated another one.
    """
    ranking = plan.ranking if plan else ()
    return next((c.loss for c in ranking if c.log.broker == leader), UNKNOWN_LOSS)


def groups_under(plan: PartitionPlan | None, leader: int | None) -> tuple[GroupBeyond, ...]:
    """Groups that have read more than `leader` holds; none where it is not among the candidates."""
    ranking = plan.ranking if plan else ()
    return next((c.groups for c in ranking if c.log.broker == leader), ())
