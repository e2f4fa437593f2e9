"""The flags of kafka-unclean-recovery, their checks, and what the files they name hold."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from kafka_unclean_recovery.cli.console import Console, check_outside_log_directories
from kafka_unclean_recovery.cli.disk_sources import Sources, read_sources
from kafka_unclean_recovery.cli.exits import usage
from kafka_unclean_recovery.cli.flags import ReplicaFormat
from kafka_unclean_recovery.cli.live_salvaging import SalvageFirst, salvage_first
from kafka_unclean_recovery.cli.mechanisms import mechanism_flags, wishes_of
from kafka_unclean_recovery.cli.plan_outputs import PlanOutputs
from kafka_unclean_recovery.cli.selection import Selection, broker_ids, read_partitions
from kafka_unclean_recovery.cli.session import check_connection, connection_flags
from kafka_unclean_recovery.cli.terms import read_terms
from kafka_unclean_recovery.mechanisms import Dialect, ElectionMethod, Transport, Wishes
from kafka_unclean_recovery.model import ReplicaInfo, TopicPartition
from kafka_unclean_recovery.planning.waves import Pace
from kafka_unclean_recovery.recovery.observe import Wanted
from kafka_unclean_recovery.recovery.recover import Aim
from kafka_unclean_recovery.recovery.terms import Terms

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
    format: ReplicaFormat
    yes: bool
    accept_loss: tuple[str, ...]
    canary: int | None
    wave_size: int | None
    plan: Path | None
    require_approval: Path | None
    journal: Path | None
    ignore_journals: tuple[Path, ...]
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
    def bounds_an_election(self) -> bool:
        pace = (self.canary, self.wave_size)
        return any((self.accept_loss, *pace, self.plan, self.require_approval))

    @property
    def wishes(self) -> Wishes:
        """Raises Exit(2)."""
        return wishes_of(self.transport, self.election_method, self.replica_log_info_dialect)


@dataclass(frozen=True, slots=True)
class Inputs:
    """The flags, and what they come to. salvage: what is to be saved before electing, None when
    nothing is."""

    options: Options
    aim: Aim
    terms: Terms
    pace: Pace
    salvage: SalvageFirst | None
    wishes: Wishes


def read_inputs(console: Console, options: Options) -> Inputs:
    """Everything that needs no cluster. Raises Exit."""
    _check_flags(options)
    wanted = _wanted(options)
    terms = read_terms(options.accept_loss, options.plan, options.require_approval)
    disks = _disks(console, options, wanted)
    wishes = options.wishes
    salvage = salvage_first(options.salvage_dir, options.allow_loss, options.automated_recovery)
    pace = Pace(options.canary, options.wave_size)
    aim = Aim(wanted, options.recovery_duration_ms / 1000, disks)
    return Inputs(options, aim, terms, pace, salvage, wishes)


def _check_flags(options: Options) -> None:
    """The exclusions of KIP-1275, and output files that exist. Raises Exit(2)."""
    if options.all_offline_partitions == (options.path_to_json_file is not None):
        raise usage("give exactly one of --all-offline-partitions and --path-to-json-file")
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
    if options.bounds_an_election and not options.automated_recovery:
        raise usage(
            "--accept-loss, --canary, --wave-size, --plan and --require-approval are about"
            " elections: give --automated-recovery too"
        )
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
        ask_groups=True,
    )


def _disks(console: Console, options: Options, wanted: Wanted) -> ReplicaInfo | None:
    """What disks say of the wanted partitions, None when none were given. Raises Exit."""
    if not options.sources.any:
        return None
    check_connection(options.bootstrap_server, options.config)
    named = None if wanted.partitions is None else frozenset(wanted.partitions)
    return read_sources(console, options.sources, Selection(partitions=named))


def next_command(options: Options) -> str:
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
