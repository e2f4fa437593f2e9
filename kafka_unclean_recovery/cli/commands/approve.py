"""kafka-unclean-recovery approve lets a second person approve a plan, for --require-approval."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.command import command
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag

NAME = "approve"


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


approve = command(Options, "approve:approve", "kafka-unclean-recovery approve")
