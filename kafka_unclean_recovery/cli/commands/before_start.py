"""kafka-unclean-recovery before-start foretells what a broker's start does to its disk."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.before_start.advice import advice, plans
from kafka_unclean_recovery.before_start.commands import SCRIPT_BEGINS, script
from kafka_unclean_recovery.before_start.disk import read_own_disk
from kafka_unclean_recovery.before_start.looking import Looking, look
from kafka_unclean_recovery.before_start.offline import from_disks
from kafka_unclean_recovery.before_start.replica import OwnDisk
from kafka_unclean_recovery.before_start.report import journal_rows, render_json
from kafka_unclean_recovery.before_start.result import BeforeStart, before_start_metrics
from kafka_unclean_recovery.before_start.screen import screen
from kafka_unclean_recovery.before_start.start_table import render_before_start
from kafka_unclean_recovery.cli import metrics_file
from kafka_unclean_recovery.cli.clusters import ClusterName
from kafka_unclean_recovery.cli.command import Command
from kafka_unclean_recovery.cli.connecting import check_connection
from kafka_unclean_recovery.cli.disk_sources import Sources, read_sources
from kafka_unclean_recovery.cli.flags import (
    CommandConfig,
    Format,
    Gone,
    IncidentJournal,
    MetricsFile,
    OutputFormat,
    PartitionsFile,
    ReplicaInfoFiles,
    Topics,
)
from kafka_unclean_recovery.cli.incident import check_cluster, note, read_incident
from kafka_unclean_recovery.cli.plan_outputs import PLAN, PlanOutputs, check_again, put_aside
from kafka_unclean_recovery.cli.selection import Selection, broker_ids, refuse_live, selection
from kafka_unclean_recovery.cli.session import Session, run
from kafka_unclean_recovery.cli.terminal.colour import Color, ColorFlag
from kafka_unclean_recovery.cli.terminal.console import Console
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.cli.terminal.output import give, window_above
from kafka_unclean_recovery.cli.terminal.output_files import write_new
from kafka_unclean_recovery.cli.terminal.scan_watch import ScanWatch
from kafka_unclean_recovery.documents.plan import PLAN_BEGINS
from kafka_unclean_recovery.errors import CANNOT_TELL, NOT_ALL, OK, Exit, usage
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.model import Cluster, PartitionPlan, ReplicaInfo
from kafka_unclean_recovery.post_mortem.story import PostMortem
from kafka_unclean_recovery.shown import shell_join
from kafka_unclean_recovery.survey import budgets
from kafka_unclean_recovery.transport.choosing import ChosenSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Foretell what the start of a broker will do to what its disk holds.

    The command only reads. Each replica is kept, leads again, is truncated from an offset on,
    emptied, put aside or deleted, or begins empty, or the broker is refused; where there is no
    leader, it is told who leads then, and who is cut to its log. The exit code is 0 when nothing is
    destroyed, 1 when something would be, here or on others, and 4 when that can't be told for some
    replicas and nothing is known to be destroyed.
    """

    log_dirs: Annotated[
        list[Path],
        typer.Option(
            "--log-dirs",
            metavar="DIR",
            help="Log directory of the broker that is to start. Can be repeated: give all of its"
            " log.dirs.",
        ),
    ]
    bootstrap_server: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT[,...]",
            help="Brokers to contact first, to find the others. Without it, --replica-info-file"
            " must tell what the other disks hold.",
        ),
    ] = None
    command_config: CommandConfig = None
    replica_info_file: ReplicaInfoFiles = None
    gone: Gone = None
    journal: IncidentJournal = None
    plan_output_file: Annotated[
        Path | None,
        typer.Option(
            metavar="NEWFILE",
            help="Write the leaders of the replicas that are truncated to this new file, for"
            " salvage --plan. An earlier one of this command is kept as NEWFILE.1.",
        ),
    ] = None
    commands_file: Annotated[
        Path | None,
        typer.Option(
            metavar="NEWFILE",
            help="Write the commands that keep what the start would delete to this new file, as a"
            " shell script. An earlier one of this command is kept as NEWFILE.1.",
        ),
    ] = None
    format: OutputFormat = Format.TABLE
    topics: Topics = None
    path_to_json_file: PartitionsFile = None
    metrics_file: MetricsFile = None
    cluster: ClusterName = None
    log_format: LogFormatFlag = LogFormat.TEXT
    color: ColorFlag = Color.AUTO


_NAME = "kafka-unclean-recovery"
_MOST_WORKERS = 4
_COMMANDS = "--commands-file"
# Room for one more line that may be said.
_SPARE = " "


def foretell(console: Console, options: Options) -> int:
    """Run the command and return its exit code. Raises Exit."""
    outputs = _checked(options)
    chosen = selection(options.topics, options.path_to_json_file)
    gone = broker_ids(options.gone, "--gone")
    told = None if options.journal is None else read_incident(options.journal)
    others = _others(console, options, chosen)
    disk = _disk(console, options.log_dirs, chosen)
    if told is not None:
        check_cluster(told, disk.cluster_id, "the disk is")
    if disk.broker in gone:
        raise usage(f"--gone: broker {disk.broker} is the one whose disk is given; leave it out")
    server = options.bootstrap_server
    if server is None:
        assert others is not None
        found = from_disks(disk, others, gone)
        return _tell(console, options, outputs, found, told)

    async def ask(session: Session) -> int:
        refuse_live("--gone", gone, (await session.cluster()).brokers)
        source = ChosenSource(session.nodes, session.wishes)
        seconds = budgets.BEFORE_START.seconds
        nodes, reader = session.nodes, session.reader
        means = Looking(nodes, reader, source, seconds, others, chosen.includes, gone)
        found = await metrics_file.timed("look", session.stop.unless(look(means, disk)))
        return _tell(console, options, outputs, found, told)

    return run(console, server, options.command_config, ask)


