"""--accept-loss, --plan and --require-approval bound the elections of a run. This module does no
I/O."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from kafka_unclean_recovery.model import (
    MoveKind,
    Outcome,
    OutcomeKind,
    PartitionPlan,
    TopicPartition,
)
from kafka_unclean_recovery.planning.loss_limits import LossLimits, over_limit

if TYPE_CHECKING:
    from kafka_unclean_recovery.documents.approval_file import Approval
    from kafka_unclean_recovery.documents.plan_reading import PlanFile

PLAN = "--plan"


@dataclass(frozen=True, slots=True)
class Terms:
    """The bounds of a run. limits: empty when any loss is accepted. plan: None when any plan may be
    carried out."""

    accept_loss: tuple[str, ...]
    limits: LossLimits
    plan: PlanFile | None
    approval: Approval | None

    def refused(self, plans: Iterable[PartitionPlan]) -> dict[TopicPartition, Outcome]:
        """Return the refusals of those plans that must not be carried out."""
        reasons = ((plan.state.topic_partition, self._why_not(plan)) for plan in plans)
        return {tp: Outcome(OutcomeKind.REFUSED, why) for tp, why in reasons if why is not None}

    def _why_not(self, plan: PartitionPlan) -> str | None:
        # What is given up has a consent of its own, by name.
        given_up = plan.move is not None and plan.move.kind is MoveKind.EMPTY
        if self.limits and not given_up and (why := over_limit(plan, self.limits)) is not None:
            return why
        if self.plan is None:
            return None
        planned = self.plan.partitions.get(plan.state.topic_partition)
        if planned is None:
            return f"{PLAN} has no such partition"
        from kafka_unclean_recovery.documents.plan_reading import differences

        changed = differences(planned, plan)
        return f"not as in {PLAN}: {'; '.join(changed)}; plan again" if changed else None

    def journal_fields(self) -> dict[str, Any]:
        """Return the fields for the journal's line "consent"."""
        return {
            "accept_loss": list(self.accept_loss),
            "plan_digest": self.plan and self.plan.digest,
            "approval": self.approval and asdict(self.approval),
        }
