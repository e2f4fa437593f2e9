"""kafka-unclean-recovery watch tells how many further failures partitions stand, for ever."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.command import command
from kafka_unclean_recovery.cli.flags import (
    BootstrapServer,
    CommandConfig,
    Format,
    MetricsFile,
    OutputFormat,
)
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag

NAME = "watch"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Look at the cluster again and again, and tell how many further failures its partitions stand.

    The first look is printed whole, and then what changes. Nothing of the cluster is changed. It
    goes on until a signal ends it, or for --duration-ms.
    """

    bootstrap_server: BootstrapServer
    command_config: CommandConfig = None
    interval_ms: Annotated[
        int,
        typer.Option(
            min=100, metavar="MS", help="From the end of a look to the next, in milliseconds."
        ),
    ] = 10_000
    duration_ms: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="MS",
            help="End after this time, in milliseconds. By default only a signal ends it.",
        ),
    ] = None
    format: OutputFormat = Format.TABLE
    metrics_file: MetricsFile = None
    log_format: LogFormatFlag = LogFormat.TEXT


watch = command(Options, "watch:watch", "kafka-unclean-recovery watch")
