"""kafka-unclean-recovery plan: designated leaders out of disks alone, with nothing alive."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.flags import (
    Format,
    HowMuch,
    LogDirs,
    MetricsFile,
    OutputFormat,
    PartitionsFile,
    PlanFile,
    ReplicaInfoFiles,
    Topics,
)
from kafka_unclean_recovery.cli.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.mechanisms import ScanMode

NAME = "plan"


def plan_from_disks(
    manual_recovery_output_file: Annotated[
        Path,
        typer.Option(
            metavar="NEWFILE", help="Write the designated leaders, for kafka-elect-leaders."
        ),
    ],
    replica_info_file: ReplicaInfoFiles = None,
    log_dirs: LogDirs = None,
    mode: HowMuch = ScanMode.RECOVER,
    exclude_brokers: Annotated[
        str | None,
        typer.Option(
            metavar="IDS", help="Brokers that will never start again, as in 1,2: none will lead."
        ),
    ] = None,
    plan_output_file: PlanFile = None,
    format: OutputFormat = Format.TABLE,  # noqa: A002 - the flag's name
    topics: Topics = None,
    path_to_json_file: PartitionsFile = None,
    metrics_file: MetricsFile = None,
    log_format: LogFormatFlag = LogFormat.TEXT,
) -> None:
    """Choose leaders from log directories alone, with no broker and no controller alive.

    Nothing is elected and nothing is asked of any cluster: kafka-elect-leaders takes the file once
    the brokers are started.
    """
    from kafka_unclean_recovery.cli.runs.plan import Options, plan

    options = Options(
        replica_info_files=tuple(replica_info_file or ()),
        log_dirs=tuple(log_dirs or ()),
        mode=mode,
        exclude_brokers=exclude_brokers,
        manual_recovery_output_file=manual_recovery_output_file,
        plan_output_file=plan_output_file,
        as_json=format is Format.JSON,
        topics=topics,
        path_to_json_file=path_to_json_file,
    )
    raise typer.Exit(plan(options))
