"""kafka-unclean-recovery salvage saves records on disks that electing the leader would destroy, and
salvage replay produces them again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.command import Command
from kafka_unclean_recovery.cli.flags import (
    BY_HAND,
    PLAN,
    DesignatedByHand,
    Format,
    LogDirs,
    OutputFormat,
    PartitionsFile,
    RawOnly,
    ReplicaInfoFiles,
    Topics,
)
from kafka_unclean_recovery.cli.terminal.colour import Color, ColorFlag
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Save the records on these disks that the designated leaders' logs lack.

    Disks are only read, and no cluster is contacted. For each replica the result has its batches,
    byte for byte, as segments that kafka-dump-log.sh reads, its records as Parquet, and in
    manifest.json what could not be read. Replicas that hold nothing more according to an earlier
    scan (--replica-info-file) are not read again; without --log-dirs the scan also says where the
    others are.
    """

    log_dirs: LogDirs = None
    replica_info_file: ReplicaInfoFiles = None
    plan: Annotated[Path | None, PLAN] = None
    journal: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="In place of --plan: the journal of the run that elected. What was saved is noted"
            " in it too, for the command report.",
        ),
    ] = None
    output: Annotated[
        Path,
        typer.Option(
            metavar="NEWDIR", help="Write all results to this new directory, which must not exist."
        ),
    ] = BY_HAND
    manual_recovery_file: DesignatedByHand = None
    raw_only: RawOnly = False
    format: OutputFormat = Format.TABLE
    topics: Topics = None
    path_to_json_file: PartitionsFile = None
    log_format: LogFormatFlag = LogFormat.TEXT
    color: ColorFlag = Color.AUTO


COMMAND = Command(Options, "salvage_work:save", required=("output",))
