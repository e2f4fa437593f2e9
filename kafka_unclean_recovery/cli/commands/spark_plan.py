"""kafka-unclean-recovery spark plan: designated leaders out of what spark scan found."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.flags import (
    Format,
    OutputFormat,
    PlanFile,
)
from kafka_unclean_recovery.cli.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.cli.spark_flags import Conf, Master, Summaries

NAME = "plan"


def spark_plan(
    summaries: Summaries,
    manual_recovery_output_file: Annotated[
        Path,
        typer.Option(
            metavar="NEWFILE", help="Write the designated leaders, for kafka-elect-leaders."
        ),
    ],
    plan_output_file: PlanFile = None,
    exclude_brokers: Annotated[
        str | None,
        typer.Option(
            metavar="IDS", help="Brokers that will never start again, as in 1,2: none will lead."
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="NEWFILE", help="Write what is lost, by topic and partition, as a page."
        ),
    ] = None,
    format: OutputFormat = Format.TABLE,  # noqa: A002 - the flag's name
    master: Master = None,
    conf: Conf = None,
    log_format: LogFormatFlag = LogFormat.TEXT,
) -> None:
    """Choose leaders as plan does, for any number of partitions; what is lost goes to stdout by
    topic.

    Nothing is elected and nothing is asked of any cluster: kafka-elect-leaders takes the file once
    the brokers are started.
    """
    from kafka_unclean_recovery.cli.runs.spark_plan import Options, plan

    options = Options(
        summaries=tuple(summaries),
        manual_recovery_output_file=manual_recovery_output_file,
        plan_output_file=plan_output_file,
        exclude_brokers=exclude_brokers,
        html=html,
        as_json=format is Format.JSON,
        master=master,
        conf=tuple(conf or ()),
    )
    raise typer.Exit(plan(options))
