"""kafka-unclean-recovery approve: the second person's part of --require-approval."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.log_format import LogFormat, LogFormatFlag

NAME = "approve"


def approve(
    plan: Annotated[
        Path,
        typer.Argument(metavar="PLAN", help="What --plan-output-file wrote.", show_default=False),
    ],
    output: Annotated[Path, typer.Option(metavar="NEWFILE", help="Where the approval is written.")],
    log_format: LogFormatFlag = LogFormat.TEXT,
) -> None:
    """Show what a plan loses, ask, and write down that you approve it.

    Needs a terminal and no cluster. The run that elects takes the file with --require-approval, and
    must be another user's. It guards against mistakes, not against forgery.
    """
    from kafka_unclean_recovery.cli.runs.approve import approve_plan

    raise typer.Exit(approve_plan(plan, output))
