"""kafka-unclean-recovery spark plan designates leaders from the tables of spark scan."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.command import command
from kafka_unclean_recovery.cli.flags import (
    Conf,
    DesignatedLeadersFile,
    ExcludeBrokers,
    Format,
    Master,
    OutputFormat,
    PlanFile,
    Summaries,
)
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag

NAME = "plan"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Choose leaders as plan does, for any number of partitions, and print the losses by topic.

    Nothing is elected and no cluster is contacted: kafka-elect-leaders takes the file once the
    brokers are started.
    """

    summaries: Summaries
    manual_recovery_output_file: DesignatedLeadersFile
    plan_output_file: PlanFile = None
    exclude_brokers: ExcludeBrokers = None
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="NEWFILE",
            help="Write an HTML page of the losses by topic, and of the partitions that lose most,"
            " to this new file.",
        ),
    ] = None
    format: OutputFormat = Format.TABLE
    master: Master = None
    conf: Conf = None
    log_format: LogFormatFlag = LogFormat.TEXT


spark_plan = command(Options, "spark_plan:plan")
