"""kafka-unclean-recovery report writes the post-mortem of a run from its journal."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.command import command
from kafka_unclean_recovery.cli.flags import ReportFormat
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag

NAME = "report"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Write the post-mortem of a recovery: what was known when, elected and lost, and what is left.

    No cluster is contacted, and nothing is changed. The command aftercare with --journal adds to
    the journal what the election left behind.
    """

    journal: Annotated[
        Path, typer.Argument(metavar="JOURNAL", help="The journal of a run that elected.")
    ]
    markdown: Annotated[bool, typer.Option("--markdown", help="Same as --format markdown.")] = False
    html: Annotated[bool, typer.Option("--html", help="Same as --format html.")] = False
    json: Annotated[bool, typer.Option("--json", help="Same as --format json.")] = False
    format: Annotated[
        ReportFormat | None,
        typer.Option(
            help="Format of the report; by default markdown. markdown: text for a ticket. html: one"
            " page with pictures and without scripts. json: everything that was known.",
        ),
    ] = None
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="NEWFILE", help="Write the report to this new file; by default to stdout."
        ),
    ] = None
    log_format: LogFormatFlag = LogFormat.TEXT


report = command(Options, "report:write_report")
