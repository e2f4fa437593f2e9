"""kafka-unclean-recovery approve lets a second person approve a plan, for --require-approval."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.command import command
from kafka_unclean_recovery.cli.log_format import LogFormat, LogFormatFlag

NAME = "approve"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Show what a plan loses, ask, and write down that you approve it.

    Needs a terminal and no cluster. The run that elects takes the file with --require-approval, and
    must be another user's. It guards against mistakes, not against forgery.
    """

    plan: Annotated[
        Path,
        typer.Argument(metavar="PLAN", help="What --plan-output-file wrote.", show_default=False),
    ]
    output: Annotated[Path, typer.Option(metavar="NEWFILE", help="Where the approval is written.")]
    log_format: LogFormatFlag = LogFormat.TEXT


approve = command(Options, "approve:approve", "kafka-unclean-recovery approve")
