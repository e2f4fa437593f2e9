"""kafka-unclean-recovery plan designates leaders from disks alone, with no live broker."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_unclean_recovery.cli.command import command
from kafka_unclean_recovery.cli.flags import (
    DesignatedLeadersFile,
    ExcludeBrokers,
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
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.mechanisms import ScanMode

NAME = "plan"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Choose leaders from log directories alone, with no broker and no controller alive.

    Nothing is elected and no cluster is contacted: kafka-elect-leaders takes the file once the
    brokers are started.
    """

    manual_recovery_output_file: DesignatedLeadersFile
    replica_info_file: ReplicaInfoFiles = None
    log_dirs: LogDirs = None
    mode: HowMuch = ScanMode.RECOVER
    exclude_brokers: ExcludeBrokers = None
    plan_output_file: PlanFile = None
    format: OutputFormat = Format.TABLE
    topics: Topics = None
    path_to_json_file: PartitionsFile = None
    metrics_file: MetricsFile = None
    log_format: LogFormatFlag = LogFormat.TEXT


plan = command(Options, "plan:plan")
