"""kafka-unclean-recovery spark plan designates leaders from the tables of spark scan."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.command import command
from kafka_unclean_recovery.cli.flags import (
    Conf,
    Format,
    Master,
    OutputFormat,
    PlanFile,
    Summaries,
)
from kafka_unclean_recovery.cli.log_format import LogFormat, LogFormatFlag

NAME = "plan"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Choose leaders as plan does, for any number of partitions; what is lost goes to stdout by
    topic.

    Nothing is elected and nothing is asked of any cluster: kafka-elect-leaders takes the file once
    the brokers are started.
    """

    summaries: Summaries
    manual_recovery_output_file: Annotated[
        Path,
        typer.Option(
            metavar="NEWFILE", help="Write the designated leaders, for kafka-elect-leaders."
        ),
    ]
    plan_output_file: PlanFile = None
    exclude_brokers: Annotated[
        str | None,
        typer.Option(
            metavar="IDS", help="Brokers that will never start again, as in 1,2: none will lead."
        ),
    ] = None
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="NEWFILE", help="Write what is lost, by topic and partition, as a page."
        ),
    ] = None
    format: OutputFormat = Format.TABLE
    master: Master = None
    conf: Conf = None
    log_format: LogFormatFlag = LogFormat.TEXT


spark_plan = command(Options, "spark_plan:plan")
