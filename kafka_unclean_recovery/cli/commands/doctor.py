"""kafka-unclean-recovery doctor checks what would prevent a recovery, now or in an incident."""

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
    HowElected,
    HowSeen,
    MetricsFile,
    OutputFormat,
    ReplicaLogInfoDialect,
)
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.mechanisms import ElectionMethod, Transport

NAME = "doctor"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Check that a recovery would work, and change nothing.

    The checks cover every broker and the controller quorum, releases and their known bugs, the
    mechanism that would be used, each right that it needs (by trying), elections that the
    controller may make by itself, reassignments, clocks and free space. Each line says what was
    found, why it matters and what to do. The exit code is 1 when a line is a warning or a failure.
    """

    bootstrap_server: BootstrapServer
    command_config: CommandConfig = None
    format: OutputFormat = Format.TABLE
    timeout_ms: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="MS",
            help="How long each question to the cluster may take, in milliseconds.",
        ),
    ] = 10_000
    salvage_dir: Annotated[
        Path,
        typer.Option(
            metavar="DIR",
            help="Directory where a salvage would be written; its free space is checked.",
        ),
    ] = Path()
    transport: HowSeen = Transport.AUTO
    election_method: HowElected = ElectionMethod.AUTO
    replica_log_info_dialect: ReplicaLogInfoDialect = None
    metrics_file: MetricsFile = None
    log_format: LogFormatFlag = LogFormat.TEXT


doctor = command(Options, "doctor:diagnose_cluster", "kafka-unclean-recovery doctor")
