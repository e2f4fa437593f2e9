"""The files and flags that bound the elections of a run are read here (see recovery/terms.py)."""

from __future__ import annotations

import os
import pwd
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_unclean_recovery.cli.terminal.console import read_input
from kafka_unclean_recovery.errors import usage
from kafka_unclean_recovery.planning.loss_limits import parse_loss_limits
from kafka_unclean_recovery.recovery.terms import PLAN, Terms

if TYPE_CHECKING:
    from kafka_unclean_recovery.documents.approval import Approval
    from kafka_unclean_recovery.documents.plan import PlanFile

APPROVAL = "--require-approval"


def check_terms(terms: Terms, cluster_id: str) -> None:
    """Raise Exit(2) when --plan belongs to another cluster."""
    if terms.plan is not None and terms.plan.cluster_id != cluster_id:
        raise usage(
            f"{PLAN} is of cluster {terms.plan.cluster_id}, and this is {cluster_id}; give a plan"
            " of this one"
        )


def read_terms(
    accept_loss: Sequence[str], plan: Path | None = None, approval: Path | None = None
) -> Terms:
    """Read the loss limits, the plan and its approval. Raises Exit(2)."""
    limits = parse_loss_limits(accept_loss)
    planned = None if plan is None else _plan(plan)
    approved = None if approval is None else _approval(approval, planned)
    return Terms(tuple(accept_loss), limits, planned, approved)


def _plan(path: Path) -> PlanFile:
    """Read the plan. Raises Exit(2), InputError."""
    # The readers of plans and approvals, for which a run without them should not wait.
    from kafka_unclean_recovery.documents.plan import read_plan

    return read_plan(read_input(path, PLAN), f"{PLAN} {path}")


def _approval(path: Path, plan: PlanFile | None) -> Approval:
    """Read the approval and check that another user approved this plan. Raises Exit(2),
    InputError."""
    if plan is None:
        raise usage(f"{APPROVAL} {path}: give {PLAN} with the plan that was approved, too")
    return approval_of(path, plan.digest, plan.cluster_id)


def approval_of(path: Path, plan_digest: str, cluster_id: str) -> Approval:
    """Read the approval of the plan with this digest and check that another user gave it. Raises
    Exit(2), InputError."""
    from kafka_unclean_recovery.documents.approval import parse_approval

    given = f"{APPROVAL} {path}"
    approval = parse_approval(read_input(path, APPROVAL), given)
    if (approval.plan_digest, approval.cluster_id) != (plan_digest, cluster_id):
        raise usage(f"{given}: approves another plan ({approval.plan_digest}) than {PLAN}")
    if approval.approved_by == (me := user_name()):
        raise usage(f"{given}: {me} approved it and runs it; have another user do one of the two")
    return approval


def user_name() -> str:
    """Return the name of the user that this process runs as."""
    user = os.getuid()
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:  # A container may run under a number without a name.
        return f"uid {user}"
