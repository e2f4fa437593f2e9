"""kafka-unclean-recovery spark salvage saves records that the designated leaders lack, from the
disks that spark scan read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kafka_unclean_recovery.cli.command import Command
from kafka_unclean_recovery.cli.commands.salvage_work import read_leaders
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
from kafka_unclean_recovery.cli.selection import Selection, selection
from kafka_unclean_recovery.cli.spark_failures import job_failed
from kafka_unclean_recovery.cli.spark_session import (
    SparkWatch,
    check_installed,
    session_for,
    store_options,
    summaries_of,
)
from kafka_unclean_recovery.cli.terminal.colour import Color, ColorFlag
from kafka_unclean_recovery.cli.terminal.console import Console, check_new_directory
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.cli.terminal.output import count_and_first, counted
from kafka_unclean_recovery.cli.terminal.scan_watch import size_text
from kafka_unclean_recovery.documents.printed import SparkSalvageJson
from kafka_unclean_recovery.documents.reading.codec import json_line
from kafka_unclean_recovery.errors import NOT_ALL, OK, Exit, InputError, usage
from kafka_unclean_recovery.log_dir.watching import Stopped
from kafka_unclean_recovery.salvage.designated import DesignatedLeaders

if TYPE_CHECKING:
    from kafka_unclean_recovery.spark.salvage.salvage_replicas import Totals


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
    color: ColorFlag = Color.AUTO


def salvage(console: Console, options: Options) -> int:
    """Run the command and return its exit code. Raises Exit."""
    check_installed()
    check_new_directory(options.output, "--output")
    chosen = selection(options.topics, options.path_to_json_file)
    leaders = _wanted(read_leaders(options.plan, options.manual_recovery_file), chosen)
    watch = SparkWatch(console, _incomplete(options))
    from kafka_unclean_recovery.spark.running import JobFailed

    try:
        totals, differing = _run(options, leaders, watch)
    except OSError as error:
        why = error.strerror or str(error)
        raise Exit(NOT_ALL, f"--output {options.output}: {why}; {_incomplete(options)}") from None
    except JobFailed as error:
        raise job_failed(error, options.conf or (), _incomplete(options)) from None
    except Stopped:
        code = watch.signals.exit_code or NOT_ALL
        raise Exit(code, f"interrupted: {_incomplete(options)}") from None
    if options.format.is_json:
        console.artefact(totals_json(totals, leaders.cluster_id))
    console.say(_summary(totals))
    complaints = list(_complaints(totals))
    for sentence in (*differing, *complaints):
        console.say(sentence)
    return NOT_ALL if complaints else OK


def _run(
    options: Options, leaders: DesignatedLeaders, watch: SparkWatch
) -> tuple[Totals, tuple[str, ...]]:
    """Return what salvage_replicas.salvage does. Raises InputError, Stopped, JobFailed, OSError."""
    from kafka_unclean_recovery.salvage.output_directory import new_directory
    from kafka_unclean_recovery.spark.plan.merging import read_scans
    from kafka_unclean_recovery.spark.salvage.salvage_replicas import How, read_tables, salvage

    store = store_options(options.store_endpoint, options.store_region)
    scans = read_scans(summaries_of(options.summaries, store))
    _check_cluster(scans.merged.cluster_id, leaders.cluster_id)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    with (
        session_for(options.master, options.conf or (), watch) as spark,
        new_directory(options.output) as building,
    ):
        tables = read_tables(spark, scans)
        how = How(store, options.raw_only)
        return salvage(spark, tables, leaders, building, now, watch, how)


def _check_cluster(scanned: str | None, planned: str) -> None:
    """Raise InputError when the scans belong to another cluster than the plan."""
    if scanned not in (None, planned):
        raise InputError(
            f"the scans are of cluster {scanned}, the plan of cluster {planned}; give scans of the"
            " plan's cluster"
        )


def _wanted(leaders: DesignatedLeaders, chosen: Selection) -> DesignatedLeaders:
    """Return the chosen partitions of the plan. Raises Exit(2) for a named partition that the plan
    does not have."""
    strangers = sorted(chosen.named - leaders.partitions.keys())
    if strangers:
        raise usage(f"--path-to-json-file: {strangers[0]} is not in the plan; leave it out")
    partitions = {tp: row for tp, row in leaders.partitions.items() if chosen.includes(tp)}
    return DesignatedLeaders(leaders.cluster_id, partitions)


def totals_json(totals: Totals, cluster_id: str) -> str:
    """Return an object of schemas/spark-salvage-1.schema.json; manifest.json says what was saved of
    each replica."""
    return json_line(SparkSalvageJson(cluster_id=cluster_id, **asdict(totals)))


def _summary(totals: Totals) -> str:
    return (
        f"{totals.with_more} of {totals.replicas} replicas held more:"
        f" {size_text(totals.size)} of batches, {totals.records} records"
    )


def _complaints(totals: Totals) -> Iterator[str]:
    if not totals.replicas:
        yield "no replica in these summaries is of a partition of the plan and not its leader's"
    if totals.first_doubt is not None:
        doubts = ("replica is in doubt", "replicas are in doubt")
        yield counted(*doubts, totals.in_doubt, totals.first_doubt)
    yield from count_and_first("problem", "problems", list(totals.problems))


def _incomplete(options: Options) -> str:
    return f"what is in {options.output.name}.partial is not whole; run it again, which begins anew"


COMMAND = Command(Options, salvage)
