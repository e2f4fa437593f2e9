"""What kafka-unclean-recovery does once its flags are parsed."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kafka_unclean_recovery.choices import Dialect, ElectionMethod, Transport, Wishes
from kafka_unclean_recovery.cli.console import (
    Console,
    check_outside_log_directories,
    confirm,
    is_terminal,
)
from kafka_unclean_recovery.cli.disk_sources import Sources, read_sources
from kafka_unclean_recovery.cli.exits import NOT_ALL, OK, USAGE, Exit, usage
from kafka_unclean_recovery.cli.live_salvaging import (
    SalvageFirst,
    all_losers,
    notes_of,
    salvage_first,
    save_tails,
    total_note,
)
from kafka_unclean_recovery.cli.mechanisms import mechanism_flags, wishes_of
from kafka_unclean_recovery.cli.output import exit_code_of, print_report, say_failures, say_silent
from kafka_unclean_recovery.cli.plan_outputs import PlanOutputs
from kafka_unclean_recovery.cli.selection import Selection, broker_ids, read_partitions
from kafka_unclean_recovery.cli.session import (
    Session,
    check_connection,
    connection_flags,
    finish,
    journal_of,
    run,
    warn_of_unfinished,
)
from kafka_unclean_recovery.consent import render_consent
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.disks import check_cluster
from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.journal import Journal
from kafka_unclean_recovery.live_salvage.clearing import Cleared
from kafka_unclean_recovery.model import PartitionPlan, ReplicaInfo, Report, TopicPartition
from kafka_unclean_recovery.observation import Observation, Wanted
from kafka_unclean_recovery.recovery import (
    Outcomes,
    Plans,
    not_elected,
    plan_recovery,
    report_on,
    settled_before,
    verify,
    with_disks,
)
from kafka_unclean_recovery.stopping import Interrupted
from kafka_unclean_recovery.transport import Elections

NAME = "kafka-unclean-recovery"


@dataclass(frozen=True, slots=True)
class Options:
    """The flags of the command, by their names."""

    bootstrap_server: str
    command_config: Path | None
    all_offline_partitions: bool
    path_to_json_file: Path | None
    show_replica_info: bool
    manual_recovery_output_file: Path | None
    automated_recovery: bool
    recovery_duration_ms: int
    recovery_election_attempts: int
    wait_for_brokers: str | None
    as_json: bool
    yes: bool
    journal: Path | None
    salvage_dir: Path | None
    allow_loss: bool
    plan_output_file: Path | None
    replica_info_files: tuple[Path, ...]
    log_dirs: tuple[Path, ...]
    transport: Transport
    election_method: ElectionMethod
    replica_log_info_dialect: Dialect | None

    @property
    def config(self) -> str | None:
        return None if self.command_config is None else str(self.command_config)

    @property
    def sources(self) -> Sources:
        """What is known of the disks of dead brokers."""
        return Sources(self.replica_info_files, self.log_dirs)

    @property
    def outputs(self) -> PlanOutputs:
        return PlanOutputs(self.manual_recovery_output_file, self.plan_output_file)

    @property
    def wishes(self) -> Wishes:
        """Raises Exit(2)."""
        return wishes_of(self.transport, self.election_method, self.replica_log_info_dialect)


def recover(options: Options) -> int:
    """The exit code of one run."""
    console = Console(NAME)
    try:
        _check_flags(options)
        wanted = _wanted(options)
        disks = _disks(console, options, wanted)
        wishes = options.wishes
        first = salvage_first(options.salvage_dir, options.allow_loss, options.automated_recovery)
    except Exit as error:
        console.say(str(error))
        return error.code
    return run(
        console,
        options.bootstrap_server,
        options.config,
        lambda session: _recover(session, options, wanted, disks, first),
        wishes,
    )


def resume_journal(options: Options, path: Path) -> int:
    """Finish what the run of a journal left, and nothing else."""
    console = Console(NAME)
    chosen = (
        options.all_offline_partitions,
        options.path_to_json_file,
        options.automated_recovery,
        options.salvage_dir,
        options.allow_loss,
    )
    if any(chosen) or options.sources.any or options.wishes != Wishes():
        console.say("--resume stands alone: it only finishes what the journal's run left")
        return USAGE
    if not path.is_file():
        console.say(f"--resume {path}: there is no such journal")
        return USAGE

    async def work(session: Session) -> int:
        cluster, _ = await session.stop.unless(session.reader.cluster())
        with Journal.open(path) as journal:
            if not await finish(session, journal, cluster.cluster_id):
                console.say(f"{path}: nothing is left to finish")
        return OK

    return run(console, options.bootstrap_server, options.config, work)


def _check_flags(options: Options) -> None:
    """The exclusions of KIP-1275, and output files that exist. Raises Exit(2)."""
    if options.all_offline_partitions == (options.path_to_json_file is not None):
        raise usage("give exactly one of --all-offline-partitions and --path-to-json-file")
    manual = options.manual_recovery_output_file
    if not (options.show_replica_info or manual or options.automated_recovery):
        raise usage(
            "give at least one of --show-replica-info, --manual-recovery-output-file and"
            " --automated-recovery"
        )
    if manual is not None and options.automated_recovery:
        raise usage("--manual-recovery-output-file and --automated-recovery exclude each other")
    options.outputs.check()
    check_outside_log_directories(options.journal, "--journal")


def _wanted(options: Options) -> Wanted:
    partitions: tuple[TopicPartition, ...] | None = None
    path = options.path_to_json_file
    if path is not None:
        partitions = tuple(sorted(read_partitions(path)))
    waited_for, flag = options.wait_for_brokers, "--wait-for-brokers"
    wait_for_all = waited_for == "all"
    return Wanted(
        partitions,
        frozenset() if wait_for_all else broker_ids(waited_for, flag, " or the word all"),
        wait_for_all,
        options.automated_recovery,
    )


def _disks(console: Console, options: Options, wanted: Wanted) -> ReplicaInfo | None:
    """What disks say of the wanted partitions, None when none were given. Raises Exit."""
    if not options.sources.any:
        return None
    check_connection(options.bootstrap_server, options.config)
    named = None if wanted.partitions is None else frozenset(wanted.partitions)
    return read_sources(console, options.sources, Selection(partitions=named))


async def _recover(
    session: Session,
    options: Options,
    wanted: Wanted,
    disks: ReplicaInfo | None,
    first: SalvageFirst | None,
) -> int:
    cluster, _ = await session.stop.unless(session.reader.cluster())
    if disks is not None:
        _check_cluster(disks, cluster.cluster_id)
    if not options.automated_recovery:
        warn_of_unfinished(session, cluster.cluster_id)
        return await _only_plan(session, options, wanted, disks)
    async with journal_of(session, options.journal, cluster.cluster_id, NAME) as journal:
        code = await _automated(session, options, wanted, disks, first, journal)
        journal.note("end", exit_code=code)
        return code


def _check_cluster(disks: ReplicaInfo, cluster_id: str) -> None:
    """Raises Exit(2)."""
    try:
        check_cluster(disks, cluster_id)
    except InputError as error:
        raise usage(str(error)) from None


def _with_problems(report: Report, disks: ReplicaInfo | None) -> Report:
    """With the problems of the disks, which were told when they were read. They say how sure the
    possible loss is, and don't make a recovery fail."""
    return report if disks is None else replace(report, problems=report.problems + disks.problems)


