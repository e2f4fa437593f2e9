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
from kafka_unclean_recovery.cli.log_format import LogFormat, LogFormatFlag

NAME = "replay"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Produce the records that salvage saved to a topic beside the one that lost them.

    Without --execute nothing is produced: it is shown what would be, and what the target topics
    would alter or refuse. Each record goes to the partition that it was in, with its key, headers
    and time, and with headers of ours that say where it was. Run again, it goes on where it ended,
    and adds nothing that is there.
    """

    saved: Annotated[
        Path, typer.Argument(metavar="SAVED", help="The directory that salvage wrote.")
    ]
    bootstrap_server: BootstrapServer
    command_config: CommandConfig = None
    topics: Topics = None
    path_to_json_file: PartitionsFile = None
    target: Annotated[
        str,
        typer.Option(
            metavar="TEMPLATE", help="Where records go; {topic} is the topic they were in."
        ),
    ] = "{topic}.salvaged"
    include_open: Annotated[
        bool,
        typer.Option(
            "--include-open", help="Produce records of transactions without an end here, too."
        ),
    ] = False
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="What has been produced; by default beside SAVED, by its name.",
        ),
    ] = None
    execute: Annotated[
        bool, typer.Option("--execute", help="Produce; else it is only shown what would be.")
    ] = False
    format: OutputFormat = Format.TABLE
    log_format: LogFormatFlag = LogFormat.TEXT


salvage_replay = command(
    Options,
    "salvage_replay:produce",
    extra="reads or produces salvaged records: pip install 'kafka-unclean-recovery[salvage]'",
)
