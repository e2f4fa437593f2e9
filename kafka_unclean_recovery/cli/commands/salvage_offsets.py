"""kafka-unclean-recovery salvage offsets brings commits of groups back that an election lost."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.command import command
from kafka_unclean_recovery.cli.flags import BootstrapServer, CommandConfig, Format, OutputFormat
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag

NAME = "offsets"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Show the commits of consumer groups among the saved records of __consumer_offsets, and bring
    them back.

    Without --execute nothing is changed. Groups go forwards only: a commit is brought
    back where the group would read again what it has read, and where the log still has
    the records that it read, as their leader epoch tells. Of a group that has members
    nothing is brought back.
    """

    saved: Annotated[Path, typer.Argument(metavar="SAVED", help="Directory that salvage wrote.")]
    bootstrap_server: BootstrapServer
    command_config: CommandConfig = None
    group: Annotated[
        list[str] | None,
        typer.Option(metavar="GROUP", help="Look only at this group; may be repeated."),
    ] = None
    backwards: Annotated[
        bool,
        typer.Option(
            "--backwards",
            help="Also bring commits back that lie below what the group has committed now: it reads"
            " again from there.",
        ),
    ] = False
    without_epoch: Annotated[
        bool,
        typer.Option(
            "--without-epoch",
            help="Also bring commits back whose records tell no leader epoch, as those of old"
            " clients: if an election replaced records, the group passes over the new ones.",
        ),
    ] = False
    plan: Annotated[
        bool,
        typer.Option("--plan", help="Change nothing, and show the commits; this is the default."),
    ] = False
    execute: Annotated[
        bool,
        typer.Option(
            "--execute", help="Bring the commits back; on a terminal the command asks first."
        ),
    ] = False
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask on a terminal.")] = False
    format: OutputFormat = Format.TABLE
    log_format: LogFormatFlag = LogFormat.TEXT


salvage_offsets = command(
    Options,
    "salvage_offsets:bring_back_offsets",
    extra="reads salvaged records: pip install 'kafka-unclean-recovery[salvage]'",
)