async def _only_plan(
    session: Session, options: Options, wanted: Wanted, disks: ReplicaInfo | None
) -> int:
    observer = session.observer()
    deadline = Deadline.after(options.recovery_duration_ms / 1000)
    seen = await observer.observe(wanted, deadline)
    seen = await observer.add_hidden_topics(wanted, seen)
    say_silent(session.console, seen)
    seen = seen if disks is None else with_disks(seen, disks)
    plans = plan_recovery(seen)
    options.outputs.write(session.console, seen.cluster, plans.values())
    report = _marked(report_on(seen, plans, _nothing_to_elect(seen, plans)), session)
    shown = _with_problems(report, disks)
    print_report(session.console, shown, options.as_json, options.show_replica_info)
    if any(plan.designated_leader is not None for plan in plans.values()):
        session.console.say(f"next: {_next_command(options)}")
    all_planned = all(plan.designated_leader is not None for plan in plans.values())
    return OK if all_planned and not seen.missing and not seen.problems else NOT_ALL


def _next_command(options: Options) -> str:
    """What elects the leaders just planned, with the same connection."""
    connection = connection_flags(options.bootstrap_server, options.config)
    connection += mechanism_flags(options.wishes)
    manual = options.manual_recovery_output_file
    if manual is not None:
        designated = ["--election-type", "designated", "--path-to-json-file", str(manual)]
        return shlex.join(["kafka-elect-leaders", *connection, *designated])
    chosen = ["--all-offline-partitions"]
    if options.path_to_json_file is not None:
        chosen = ["--path-to-json-file", str(options.path_to_json_file)]
    chosen += options.sources.flags()
    return shlex.join([NAME, *connection, *chosen, "--automated-recovery"])


