"""kafka-unclean-recovery aftercare shows what an unclean election left, and whether all is
resolved."""

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
    LogDirs,
    MetricsFile,
    OutputFormat,
    PartitionsFile,
    ReplicaInfoFiles,
    Topics,
)
from kafka_unclean_recovery.cli.log_format import LogFormat, LogFormatFlag

NAME = "aftercare"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """See what an unclean election left behind: hanging transactions, groups, missing replicas.

    Reads only, but for --end-transactions. Transactions whose end died with the old leader block
    read_committed consumers for good; groups may have read what is gone; replicas may not be back
    in the ISR, and disks of brokers that are down may hold more than the leaders. Exits with 0 when
    it is over.
    """

    bootstrap_server: BootstrapServer
    command_config: CommandConfig = None
    journal: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Only the partitions that this journal's runs elected; markers are noted there.",
        ),
    ] = None
    topics: Topics = None
    path_to_json_file: PartitionsFile = None
    log_dirs: LogDirs = None
    replica_info_file: ReplicaInfoFiles = None
    end_transactions: Annotated[
        bool,
        typer.Option(
            "--end-transactions",
            help="End hanging transactions whose ending their coordinators know for sure.",
        ),
    ] = False
    watch: Annotated[
        bool,
        typer.Option("--watch", help="Look again until it is over three times in a row."),
    ] = False
    watch_duration_ms: Annotated[
        int | None,
        typer.Option(min=1, metavar="MS", help="How long --watch may take; 600000 by default."),
    ] = None
    format: OutputFormat = Format.TABLE
    metrics_file: MetricsFile = None
    log_format: LogFormatFlag = LogFormat.TEXT


aftercare = command(Options, "aftercare:care")
