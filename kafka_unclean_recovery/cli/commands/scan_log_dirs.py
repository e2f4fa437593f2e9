"""kafka-unclean-recovery scan-log-dirs reads how far replicas on disks go, without a broker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from msgspec.structs import replace

from kafka_unclean_recovery.cli import metrics_file
from kafka_unclean_recovery.cli.command import Command
from kafka_unclean_recovery.cli.disk_sources import scan_directories
from kafka_unclean_recovery.cli.flags import (
    Format,
    HowMuch,
    MetricsFile,
    OutputFormat,
    PartitionsFile,
    Topics,
)
from kafka_unclean_recovery.cli.selection import Selection, selection
from kafka_unclean_recovery.cli.terminal.colour import Color, ColorFlag
from kafka_unclean_recovery.cli.terminal.console import Console, check_output
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.cli.terminal.output import (
    columns_to_fit,
    count_and_first,
    print_text,
    scan_complaints,
)
from kafka_unclean_recovery.cli.terminal.output_files import write_new
from kafka_unclean_recovery.cli.terminal.scan_watch import ScanWatch
from kafka_unclean_recovery.documents.replica_info import replica_info_json
from kafka_unclean_recovery.errors import NOT_ALL, OK
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import ReplicaInfo
from kafka_unclean_recovery.report.run_metrics import scan_metrics
from kafka_unclean_recovery.report.scan_table import render_replica_info


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
    color: ColorFlag = Color.AUTO


def scan(console: Console, options: Options) -> int:
    """Run the command and return its exit code. Raises Exit."""
    check_output(options.output, "--output")
    chosen = selection(options.topics, options.path_to_json_file)
    watch = ScanWatch(console)
    info = scan_directories(options.directories, options.mode, chosen, options.workers, watch)
    metrics_file.found(scan_metrics(info))
    complaints = [*_partial(info), *scan_complaints(info), *_not_found(info, chosen)]
    # Of a broker whose other partitions were left out nobody can tell later what is not there.
    told = info if chosen.everything else replace(info, whole=())
    _give(console, options, told, complaints)
    if watch.exit_code is not None:
        return watch.exit_code
    return NOT_ALL if complaints else OK


def _give(console: Console, options: Options, info: ReplicaInfo, complaints: Sequence[str]) -> None:
    """Write the file and print the result. The result is printed even when the file can't be
    written, because a scan may take hours."""
    text = replica_info_json(info) if options.format.is_json or options.output else ""
    try:
        if options.output is not None:
            write_new(options.output, text, "--output")
    finally:
        shown = (
            text
            if options.format.is_json
            else render_replica_info(info, columns_to_fit(options.format))
        )
        print_text(console, shown, options.format, complaints)


def _partial(info: ReplicaInfo) -> Iterator[str]:
    if info.interrupted:
        count = sum(len(part.replica_logs) for part in info.partitions)
        yield f"interrupted: this is partial, {count} replicas were scanned"


def _not_found(info: ReplicaInfo, chosen: Selection) -> Iterator[str]:
    """Return complaints about partitions without a replica here: a misspelt name must not look like
    a disk without problems."""
    found = {part.topic_partition for part in info.partitions if part.replica_logs}
    missing = [str(tp) for tp in sorted(chosen.named - found)]
    if missing:
        yield from count_and_first(
            "partition has no replica here", "partitions have no replica here", missing
        )
    elif not found and not chosen.everything:
        yield f"no replica here is of the partitions asked for{chosen.hint}"


COMMAND = Command(Options, scan)
