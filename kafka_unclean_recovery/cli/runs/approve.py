"""kafka-unclean-recovery approve shows a plan, asks a person, and writes the approval."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from kafka_unclean_recovery.cli.commands.approve import Options
from kafka_unclean_recovery.cli.consenting import number_typed
from kafka_unclean_recovery.cli.console import (
    Console,
    check_output,
    is_terminal,
    read_input,
    write_new,
)
from kafka_unclean_recovery.cli.exits import NOT_ALL, OK, Exit, usage
from kafka_unclean_recovery.cli.terms import user_name
from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.files.approval_file import Approval, approval_json
from kafka_unclean_recovery.files.plan_reading import PlanFile, read_plan
from kafka_unclean_recovery.recovery.consent import render_consent
from kafka_unclean_recovery.shutdown import Interrupted, Stop


def approve(console: Console, options: Options) -> int:
    """Run the command and return its exit code. Raises Exit."""
    planned = _read(options.plan, options.output)
    return asyncio.run(_approve(console, planned, options.output))


def _read(plan: Path, output: Path) -> PlanFile:
    """Read the plan and check that it can be approved. Raises Exit(2)."""
    check_output(output, "--output")
    try:
        planned = read_plan(read_input(plan, "PLAN"), str(plan))
    except InputError as error:
        raise usage(str(error)) from None
    if not any(p.designated_leader is not None for p in planned.partitions.values()):
        raise usage(f"{plan}: designates no leader, so there is nothing to approve")
    if not is_terminal():
        raise usage("only a person can approve a plan: run approve on a terminal")
    return planned


async def _approve(console: Console, plan: PlanFile, output: Path) -> int:
    """Show the plan, ask, and write the approval. Raises Exit(1) without an approval, Exit(2), and
    Exit(128 plus the signal's number)."""
    plans = list(plan.partitions.values())
    console.show(f"plan of {plan.created_at} for cluster {plan.cluster_id}\n{plan.digest}\n")
    console.show(render_consent(plans))
    to_elect = sum(1 for p in plans if p.designated_leader is not None)
    # An interrupted approval leaves nothing to finish, so nothing is said about it.
    stop = Stop(lambda _: None)
    # Python's own handler may miss a Ctrl-C that comes right before the event loop waits.
    stop.install()
    try:
        answer = await number_typed(console, stop, "to approve electing", to_elect)
    except Interrupted:
        raise Exit(
            stop.exit_code or NOT_ALL, "the command was interrupted, and the plan is not approved"
        ) from None
    if not answer.given:
        raise Exit(NOT_ALL, f"the plan is not approved: {answer.how}")
    now = datetime.now(UTC).isoformat(timespec="seconds")
    approval = Approval(plan.digest, plan.cluster_id, user_name(), now)
    write_new(output, approval_json(approval), "--output")
    console.say(f"approved by {approval.approved_by}: {output}")
    return OK
