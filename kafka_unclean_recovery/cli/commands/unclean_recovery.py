"""kafka-unclean-recovery without a command is the recovery of KIP-1275; its other commands
stand in programs.py."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli import RECOVERY
from kafka_unclean_recovery.cli.clusters import ClusterName
from kafka_unclean_recovery.cli.command import Command
from kafka_unclean_recovery.cli.flags import (
    BY_HAND,
    AcceptLoss,
    Canary,
    CommandConfig,
    ElectionAttempts,
    Gone,
    HowElected,
    HowSeen,
    IgnoreJournals,
    JournalFile,
    LogDirs,
    ManualRecoveryFile,
    MetricsFile,
    PartitionsFile,
    PlanFile,
    RawOnly,
    ReplicaFormat,
    ReplicaInfoFiles,
    ReplicaLogInfoDialect,
    ReplicaOutputFormat,
    Topics,
    WaveSize,
    version_flag,
)
from kafka_unclean_recovery.cli.terminal.colour import Color, ColorFlag
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.mechanisms import ElectionMethod, Transport


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Recover partitions that have no leader by electing the replica that loses least.

    The command reads how far the log of every surviving replica goes, chooses the leader, and with
    --automated-recovery elects exactly that leader (KIP-1275, on the Kafka of today). Of the
    commands below, only doctor, ok-to-stop, watch, before-start, aftercare, quorum, salvage replay
    and salvage offsets contact a cluster.
    """

    bootstrap_server: Annotated[
        str,
        typer.Option(
            metavar="HOST:PORT[,...]",
            help="Brokers to contact first, to find the others; required unless a command is"
            " given.",
        ),
    ] = BY_HAND
    command_config: CommandConfig = None
    all_offline_partitions: Annotated[
        bool,
        typer.Option(
            "--all-offline-partitions",
            help="All partitions without a leader; give this or --path-to-json-file.",
        ),
    ] = False
    path_to_json_file: PartitionsFile = None
    topics: Topics = None
    show_replica_info: Annotated[
        bool,
        typer.Option("--show-replica-info", help="Show how far each replica's log goes."),
    ] = False
    manual_recovery_output_file: ManualRecoveryFile = None
    automated_recovery: Annotated[
        bool,
        typer.Option("--automated-recovery", help="Elect the designated leaders."),
    ] = False
    recovery_duration_ms: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="MS",
            help="How long brokers may take to say how far their replicas go, in milliseconds; a"
            " broker that does not answer in time is not considered.",
        ),
    ] = 30_000
    recovery_election_attempts: ElectionAttempts = 3
    wait_for_brokers: Annotated[
        str | None,
        typer.Option(
            metavar="IDS|all",
            help="Wait for brokers that are down, such as 1,2, or for all, at most for"
            " --recovery-duration-ms; by default the command does not wait.",
        ),
    ] = None
    gone: Gone = None
    format: ReplicaOutputFormat = ReplicaFormat.TABLE
    yes: Annotated[bool, typer.Option("--yes", help="Elect without asking for consent.")] = False
    accept_loss: AcceptLoss = None
    give_up_log: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TOPIC-PARTITION|TOPIC",
            help="Where all replicas of this partition are lost for good: give up every record that"
            " it had, and start it anew, empty, on live brokers. Of a topic, its partitions whose"
            " replicas are all known to be dead; a replica that may still hold the log is passed"
            " over only where the partition is named by itself. Can be repeated.",
        ),
    ] = None
    end_reassignment: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TOPIC-PARTITION|TOPIC",
            help="Where this partition, or one of this topic, lost its leader during a"
            " reassignment: give the reassignment up, and elect the best of the replicas from"
            " before it. Can be repeated.",
        ),
    ] = None
    canary: Canary = None
    wave_size: WaveSize = None
    plan: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Elect only partitions that are still as in this plan, which --plan-output-file"
            " wrote.",
        ),
    ] = None
    require_approval: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Elect only if another user approved the plan of --plan; the command approve"
            " writes this file.",
        ),
    ] = None
    journal: JournalFile = None
    ignore_journal: IgnoreJournals = None
    salvage_dir: Annotated[
        Path | None,
        typer.Option(
            metavar="NEWDIR",
            help="Before electing, save the records that live replicas would lose to this new"
            " directory. A partition whose records can't be saved is not elected. Needs the pip"
            " extra [salvage], or --raw-only.",
        ),
    ] = None
    raw_only: RawOnly = False
    allow_loss: Annotated[
        bool,
        typer.Option(
            "--allow-loss", help="Also elect partitions whose records --salvage-dir could not save."
        ),
    ] = False
    resume: Annotated[
        Path | None,
        typer.Option(
            metavar="JOURNAL", help="Only finish what the run of this journal left half done."
        ),
    ] = None
    keep_order: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TOPIC-PARTITION",
            help="With --resume: leave the replica order of this partition as it is, and note that"
            " in the journal; for an order that can't be put back. Can be repeated.",
        ),
    ] = None
    plan_output_file: PlanFile = None
    replica_info_file: ReplicaInfoFiles = None
    log_dirs: LogDirs = None
    transport: HowSeen = Transport.AUTO
    election_method: HowElected = ElectionMethod.AUTO
    replica_log_info_dialect: ReplicaLogInfoDialect = None
    metrics_file: MetricsFile = None
    cluster: ClusterName = None
    log_format: LogFormatFlag = LogFormat.TEXT
    color: ColorFlag = Color.AUTO
    version: Annotated[bool, version_flag(RECOVERY)] = False


COMMAND = Command(Options, "unclean_recovery_work:recover", required=("bootstrap_server",))
