"""kafka-unclean-recovery spark plan designates leaders from the tables of spark scan."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kafka_unclean_recovery.cli.command import Command
from kafka_unclean_recovery.cli.commands.plan import LEFTOVERS, UNPLANNED, refuse_strangers
from kafka_unclean_recovery.cli.flags import (
    Conf,
    DesignatedLeadersFile,
    ExcludeBrokers,
    Format,
    Master,
    OutputFormat,
    PlanFile,
    StoreEndpoint,
    StoreRegion,
    Summaries,
)
from kafka_unclean_recovery.cli.plan_outputs import MANUAL, PLAN, next_command
from kafka_unclean_recovery.cli.selection import broker_ids
from kafka_unclean_recovery.cli.spark_failures import job_failed
from kafka_unclean_recovery.cli.spark_session import (
    SparkWatch,
    check_installed,
    session_for,
    store_options,
    summaries_of,
)
from kafka_unclean_recovery.cli.terminal.colour import Color, ColorFlag
from kafka_unclean_recovery.cli.terminal.console import Console, check_output
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.cli.terminal.output import (
    columns_to_fit,
    count_and_first,
    counted_cases,
    doubt_complaints,
    print_text,
)
from kafka_unclean_recovery.cli.terminal.output_files import NewFile, write_new_files
from kafka_unclean_recovery.documents.manual_recovery import STOCK_SCRIPT_WARNING
from kafka_unclean_recovery.documents.plan import plan_chunks
from kafka_unclean_recovery.documents.writing import partitions_by_chunk
from kafka_unclean_recovery.errors import NOT_ALL, OK, Exit, usage
from kafka_unclean_recovery.log_dir.watching import Stopped
from kafka_unclean_recovery.model import ReplicaInfo
from kafka_unclean_recovery.report.loss_by_topic import (
    TopicLoss,
    render_loss_json,
    render_loss_table,
)
from kafka_unclean_recovery.report.loss_page import render_loss_page

if TYPE_CHECKING:
    from kafka_unclean_recovery.spark.plan.merging import Scans
    from kafka_unclean_recovery.spark.plan.totals import Totals


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
    store_endpoint: StoreEndpoint = None
    store_region: StoreRegion = None
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
    color: ColorFlag = Color.AUTO


HTML = "--html"

WORST = 100
"""The page shows the replicas of at most so many partitions."""


def plan(console: Console, options: Options) -> int:
    """Run the command and return its exit code. Raises Exit."""
    check_installed()
    _check_outputs(options)
    excluded = broker_ids(options.exclude_brokers, "--exclude-brokers")
    scans = _read(options)
    _check_cluster_id(options, scans.merged)
    again = "nothing was elected; run the same command again"
    watch = SparkWatch(console, again)
    from kafka_unclean_recovery.spark.plan.merging import tasks_of
    from kafka_unclean_recovery.spark.running import JobFailed, run_watched

    try:
        with session_for(options.master, options.conf or (), watch) as spark:

            def work() -> Totals | Exit:
                try:
                    return _work(console, options, spark, scans, excluded, watch)
                except Exit as error:
                    return error

            tasks = tasks_of(spark, scans)
            tell = partial(watch.tasks, "planning", count=tasks)
            found = run_watched(spark, work, tasks, tell, lambda: watch.stopped)
    except (Stopped, JobFailed) as error:
        if watch.stopped or isinstance(error, Stopped):
            raise Exit(watch.signals.exit_code or NOT_ALL, f"interrupted; {again}") from None
        raise job_failed(error, options.conf or (), again) from None
    if isinstance(found, Exit):
        raise found
    return _tell(console, options, scans.merged, found)


def _check_outputs(options: Options) -> None:
    """Check the output files. Raises Exit(2)."""
    given = {
        MANUAL: options.manual_recovery_output_file,
        PLAN: options.plan_output_file,
        HTML: options.html,
    }
    for flag, path in given.items():
        check_output(path, flag)
    for (one, path), (other, same) in itertools.combinations(given.items(), 2):
        if path is not None and path == same:
            raise usage(f"{one} and {other} name the same file")


def _read(options: Options) -> Scans:
    from kafka_unclean_recovery.spark.plan.merging import read_scans

    store = store_options(options.store_endpoint, options.store_region)
    paths = summaries_of(options.summaries, store)
    if twice := next((path for path in paths if paths.count(path) > 1), None):
        raise usage(f"--summaries {twice}: is given twice; give it once")
    return read_scans(paths)


def _check_cluster_id(options: Options, merged: ReplicaInfo) -> None:
    """Check that the cluster id is known when the plan file needs it. Raises Exit(2)."""
    if options.plan_output_file is not None and merged.cluster_id is None:
        raise usage(
            f"{PLAN} needs the id of the cluster, and no meta.properties that was scanned has it;"
            " leave the flag out"
        )


def _work(
    console: Console,
    options: Options,
    spark: Any,
    scans: Scans,
    excluded: frozenset[int],
    watch: SparkWatch,
) -> Totals:
    """Plan and write the files, which needs Spark. Raises Exit(2)."""
    from kafka_unclean_recovery.spark.plan import plan_texts, planning

    planned = planning.plan(spark, scans, excluded)
    rich, worst = options.plan_output_file is not None, WORST if options.html else 0
    texts = planning.texts(planned, rich=rich, worst=worst)
    totals = texts.totals
    refuse_strangers(*planning.strangers(planned, totals))
    manual = options.manual_recovery_output_file
    console.progress(f"writing {manual}")
    with (
        closing(texts.lines(plan_texts.PLAN)) as rows,
        closing(texts.lines(plan_texts.LEADERS)) as lines,
    ):
        leaders = partitions_by_chunk({}, (text for text, _ in lines), dict)
        files = [NewFile(manual, MANUAL, _until_stopped(leaders, watch))]
        if options.plan_output_file is not None:
            now = datetime.now(UTC).isoformat(timespec="seconds")
            plan = plan_chunks(scans.merged.cluster_id or "", rows, now)
            files.append(NewFile(options.plan_output_file, PLAN, _until_stopped(plan, watch)))
        if options.html is not None:
            shown = planning.reports_of(planned, list(totals.worst_of_all()))
            page = render_loss_page(totals.losses(), shown, scans.merged)
            files.append(NewFile(options.html, HTML, [page]))
        write_new_files(files)
    return totals


def _until_stopped(chunks: Iterable[str], watch: SparkWatch) -> Iterator[str]:
    """Return the chunks until a signal comes. A signal cancels a running job, but may also come
    between two jobs; then Stopped is raised here."""
    for chunk in chunks:
        if watch.stopped:
            raise Stopped
        yield chunk


def _tell(console: Console, options: Options, merged: ReplicaInfo, totals: Totals) -> int:
    losses = totals.losses()
    empty = not losses and not totals.deleted.count
    below = [
        *doubt_complaints(totals.doubts),
        *count_and_first("problem", "problems", merged.problems),
        f"{options.manual_recovery_output_file}: {STOCK_SCRIPT_WARNING}",
        *counted_cases(*LEFTOVERS, totals.deleted),
        *counted_cases(*UNPLANNED, totals.without),
        *(["nothing that was read has a partition"] if empty else ()),
    ]
    if any(loss.designated for loss in losses):
        command = next_command(options.manual_recovery_output_file)
        below.append(f"next, once brokers are started: {command}")
    print_text(console, _rendered(options, merged, losses), options.format, below)
    return NOT_ALL if empty or totals.without.count or merged.problems else OK


def _rendered(options: Options, merged: ReplicaInfo, losses: Sequence[TopicLoss]) -> str:
    if options.format.is_json:
        return render_loss_json(losses, merged.cluster_id, merged.problems)
    return render_loss_table(losses, merged.problems, columns_to_fit(options.format))


COMMAND = Command(Options, plan)
