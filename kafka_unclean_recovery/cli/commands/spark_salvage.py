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
from kafka_unclean_recovery.cli.log_format import LogFormat, LogFormatFlag

NAME = "salvage"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Save as salvage does, by the executors of a Spark cluster, what disks hold beyond the logs of
    the designated leaders.

    The disks are read again where spark scan found them, but for replicas that are known to hold
    nothing more.
    """

    summaries: Summaries
    plan: Annotated[Path, PLAN]
    output: Annotated[
        Path,
        typer.Option(
            metavar="NEWDIR",
            help="Where all goes; it must not exist. Driver and executors must have it under the"
            " same path.",
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
