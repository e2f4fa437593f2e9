"""The flags of kafka-unclean-recovery are checked, and the files that they name are read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_unclean_recovery.cli import RECOVERY
from kafka_unclean_recovery.cli.commands.unclean_recovery import Options
from kafka_unclean_recovery.cli.connecting import check_connection, connection_flags
from kafka_unclean_recovery.cli.disk_sources import Sources, read_sources
from kafka_unclean_recovery.cli.flags import ReplicaFormat, mechanism_flags, wishes_of
from kafka_unclean_recovery.cli.plan_outputs import PlanOutputs
from kafka_unclean_recovery.cli.selection import (
    Selection,
    broker_ids,
    read_partitions,
    selection,
)
from kafka_unclean_recovery.cli.terminal.console import Console, check_outside_log_directories
from kafka_unclean_recovery.cli.terms import read_terms
from kafka_unclean_recovery.errors import usage
from kafka_unclean_recovery.mechanisms import Wishes
from kafka_unclean_recovery.model import OutcomeKind, ReplicaInfo, Report, TopicPartition
from kafka_unclean_recovery.planning.moves import END, GIVE_UP, parse_consented
from kafka_unclean_recovery.planning.waves import Pace
from kafka_unclean_recovery.recovery.recover import Aim
from kafka_unclean_recovery.recovery.terms import Terms
from kafka_unclean_recovery.recovery.views import Wanted
from kafka_unclean_recovery.shown import shell_join
from kafka_unclean_recovery.wording import brokers_text

if TYPE_CHECKING:
    from kafka_unclean_recovery.cli.live_salvaging import SalvageFirst


@dataclass(frozen=True, slots=True)
class Inputs:
    """The flags, and the values that they give. salvage: the wishes of --salvage-dir, None without
    that flag."""

    options: Options
    aim: Aim
    terms: Terms
    pace: Pace
    salvage: SalvageFirst | None
    wishes: Wishes


def sources_of(options: Options) -> Sources:
    """Return the sources that describe the disks of dead brokers."""
    return Sources(options.replica_info_file or (), options.log_dirs or ())


def outputs_of(options: Options) -> PlanOutputs:
    return PlanOutputs(options.manual_recovery_output_file, options.plan_output_file)


def bounds_an_election(options: Options) -> bool:
    pace = (options.canary, options.wave_size)
    return any((options.accept_loss, *pace, options.plan, options.require_approval))


def asked_for(options: Options) -> Wishes:
    """Return the mechanisms that the flags name. Raises Exit(2)."""
    return wishes_of(options.transport, options.election_method, options.replica_log_info_dialect)


def read_inputs(console: Console, options: Options) -> Inputs:
    """Check the flags and read the files, which needs no cluster. Raises Exit."""
    _check_flags(options)
    wanted = _wanted(options)
    terms = read_terms(options.accept_loss or (), options.plan, options.require_approval)
    disks = _disks(console, options, wanted)
    wishes = asked_for(options)
    salvage = _salvage(options)
    pace = Pace(options.canary, options.wave_size)
    consented = parse_consented(options.give_up_log or (), options.end_reassignment or ())
    aim = Aim(wanted, options.recovery_duration_ms / 1000, disks, consented=consented)
    return Inputs(options, aim, terms, pace, salvage, wishes)


def gives_up(options: Options) -> bool:
    return bool(options.give_up_log or options.end_reassignment)


def _salvage(options: Options) -> SalvageFirst | None:
    """Return what --salvage-dir, --raw-only and --allow-loss ask for. Raises Exit(2)."""
    if options.salvage_dir is None and not (options.allow_loss or options.raw_only):
        return None
    # The readers of disks and records, for which a run without --salvage-dir should not wait.
    from kafka_unclean_recovery.cli.live_salvaging import salvage_first

    return salvage_first(
        options.salvage_dir,
        allow_loss=options.allow_loss,
        raw_only=options.raw_only,
        automated_recovery=options.automated_recovery,
    )


def _check_flags(options: Options) -> None:
    """Check the exclusions of KIP-1275 and the output files. Raises Exit(2)."""
    if options.all_offline_partitions == (options.path_to_json_file is not None):
        raise usage("give exactly one of --all-offline-partitions and --path-to-json-file")
    if options.topics is not None and options.path_to_json_file is not None:
        raise usage(
            "--topics chooses among all offline partitions, and --path-to-json-file names"
            " them: give one of them"
        )
    if options.format is ReplicaFormat.LADDER and not options.show_replica_info:
        raise usage("--format ladder shows replicas: give it with --show-replica-info")
    manual = options.manual_recovery_output_file
    if not (options.show_replica_info or manual or options.automated_recovery):
        raise usage(
            "give at least one of --show-replica-info, --manual-recovery-output-file and"
            " --automated-recovery"
        )
    if manual is not None and options.automated_recovery:
        raise usage("--manual-recovery-output-file and --automated-recovery exclude each other")
    if bounds_an_election(options) and not options.automated_recovery:
        raise usage(
            "--accept-loss, --canary, --wave-size, --plan and --require-approval are about"
            " elections: give --automated-recovery too"
        )
    if gives_up(options):
        _check_giving_up(options)
    outputs_of(options).check()
    check_outside_log_directories(options.journal, "--journal")


def _check_giving_up(options: Options) -> None:
    """Refuse what does not go with giving up by name: a plan shows nothing of it, and there is no
    tail to save. Raises Exit(2)."""
    if not options.automated_recovery:
        raise usage(f"{GIVE_UP} and {END} are about elections: give --automated-recovery too")
    others = {
        "--plan": options.plan,
        "--require-approval": options.require_approval,
        "--salvage-dir": options.salvage_dir,
    }
    if given := [flag for flag, value in others.items() if value is not None]:
        raise usage(f"{GIVE_UP} and {END} go without {given[0]}: use them in a run of their own")


def _wanted(options: Options) -> Wanted:
    partitions: tuple[TopicPartition, ...] | None = None
    path = options.path_to_json_file
    if path is not None:
        partitions = tuple(sorted(read_partitions(path)))
    waited_for, flag = options.wait_for_brokers, "--wait-for-brokers"
    wait_for_all = waited_for == "all"
    wait_for = frozenset() if wait_for_all else broker_ids(waited_for, flag, " or the word all")
    gone = broker_ids(options.gone, "--gone")
    if hoped := sorted(wait_for & gone):
        raise usage(f"broker {hoped[0]} is named in --gone and in {flag}; name it once")
    return Wanted(
        partitions,
        wait_for,
        wait_for_all,
        options.automated_recovery,
        ask_groups=True,
        gone=gone,
        topics=selection(options.topics, None).topics,
    )


def _disks(console: Console, options: Options, wanted: Wanted) -> ReplicaInfo | None:
    """Return what disks say about the wanted partitions, None when no disks were given. Raises
    Exit."""
    if not sources_of(options).any:
        return None
    check_connection(options.bootstrap_server, options.command_config)
    named = None if wanted.partitions is None else frozenset(wanted.partitions)
    chosen = Selection(wanted.topics, named)
    return read_sources(console, sources_of(options), chosen)


def afterwards(options: Options, report: Report, journal: Path) -> list[str]:
    """Return what is to be done once partitions were elected, each step with its command."""
    elected = [
        row.plan
        for row in report.partitions
        if row.plan and row.outcome and row.outcome.kind is OutcomeKind.ELECTED
    ]
    if not elected:
        return []
    server = connection_flags(options.bootstrap_server, options.command_config)
    steps = []
    if down := sorted({waiting.broker for plan in elected for waiting in plan.waiting}):
        start = "starts, on its host" if len(down) == 1 else "start, on the host of each"
        noted = ["--journal", str(journal)]
        before = shell_join([RECOVERY, "before-start", "--log-dirs", "DIR", *server, *noted])
        steps = [f"before {brokers_text(down)} {start} with a copy of the journal: {before}"]
    care = shell_join([RECOVERY, "aftercare", *server, "--journal", str(journal)])
    story = shell_join([RECOVERY, "report", str(journal)])
    return [*steps, f"then: {care}", f"in the end: {story}"]


def next_command(options: Options) -> str:
    """Return the command line that elects the planned leaders over the same connection."""
    connection = connection_flags(options.bootstrap_server, options.command_config)
    connection += mechanism_flags(asked_for(options))
    manual = options.manual_recovery_output_file
    if manual is not None:
        designated = ["--election-type", "designated", "--path-to-json-file", str(manual)]
        return shell_join(["kafka-elect-leaders", *connection, *designated])
    chosen = ["--all-offline-partitions"]
    if options.path_to_json_file is not None:
        chosen = ["--path-to-json-file", str(options.path_to_json_file)]
    chosen += [] if options.topics is None else ["--topics", options.topics]
    chosen += sources_of(options).flags()
    chosen += [] if options.gone is None else ["--gone", options.gone]
    return shell_join([RECOVERY, *connection, *chosen, "--automated-recovery"])