def _checked(options: Options) -> PlanOutputs:
    """Check the flags. Raises Exit(2)."""
    if options.bootstrap_server is None:
        if options.command_config is not None:
            raise usage("--command-config goes with --bootstrap-server")
        if not options.replica_info_file:
            raise usage(
                "give --bootstrap-server, or --replica-info-file with scans of the other disks and"
                " of a controller's"
            )
    else:
        check_connection(options.bootstrap_server, options.command_config)
    outputs = PlanOutputs(None, options.plan_output_file)
    check_again(options.plan_output_file, PLAN, PLAN_BEGINS)
    check_again(options.commands_file, _COMMANDS, SCRIPT_BEGINS)
    if options.commands_file is not None and options.commands_file == options.plan_output_file:
        raise usage(f"{_COMMANDS} and --plan-output-file name the same file")
    return outputs


def _others(console: Console, options: Options, chosen: Selection) -> ReplicaInfo | None:
    sources = Sources(options.replica_info_file or ())
    return read_sources(console, sources, chosen) if sources.any else None


def _disk(console: Console, directories: Sequence[Path], chosen: Selection) -> OwnDisk:
    """Read the broker's disk. Raises Exit."""
    watch = ScanWatch(console, "nothing is done")
    locations = [LocalLocation(path) for path in directories]
    workers = min(_MOST_WORKERS, os.cpu_count() or 1)
    with watch.signals():
        disk = read_own_disk(locations, chosen.includes, workers, watch)
    if watch.exit_code is not None:
        raise Exit(watch.exit_code, "interrupted while log directories were read; nothing was done")
    return disk


def _note(console: Console, path: Path | None, told: PostMortem | None, found: BeforeStart) -> None:
    if told is not None:
        elected = {election.topic_partition for election in told.elections}
        rows = journal_rows(found, elected)
        note(
            console,
            path,
            lambda journal: journal.note("before_start", broker=found.broker, partitions=rows),
        )


def _tell(
    console: Console,
    options: Options,
    outputs: PlanOutputs,
    found: BeforeStart,
    told: PostMortem | None,
) -> int:
    metrics_file.found(before_start_metrics(found))
    salvage = None
    planned = list(plans(found))
    try:
        if outputs.plan is not None:
            # Also where nothing is planned: a plan of before would be taken for that of now.
            put_aside(console, outputs.plan, PLAN)
        if outputs.plan is not None and planned:
            outputs.write(console, Cluster(found.cluster_id, {}), planned)
            salvage = _salvage(options.log_dirs, "--plan", outputs.plan)
        elif options.journal is not None and told is not None and _has_all(told, planned):
            salvage = _salvage(options.log_dirs, "--journal", options.journal)
        if options.commands_file is not None:
            put_aside(console, options.commands_file, _COMMANDS)
            write_new(options.commands_file, script(found), _COMMANDS)
        _note(console, options.journal, told, found)
    finally:
        text, sentences = _shown(console, options, found, salvage)
        if planned and salvage is None:
            sentences.append("with --plan-output-file, salvage can save what the leaders lack")
        give(console, text, options.format)
    for sentence in sentences:
        console.say(sentence)
    return exit_code(found)


def _shown(
    console: Console, options: Options, found: BeforeStart, salvage: str | None
) -> tuple[str, list[str]]:
    """Return the result, as a table if it fits into the window, and what is said below it."""
    if options.format.is_json:
        return render_json(found), [*advice(found, salvage, _where(options, "in the JSON"))]
    table, below = render_before_start(found), _where(options, "below the table")
    sentences = [*advice(found, salvage, below)]
    window = window_above(console, options.format, [*sentences, _SPARE])
    if window is None or window.fitting(table.splitlines()) is not None:
        return table, sentences
    lines = screen(found, window)
    elsewhere = _where(options, "of --format wide")
    return "".join(f"{line}\n" for line in lines), [*advice(found, salvage, elsewhere)]


def _where(options: Options, shown: str) -> str:
    """Return where the commands are. shown: where they are shown."""
    if options.commands_file is not None:
        return f"run {options.commands_file}"
    return f"the commands {shown}, or {_COMMANDS} FILE"


def _has_all(told: PostMortem, planned: Sequence[PartitionPlan]) -> bool:
    """Return whether the journal's run elected each leader to whom the start cuts, so that salvage
    by the journal saves all of it."""
    elected = {each.topic_partition: each.elected_leader for each in told.elections}
    return bool(planned) and all(
        elected.get(plan.state.topic_partition) == plan.designated_leader for plan in planned
    )


def _salvage(directories: Sequence[Path], flag: str, path: Path) -> str:
    disks = [word for path in directories for word in ("--log-dirs", str(path))]
    return shell_join([_NAME, "salvage", *disks, flag, str(path), "--output", "NEWDIR"])


def exit_code(found: BeforeStart) -> int:
    """Return the exit code: what is known to be destroyed counts before what can't be told."""
    if found.destroys:
        return NOT_ALL
    return CANNOT_TELL if found.untold else OK


COMMAND = Command(Options, foretell)
