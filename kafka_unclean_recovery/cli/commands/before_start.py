"""kafka-unclean-recovery before-start foretells what a broker's start does to its disk."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.command import command
from kafka_unclean_recovery.cli.flags import (
    CommandConfig,
    Format,
    MetricsFile,
    OutputFormat,
    PartitionsFile,
    ReplicaInfoFiles,
    Topics,
)
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag

NAME = "before-start"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Foretell what the start of a broker will do to what its disk holds.

    The command only reads. Each replica is kept, leads again, is truncated from an offset on,
    emptied, put aside or deleted, or begins empty, or the broker is refused; where there is no
    leader, it is told who leads then, and who is cut to its log. The exit code is 0 when nothing is
    destroyed, 1 when something would be, here or on others, and 4 when that can't be told for some
    replicas and nothing is known to be destroyed.
    """

    log_dirs: Annotated[
        list[Path],
        typer.Option(
            "--log-dirs",
            metavar="DIR",
            help="Log directory of the broker that is to start. Can be repeated: give all of its"
            " log.dirs.",
        ),
    ]
    bootstrap_server: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT[,...]",
            help="Brokers to contact first, to find the others. Without it, --replica-info-file"
            " must tell what the other disks hold.",
        ),
    ] = None
    command_config: CommandConfig = None
    replica_info_file: ReplicaInfoFiles = None
    plan_output_file: Annotated[
        Path | None,
        typer.Option(
            metavar="NEWFILE",
            help="Write the leaders of the replicas that are truncated to this new file, for"
            " salvage --plan.",
        ),
    ] = None
    commands_file: Annotated[
        Path | None,
        typer.Option(
            metavar="NEWFILE",
            help="Write the commands that keep what the start would delete to this new file, as a"
            " shell script.",
        ),
    ] = None
    format: OutputFormat = Format.TABLE
    topics: Topics = None
    path_to_json_file: PartitionsFile = None
    metrics_file: MetricsFile = None
    log_format: LogFormatFlag = LogFormat.TEXT


before_start = command(Options, "before_start:foretell")
