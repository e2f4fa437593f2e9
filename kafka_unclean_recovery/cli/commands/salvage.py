"""kafka-unclean-recovery salvage: what dead disks hold and electing the leader would destroy, and
its replay."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.commands import salvage_replay
from kafka_unclean_recovery.cli.flags import (
    Format,
    LogDirs,
    OutputFormat,
    PartitionsFile,
    ReplicaInfoFiles,
    Topics,
)
from kafka_unclean_recovery.cli.group_flags import refuse_flags_before
from kafka_unclean_recovery.cli.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.cli.salvage_flags import PLAN, DesignatedByHand, RawOnly

NAME = "salvage"

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.callback(
    invoke_without_command=True,
    subcommand_metavar="[COMMAND [ARGS]...]",
    short_help="Save what disks hold beyond the designated leaders.",
)
def salvage(
    context: typer.Context,
    log_dirs: LogDirs = None,
    replica_info_file: ReplicaInfoFiles = None,
    # Required without a command only, so these two are asked for by hand.
    plan: Annotated[Path | None, PLAN] = None,
    output: Annotated[
        Path | None, typer.Option(metavar="NEWDIR", help="Where all goes; it must not exist.")
    ] = None,
    manual_recovery_file: DesignatedByHand = None,
    raw_only: RawOnly = False,
    format: OutputFormat = Format.TABLE,  # noqa: A002 - the flag's name
    topics: Topics = None,
    path_to_json_file: PartitionsFile = None,
    log_format: LogFormatFlag = LogFormat.TEXT,
) -> None:
    """Save the records on these disks that the designated leaders' logs lack.

    Disks are only read, and nothing is asked of any cluster. For each replica: its batches byte for
    byte, as segments that kafka-dump-log.sh reads, its records as Parquet, and what could not be
    read in manifest.json. An earlier scan spares replicas that hold nothing more from being read
    again, and without --log-dirs says where the others are.
    """
    if context.invoked_subcommand is not None:
        refuse_flags_before(context, context.invoked_subcommand)
        return
    if plan is None or output is None:
        context.fail(f"Missing option '{'--plan' if plan is None else '--output'}'.")
    if not log_dirs and not replica_info_file:
        context.fail("Missing option '--log-dirs' or '--replica-info-file'.")
    from kafka_unclean_recovery.cli.runs.salvage import Options, run

    options = Options(
        log_dirs=tuple(log_dirs or ()),
        replica_info_files=tuple(replica_info_file or ()),
        plan=plan,
        output=output,
        manual_recovery_file=manual_recovery_file,
        raw_only=raw_only,
        as_json=format is Format.JSON,
        topics=topics,
        path_to_json_file=path_to_json_file,
    )
    raise typer.Exit(run(options))


app.command(salvage_replay.NAME, short_help="Produce what was saved to a topic.")(
    salvage_replay.salvage_replay
)
