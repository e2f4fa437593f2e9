"""kafka-unclean-recovery spark salvage: what disks that spark scan read hold beyond the leaders."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.flags import Format, OutputFormat, PartitionsFile, Topics
from kafka_unclean_recovery.cli.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.cli.salvage_flags import PLAN, DesignatedByHand, RawOnly
from kafka_unclean_recovery.cli.spark_flags import (
    Conf,
    Master,
    StoreEndpoint,
    StoreRegion,
    Summaries,
    store_options,
)

NAME = "salvage"


def spark_salvage(
    summaries: Summaries,
    plan: Annotated[Path, PLAN],
    output: Annotated[
        Path,
        typer.Option(
            metavar="NEWDIR",
            help="Where all goes; it must not exist. Driver and executors must have it under the"
            " same path.",
        ),
    ],
    manual_recovery_file: DesignatedByHand = None,
    raw_only: RawOnly = False,
    topics: Topics = None,
    path_to_json_file: PartitionsFile = None,
    store_endpoint: StoreEndpoint = None,
    store_region: StoreRegion = None,
    master: Master = None,
    conf: Conf = None,
    format: OutputFormat = Format.TABLE,  # noqa: A002 - the flag's name
    log_format: LogFormatFlag = LogFormat.TEXT,
) -> None:
    """Save as salvage does, by the executors of a Spark cluster, what disks hold beyond the logs of
    the designated leaders.

    The disks are read again where spark scan found them, but for replicas that are known to hold
    nothing more.
    """
    from kafka_unclean_recovery.cli.runs.spark_salvage import Options
    from kafka_unclean_recovery.cli.runs.spark_salvage import spark_salvage as run

    options = Options(
        summaries=tuple(summaries),
        plan=plan,
        output=output,
        manual_recovery_file=manual_recovery_file,
        raw_only=raw_only,
        topics=topics,
        path_to_json_file=path_to_json_file,
        store=store_options(store_endpoint, store_region),
        master=master,
        conf=tuple(conf or ()),
        as_json=format is Format.JSON,
    )
    raise typer.Exit(run(options))
