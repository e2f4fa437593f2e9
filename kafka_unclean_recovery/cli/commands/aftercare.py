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
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag

NAME = "aftercare"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Show what an unclean election left behind: hanging transactions, groups, missing replicas.

    The command only reads, unless --end-transactions or --reset-share-groups is given. Transactions
    whose end was lost block read_committed consumers for ever; groups may have read records that
    are lost; replicas may not be back in the ISR; and disks of dead brokers may hold more than the
    leaders. The exit code is 0 when nothing is left.
    """

    bootstrap_server: BootstrapServer
    command_config: CommandConfig = None
    journal: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Only the partitions that this journal's run elected; the journal also gets what"
            " is found and done. By default all partitions.",
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
            help="End the hanging transactions whose outcome their coordinators know for certain.",
        ),
    ] = False
    reset_share_groups: Annotated[
        bool,
        typer.Option(
            "--reset-share-groups",
            help="Set the share groups that had read beyond the new log ends back to where the logs"
            " part. Stop their consumers first.",
        ),
    ] = False
    watch: Annotated[
        bool,
        typer.Option(
            "--watch", help="Look again every second until nothing is left three times in a row."
        ),
    ] = False
    watch_duration_ms: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="MS",
            help="How long --watch may take, in milliseconds; by default 600000.",
        ),
    ] = None
    format: OutputFormat = Format.TABLE
    metrics_file: MetricsFile = None
    log_format: LogFormatFlag = LogFormat.TEXT


aftercare = command(Options, "aftercare:care")
