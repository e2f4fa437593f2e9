"""What bounds the elections of a run: --accept-loss, --plan and --require-approval."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kafka_unclean_recovery.cli.console import read_input
from kafka_unclean_recovery.cli.exits import usage
from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.files.approval_file import Approval, parse_approval
from kafka_unclean_recovery.files.plan_reading import PlanFile, differences, read_plan
from kafka_unclean_recovery.model import Outcome, OutcomeKind, PartitionPlan
from kafka_unclean_recovery.planning.loss_limits import LossLimits, over_limit, parse_loss_limits
from kafka_unclean_recovery.recovery.phases import Outcomes

PLAN, APPROVAL = "--plan", "--require-approval"


@dataclass(frozen=True, slots=True)
class Terms:
    """limits: empty when any loss may be. plan: None when any plan may be carried out."""

    accept_loss: tuple[str, ...]
    limits: LossLimits
    plan: PlanFile | None
    approval: Approval | None

    def refused(self, plans: Iterable[PartitionPlan]) -> Outcomes:
        """Of plans with a designated leader, those that are not to be carried out."""
        reasons = ((plan.state.topic_partition, self._why_not(plan)) for plan in plans)
        return {tp: Outcome(OutcomeKind.REFUSED, why) for tp, why in reasons if why is not None}

    def _why_not(self, plan: PartitionPlan) -> str | None:
        if self.limits and (why := over_limit(plan, self.limits)) is not None:
            return why
        if self.plan is None:
            return None
        planned = self.plan.partitions.get(plan.state.topic_partition)
        if planned is None:
            return f"{PLAN} has no such partition"
        changed = differences(planned, plan)
        return f"not as in {PLAN}: {'; '.join(changed)}; plan again" if changed else None

    def check_cluster(self, cluster_id: str) -> None:
        """Raises Exit(2)."""
        if self.plan is not None and self.plan.cluster_id != cluster_id:
            raise usage(
                f"{PLAN} is of cluster {self.plan.cluster_id}, and this is {cluster_id}; give a"
                " plan of this one"
            )

    def journal_fields(self) -> dict[str, Any]:
        """For the line "consent"."""
        return {
            "accept_loss": list(self.accept_loss),
            "plan_digest": self.plan and self.plan.digest,
            "approval": self.approval and asdict(self.approval),
        }


def read_terms(
    accept_loss: Sequence[str], plan: Path | None = None, approval: Path | None = None
) -> Terms:
    """Raises Exit(2)."""
    try:
        limits = parse_loss_limits(accept_loss)
        planned = None if plan is None else read_plan(read_input(plan, PLAN), f"{PLAN} {plan}")
        approved = None if approval is None else _approval(approval, planned)
    except InputError as error:
        raise usage(str(error)) from None
    return Terms(tuple(accept_loss), limits, planned, approved)


def _approval(path: Path, plan: PlanFile | None) -> Approval:
    """Raises Exit(2), InputError."""
    given = f"{APPROVAL} {path}"
    if plan is None:
        raise usage(f"{given}: give {PLAN} with the plan that was approved, too")
    approval = parse_approval(read_input(path, APPROVAL), given)
    if (approval.plan_digest, approval.cluster_id) != (plan.digest, plan.cluster_id):
        raise usage(f"{given}: approves another plan ({approval.plan_digest}) than {PLAN}")
    if approval.approved_by == (me := user_name()):
        raise usage(f"{given}: {me} approved it and runs it; have another user do one of the two")
    return approval


def user_name() -> str:
    """Whom the operating system takes this process for."""
    user = os.getuid()
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:  # as in a container that is run by a bare number
        return f"uid {user}"
