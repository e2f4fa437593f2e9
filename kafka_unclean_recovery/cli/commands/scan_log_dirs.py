"""kafka-unclean-recovery scan-log-dirs: how far the replicas on some disks go, without a broker."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.flags import (
    Format,
    HowMuch,
    MetricsFile,
    OutputFormat,
    PartitionsFile,
    Topics,
)
from kafka_unclean_recovery.cli.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.mechanisms import ScanMode

NAME = "scan-log-dirs"


def scan_log_dirs(
    directories: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR",
            help="A log directory, or one that holds several, of one broker or many.",
        ),
    ],
    mode: HowMuch = ScanMode.RECOVER,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Processes that read at a time; by default the processors, at most 4.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="NEWFILE", help="Write the JSON, for --replica-info-file of other commands."
        ),
    ] = None,
    format: OutputFormat = Format.TABLE,  # noqa: A002 - the flag's name
    topics: Topics = None,
    path_to_json_file: PartitionsFile = None,
    metrics_file: MetricsFile = None,
    log_format: LogFormatFlag = LogFormat.TEXT,
) -> None:
    """Read how far the replicas in log directories go, with no broker alive.

    Files are only read, and nothing is asked of any cluster. Ctrl-C reports what was scanned.
    """
    from kafka_unclean_recovery.cli.runs.scan_log_dirs import Options, scan

    options = Options(
        directories=tuple(directories),
        mode=mode,
        workers=workers,
        output=output,
        as_json=format is Format.JSON,
        topics=topics,
        path_to_json_file=path_to_json_file,
    )
    raise typer.Exit(scan(options))