async def _automated(
    session: Session,
    options: Options,
    wanted: Wanted,
    disks: ReplicaInfo | None,
    first: SalvageFirst | None,
    journal: Journal,
) -> int:
    observer = session.observer()
    deadline = Deadline.after(options.recovery_duration_ms / 1000)
    seen = await observer.observe(wanted, deadline)
    say_silent(session.console, seen)
    seen = seen if disks is None else with_disks(seen, disks)
    plans = plan_recovery(seen)
    options.outputs.write(session.console, seen.cluster, plans.values())
    elector = await session.elector(journal, options.recovery_election_attempts)
    outcomes = settled_before(seen, plans, elector.choose)
    electable = [plan for tp, plan in plans.items() if tp not in outcomes]
    console = session.console
    made = Elections({}, {})
    told = set(seen.problems)
    cleared: Cleared | None = None
    if electable and await _may_elect(session, options, first, list(plans.values()), electable):
        cleared = await _clear(session, options, first, seen, electable, journal)
    if cleared is not None:
        outcomes |= cleared.refused
        made, seen = await asyncio.gather(
            elector.elect(cleared.plans), observer.add_hidden_topics(wanted, seen)
        )
    else:
        why = "interrupted" if session.stop.requested else "nobody said yes"
        outcomes |= not_elected(electable, f"its election was not begun: {why}")
        seen = await observer.add_hidden_topics(wanted, seen)
    for problem in seen.problems:
        if problem not in told:
            console.say(problem)
    outcomes |= made.outcomes
    report = _marked(await verify(session.reader, seen, plans, outcomes, made.after), session)
    shown = _with_problems(report, disks)
    if cleared is not None:
        shown = replace(shown, problems=shown.problems + cleared.unsaved)
    print_report(console, shown, options.as_json, options.show_replica_info)
    say_failures(console, report)
    return exit_code_of(report)


async def _clear(
    session: Session,
    options: Options,
    first: SalvageFirst | None,
    seen: Observation,
    plans: list[PartitionPlan],
    journal: Journal,
) -> Cleared | None:
    """What may be elected once the tails are saved, if they are to be; None when interrupted."""
    if first is None:
        return Cleared(plans, {})
    duration = options.recovery_duration_ms / 1000
    try:
        return await save_tails(session, first, seen.cluster, plans, journal, duration)
    except Interrupted:
        return None


async def _may_elect(
    session: Session,
    options: Options,
    first: SalvageFirst | None,
    plans: Sequence[PartitionPlan],
    electable: Sequence[PartitionPlan],
) -> bool:
    if session.stop.requested:
        return False
    if options.yes or not is_terminal():
        return True
    if first is None:
        session.console.show(render_consent(plans))
    else:
        losers = all_losers(electable)
        shown = render_consent(plans, notes_of(first, losers)) + total_note(first, losers)
        session.console.show(shown)
    try:
        return await confirm(session.console, "elect these leaders?", session.stop)
    except Interrupted:
        return False


def _nothing_to_elect(seen: Observation, plans: Plans) -> Outcomes:
    """Of a run that elects nothing: only what is online or missing has an outcome."""
    return {tp: o for tp, o in settled_before(seen, plans).items() if tp not in plans}


def _marked(report: Report, session: Session) -> Report:
    return replace(report, interrupted=session.stop.requested)
