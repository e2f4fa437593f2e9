"""kafka-unclean-recovery doctor: what stands in the way of a recovery, now or in an incident."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.flags import (
    BootstrapServer,
    Format,
    HowElected,
    HowSeen,
    MetricsFile,
    OutputFormat,
    ReplicaLogInfoDialect,
)
from kafka_unclean_recovery.cli.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.mechanisms import ElectionMethod, Transport

NAME = "doctor"


def doctor(
    bootstrap_server: BootstrapServer,
    command_config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Java client properties: TLS, SASL, client.id."),
    ] = None,
    format: OutputFormat = Format.TABLE,  # noqa: A002 - the flag's name
    timeout_ms: Annotated[
        int, typer.Option(min=1, metavar="MS", help="How long each question may take.")
    ] = 10_000,
    salvage_dir: Annotated[
        Path,
        typer.Option(metavar="DIR", help="Where a salvage would be written: its room is checked."),
    ] = Path(),
    transport: HowSeen = Transport.AUTO,
    election_method: HowElected = ElectionMethod.AUTO,
    replica_log_info_dialect: ReplicaLogInfoDialect = None,
    metrics_file: MetricsFile = None,
    log_format: LogFormatFlag = LogFormat.TEXT,
) -> None:
    """Check that a recovery would work, and change nothing.

    Every broker and the controller quorum, releases and their known bugs, the mechanism that would
    be used, each right that it needs (tried), elections that the controller may do by itself,
    reassignments, clocks, room. Each line says what is so, why it matters and what to do. The exit
    code is 1 when one of them is a warning or a failure.
    """
    from kafka_unclean_recovery.cli.runs.doctor import Options, run_doctor

    options = Options(
        bootstrap_server=bootstrap_server,
        command_config=command_config,
        as_json=format is Format.JSON,
        timeout_ms=timeout_ms,
        salvage_dir=salvage_dir,
        transport=transport,
        election_method=election_method,
        replica_log_info_dialect=replica_log_info_dialect,
    )
    raise typer.Exit(run_doctor(options))
