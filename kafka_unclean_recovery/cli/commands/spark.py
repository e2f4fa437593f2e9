"""kafka-unclean-recovery spark reads the disks of thousands of brokers with Spark jobs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.command import command
from kafka_unclean_recovery.cli.commands import spark_plan, spark_salvage
from kafka_unclean_recovery.cli.flags import (
    Conf,
    Format,
    HowMuch,
    Master,
    OutputFormat,
    PartitionsFile,
    StoreEndpoint,
    StoreRegion,
    Topics,
)
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.mechanisms import ScanMode

NAME = "spark"
SCAN = "scan"

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    short_help="Scan, plan and salvage disks of thousands of brokers with Spark.",
)


@app.callback()
def spark() -> None:
    """Do what scan-log-dirs, plan and salvage do, on the executors of a Spark cluster.

    Needs pip install 'kafka-unclean-recovery[spark]'. Executors need pyspark, pyarrow and pandas;
    this package is sent to them.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Scan log directories as scan-log-dirs does, on the executors of a Spark cluster.

    The directory --output gets two tables as Parquet: replicas, with one row for each replica, and
    partitions. Disks are only read. A scan that was killed or interrupted continues when the same
    command is run again.

    On one machine scan-log-dirs was faster with as many cores as far as was measured, which is up
    to 9,000 replicas on 3 disks (--mode fast) and 4 GiB (--mode deep) on two cores: Spark takes
    10 s to start, and then 1.2 to 3.6 times as long. It is for disks that several machines read.
    """

    output: Annotated[
        Path,
        typer.Option(
            metavar="DIR",
            help="Directory for the tables and for the progress of the scan. Driver and executors"
            " must have it under the same path.",
        ),
    ]
    roots: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ROOT]...",
            help="Log directory, or a directory that holds several: a path that all executors have,"
            " or a URL that begins with s3://, gs://, abfs:// or hdfs://.",
        ),
    ] = None
    roots_table: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="CSV or Parquet file with a column root, which names a log directory in each row.",
        ),
    ] = None
    mode: HowMuch = ScanMode.RECOVER
    topics: Topics = None
    path_to_json_file: PartitionsFile = None
    store_endpoint: StoreEndpoint = None
    store_region: StoreRegion = None
    master: Master = None
    conf: Conf = None
    format: OutputFormat = Format.TABLE
    log_format: LogFormatFlag = LogFormat.TEXT


app.command(SCAN, short_help="Scan log directories into tables.")(
    command(Options, "spark_scan:scan")
)
app.command(spark_plan.NAME, short_help="Choose leaders from the tables of scans.")(
    spark_plan.spark_plan
)
app.command(
    spark_salvage.NAME, short_help="Save records on disks that the designated leaders lack."
)(spark_salvage.spark_salvage)
