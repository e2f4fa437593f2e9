"""kafka-unclean-recovery explain shows what a finding or a check of doctor means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.command import command
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag

NAME = "explain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Explain a finding of a plan or a check of doctor: meaning, impact, what to look at and to do.

    Needs no cluster and no network. Without CODE all codes are listed.
    """

    code: Annotated[
        str | None,
        typer.Argument(
            metavar="[CODE]",
            help="Code as plans and doctor print it, such as live_records_truncated.",
            show_default=False,
        ),
    ] = None
    log_format: LogFormatFlag = LogFormat.TEXT


explain = command(Options, "explain:explain", "kafka-unclean-recovery explain")
