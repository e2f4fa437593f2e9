"""kafka-unclean-recovery report writes the post-mortem of a run from its journal."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.command import command
from kafka_unclean_recovery.cli.flags import ReportFormat
from kafka_unclean_recovery.cli.log_format import LogFormat, LogFormatFlag

NAME = "report"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Write the post-mortem of a recovery: what was known when, elected and lost, and what is left.

    Nothing is asked of any cluster, and nothing is changed. Aftercare with --journal adds to it who
    is affected.
    """

    journal: Annotated[
        Path, typer.Argument(metavar="JOURNAL", help="The journal of a run that elected.")
    ]
    markdown: Annotated[bool, typer.Option("--markdown", help="As --format markdown.")] = False
    html: Annotated[bool, typer.Option("--html", help="As --format html.")] = False
    json: Annotated[bool, typer.Option("--json", help="As --format json.")] = False
    format: Annotated[
        ReportFormat | None,
        typer.Option(
            help="markdown: for a ticket; the default. html: a page with pictures, one file without"
            " script. json: all that was known.",
        ),
    ] = None
    output: Annotated[
        Path | None,
        typer.Option(metavar="NEWFILE", help="Where it goes, instead of stdout."),
    ] = None
    log_format: LogFormatFlag = LogFormat.TEXT


report = command(Options, "report:write_report")
