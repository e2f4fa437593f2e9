"""kafka-unclean-recovery spark salvage saves records that the designated leaders lack, from the
disks that spark scan read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.command import command
from kafka_unclean_recovery.cli.flags import (
    PLAN,
    Conf,
    DesignatedByHand,
    Format,
    Master,
    OutputFormat,
    PartitionsFile,
    RawOnly,
    StoreEndpoint,
    StoreRegion,
    Summaries,
    Topics,
)
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag

NAME = "salvage"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Save the records that the designated leaders lack, as salvage does, on the executors of a
    Spark cluster.

    The disks are read again where spark scan found them, except for replicas that are known to hold
    nothing more.
    """

    summaries: Summaries
    plan: Annotated[Path, PLAN]
    output: Annotated[
        Path,
        typer.Option(
            metavar="NEWDIR",
            help="Write all results to this new directory, which must not exist. Driver and"
            " executors must have it under the same path.",
        ),
    ]
    manual_recovery_file: DesignatedByHand = None
    raw_only: RawOnly = False
    topics: Topics = None
    path_to_json_file: PartitionsFile = None
    store_endpoint: StoreEndpoint = None
    store_region: StoreRegion = None
    master: Master = None
    conf: Conf = None
    format: OutputFormat = Format.TABLE
    log_format: LogFormatFlag = LogFormat.TEXT


spark_salvage = command(Options, "spark_salvage:salvage")
