"""kafka-unclean-recovery approve lets a second person approve a plan, for --require-approval."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.command import Command
from kafka_unclean_recovery.cli.terminal.colour import Color, ColorFlag
from kafka_unclean_recovery.cli.terminal.consenting import elections_text, typed
from kafka_unclean_recovery.cli.terminal.console import (
    Console,
    check_output,
    is_terminal,
    read_input,
)
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.cli.terminal.output_files import write_new
from kafka_unclean_recovery.cli.terms import user_name
from kafka_unclean_recovery.documents.approval import Approval, approval_json
from kafka_unclean_recovery.documents.plan import read_plan
from kafka_unclean_recovery.documents.quorum import QuorumPlanJson, is_quorum_plan, read_quorum_plan
from kafka_unclean_recovery.errors import NOT_ALL, OK, Exit, usage
from kafka_unclean_recovery.shown import shown_lines
from kafka_unclean_recovery.wording import one_line


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Show what a plan loses, ask you to approve it, and write the approval to a file.

    Needs a terminal, but no cluster. The run that elects takes the file with --require-approval and
    must be started by another user. An approval protects against mistakes, not against forgery.
    """

    plan: Annotated[
        Path,
        typer.Argument(
            metavar="PLAN", help="Plan that --plan-output-file wrote.", show_default=False
        ),
    ]
    output: Annotated[
        Path, typer.Option(metavar="NEWFILE", help="Write the approval to this new file.")
    ]
    log_format: LogFormatFlag = LogFormat.TEXT
    color: ColorFlag = Color.AUTO


@dataclass(frozen=True, slots=True)
class _Approvable:
    """A plan of either kind. text: what is shown of it. asked: the question, and what is to be
    typed; what: the same in words."""

    digest: str
    cluster_id: str
    created_at: str
    text: str
    asked: tuple[str, str]
    what: str


def approve(console: Console, options: Options) -> int:
    """Run the command and return its exit code. Raises Exit."""
    check_output(options.output, "--output")
    planned = _read(options.plan)
    if not is_terminal():
        raise usage("only a person can approve a plan: run approve on a terminal")
    return asyncio.run(_approve(console, planned, options.output))


def _read(path: Path) -> _Approvable:
    """Read the plan and check that it can be approved. Raises Exit(2)."""
    text = read_input(path, "PLAN")
    if is_quorum_plan(text, str(path)):
        return _of_quorum(read_quorum_plan(text, str(path)))
    planned = read_plan(text, str(path))
    plans = list(planned.partitions.values())
    to_elect = sum(1 for plan in plans if plan.designated_leader is not None)
    if not to_elect:
        raise usage(f"{path}: designates no leader, so there is nothing to approve")
    question = f"to approve electing these leaders, type the number of partitions, {to_elect}: "
    shown = elections_text(plans, {})
    asked = (question, str(to_elect))
    what = "the number of partitions"
    return _Approvable(planned.digest, planned.cluster_id, planned.created_at, shown, asked, what)


def _of_quorum(plan: QuorumPlanJson) -> _Approvable:
    epoch = f"node {plan.new_controller.id} leads from epoch {plan.epoch} on\n"
    found = epoch + "".join(
        f"{one_line(f'{f.severity.value} {f.code}: {f.message}')}\n" for f in plan.findings
    )
    asked = ("to approve this new metadata quorum, type its epoch: ", str(plan.epoch))
    return _Approvable(plan.digest, plan.cluster_id, plan.created_at, found, asked, "its epoch")


async def _approve(console: Console, plan: _Approvable, output: Path) -> int:
    """Show the plan, ask, and write the approval. Raises Exit(1) without an approval, Exit(2), and
    Exit(128 plus the signal's number)."""
    head = [f"plan of {plan.created_at} for cluster {plan.cluster_id}", plan.digest, ""]
    console.show_person(shown_lines(head))
    console.show_person(plan.text)
    question, wanted = plan.asked
    answer, interrupted = await typed(console, question)
    if interrupted is not None:
        raise Exit(interrupted, "the command was interrupted, and the plan is not approved")
    if answer != wanted:
        raise Exit(NOT_ALL, f"the plan is not approved: {plan.what} was not typed")
    now = datetime.now(UTC).isoformat(timespec="seconds")
    approval = Approval(plan.digest, plan.cluster_id, user_name(), now)
    write_new(output, approval_json(approval), "--output")
    console.say(f"approved by {approval.approved_by}: {output}")
    return OK


COMMAND = Command(Options, approve, "kafka-unclean-recovery approve")
