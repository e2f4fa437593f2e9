"""kafka-unclean-recovery salvage replay produces the records that salvage saved to a topic."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.command import command
from kafka_unclean_recovery.cli.flags import (
    BootstrapServer,
    CommandConfig,
    Format,
    OutputFormat,
    PartitionsFile,
    Topics,
)
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag

NAME = "replay"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Produce the records that salvage saved to another topic than the one that lost them.

    Without --execute nothing is produced: the command only shows what it would produce, and what
    the target topics would alter or refuse. Each record keeps its partition, key, headers and time,
    and gets further headers that say where it was. When the command is run again, it continues
    where it ended, and adds no record that is already there.
    """

    saved: Annotated[Path, typer.Argument(metavar="SAVED", help="Directory that salvage wrote.")]
    bootstrap_server: BootstrapServer
    command_config: CommandConfig = None
    topics: Topics = None
    path_to_json_file: PartitionsFile = None
    target: Annotated[
        str,
        typer.Option(
            metavar="TEMPLATE",
            help="Name of the target topic; {topic} stands for the topic that the records were in.",
        ),
    ] = "{topic}.salvaged"
    include_open: Annotated[
        bool,
        typer.Option(
            "--include-open",
            help="Also produce records of transactions whose end is not among the saved records.",
        ),
    ] = False
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File that notes what has been produced; by default SAVED.replay-checkpoint.",
        ),
    ] = None
    execute: Annotated[
        bool,
        typer.Option(
            "--execute", help="Produce the records; by default the command only shows them."
        ),
    ] = False
    format: OutputFormat = Format.TABLE
    log_format: LogFormatFlag = LogFormat.TEXT


salvage_replay = command(
    Options,
    "salvage_replay:produce",
    extra="reads or produces salvaged records: pip install 'kafka-unclean-recovery[salvage]'",
)
