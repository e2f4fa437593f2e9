"""kafka-unclean-recovery scan-log-dirs reads how far replicas on disks go, without a broker."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.command import command
from kafka_unclean_recovery.cli.flags import (
    Format,
    HowMuch,
    MetricsFile,
    OutputFormat,
    PartitionsFile,
    Topics,
)
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.mechanisms import ScanMode

NAME = "scan-log-dirs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Read how far the replicas in log directories go, with no broker alive.

    Files are only read, and no cluster is contacted. Ctrl-C ends the scan, and what was scanned
    until then is reported.
    """

    directories: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR",
            help="Log directory, or a directory that holds several, of one broker or of many.",
        ),
    ]
    mode: HowMuch = ScanMode.RECOVER
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Number of processes that read at the same time; by default one for each"
            " processor, at most 4.",
        ),
    ] = None
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="NEWFILE",
            help="Write the result as JSON to this new file, for --replica-info-file of other"
            " commands.",
        ),
    ] = None
    format: OutputFormat = Format.TABLE
    topics: Topics = None
    path_to_json_file: PartitionsFile = None
    metrics_file: MetricsFile = None
    log_format: LogFormatFlag = LogFormat.TEXT


scan_log_dirs = command(Options, "scan_log_dirs:scan")
