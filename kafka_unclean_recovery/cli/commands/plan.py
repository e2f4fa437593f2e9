"""kafka-unclean-recovery plan designates leaders from disks alone, with no live broker."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kafka_unclean_recovery.cli.command import Command
from kafka_unclean_recovery.cli.disk_sources import Sources, read_sources
from kafka_unclean_recovery.cli.flags import (
    DesignatedLeadersFile,
    ExcludeBrokers,
    Format,
    HowMuch,
    LogDirs,
    MetricsFile,
    OutputFormat,
    PartitionsFile,
    PlanFile,
    ReplicaFormat,
    ReplicaInfoFiles,
    Topics,
)
from kafka_unclean_recovery.cli.plan_outputs import PlanOutputs, next_command
from kafka_unclean_recovery.cli.selection import Selection, broker_ids, selection
from kafka_unclean_recovery.cli.terminal.colour import Color, ColorFlag
from kafka_unclean_recovery.cli.terminal.console import Console
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.cli.terminal.output import count_and_first, print_report
from kafka_unclean_recovery.errors import NOT_ALL, OK, usage
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import (
    Cluster,
    Outcome,
    OutcomeKind,
    PartitionPlan,
    PartitionReport,
    ReplicaInfo,
    Report,
)
from kafka_unclean_recovery.planning.member_findings import LEADS_BY_ITSELF
from kafka_unclean_recovery.planning.offline_plan import plan_from_disks
from kafka_unclean_recovery.wording import and_more, why_not


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Choose leaders from log directories alone, with no broker and no controller alive.

    Nothing is elected and no cluster is contacted: kafka-elect-leaders takes the file once the
    brokers are started.
    """

    manual_recovery_output_file: DesignatedLeadersFile
    replica_info_file: ReplicaInfoFiles = None
    log_dirs: LogDirs = None
    mode: HowMuch = ScanMode.RECOVER
    exclude_brokers: ExcludeBrokers = None
    plan_output_file: PlanFile = None
    format: OutputFormat = Format.TABLE
    topics: Topics = None
    path_to_json_file: PartitionsFile = None
    metrics_file: MetricsFile = None
    log_format: LogFormatFlag = LogFormat.TEXT
    color: ColorFlag = Color.AUTO


# The words for one partition, and for many.
UNPLANNED = ("partition has no designated leader", "partitions have no designated leader")
LEFTOVERS = (
    "partition is on disks only, deleted as the newest metadata log has it",
    "partitions are on disks only, deleted as the newest metadata log has it",
)


def plan(console: Console, options: Options) -> int:
    """Run the command and return its exit code. Raises Exit."""
    sources = Sources(options.replica_info_file or (), options.log_dirs or (), options.mode)
    outputs = PlanOutputs(options.manual_recovery_output_file, options.plan_output_file)
    _check_flags(outputs, sources)
    excluded = broker_ids(options.exclude_brokers, "--exclude-brokers")
    chosen = selection(options.topics, options.path_to_json_file)
    info = read_sources(console, sources, chosen)
    _check_known(excluded, info)
    _check_cluster_id(options, info)
    report = _report(info, excluded, chosen)
    complaints = list(_unplanned(report, chosen.hint))
    below = [*_leftovers(report), *complaints]
    try:
        plans = [row.plan for row in report.partitions if row.plan is not None]
        outputs.write(console, report.cluster, plans)
        if any(plan.designated_leader is not None for plan in plans):
            below += _next(report, options.manual_recovery_output_file)
    finally:
        how = ReplicaFormat(options.format.value)
        print_report(console, report, how, with_replicas=True, below=below)
    return NOT_ALL if complaints or report.problems else OK


def _next(report: Report, manual: Path) -> Iterator[str]:
    """Yield what to do with the plan, and what not to do before."""
    late = [row.topic_partition for row in report.partitions if row.plan and _leads(row.plan)]
    if late:
        yield (
            f"{late[0]}{and_more(late)}: a broker would lead by itself and cut the others"
            f" ({LEADS_BY_ITSELF} names it): start that one last, after the election; start-order"
            " tells the order of all"
        )
        yield f"next, once the others are started: {next_command(manual)}"
    else:
        yield f"next, once brokers are started: {next_command(manual)}"


def _leads(plan: PartitionPlan) -> bool:
    return any(found.code == LEADS_BY_ITSELF for found in plan.findings)


def _check_flags(outputs: PlanOutputs, sources: Sources) -> None:
    """Check the sources and the output files. Raises Exit(2)."""
    if not sources.any:
        raise usage("give at least one of --replica-info-file and --log-dirs")
    outputs.check()


def _check_known(excluded: frozenset[int], info: ReplicaInfo) -> None:
    """Check that each excluded broker appears in what was read. Raises Exit(2)."""
    known = set(info.brokers)
    for part in info.partitions:
        known.update(log.broker for log in part.replica_logs)
        known.update(part.state.replicas if part.state else ())
    refuse_strangers(sorted(excluded - known), sorted(known))


def refuse_strangers(strangers: Sequence[int], known: Sequence[int]) -> None:
    """Raise Exit(2) for an unknown broker: with a wrong id, a broker that never starts again could
    be designated as a leader."""
    if strangers:
        found = ", ".join(map(str, known)) or "none"
        raise usage(
            f"--exclude-brokers: broker {strangers[0]} appears nowhere in what was read; brokers"
            f" that do: {found}"
        )


def _check_cluster_id(options: Options, info: ReplicaInfo) -> None:
    """Check that the cluster id is known when an output needs it. Raises Exit(2)."""
    given = (options.plan_output_file is not None, options.format.is_json)
    flags = itertools.compress(("--plan-output-file", "--format json"), given)
    if info.cluster_id is None and (flag := next(flags, None)):
        raise usage(
            f"{flag} needs the id of the cluster, and no meta.properties that was read has it;"
            " leave the flag out"
        )


def _report(info: ReplicaInfo, excluded: frozenset[int], chosen: Selection) -> Report:
    rows = list(plan_from_disks(info, excluded))
    missing = chosen.named - {row.topic_partition for row in rows}
    unknown = Outcome(OutcomeKind.FAILED, "nothing that was read has this partition")
    rows += [PartitionReport(tp, None, outcome=unknown) for tp in missing]
    return Report(
        # The table shows no cluster id; _check_cluster_id refuses other outputs without one.
        Cluster(info.cluster_id or "", {}),
        tuple(sorted(rows, key=lambda row: row.topic_partition)),
        info.problems,
    )


def _unplanned(report: Report, hint: str) -> Iterator[str]:
    """Return complaints about partitions without a designated leader; none when each has one."""
    if not report.partitions:
        yield f"nothing that was read has a partition of those asked for{hint}"
    without = [f"{row.topic_partition}: {why}" for row in report.partitions if (why := _why(row))]
    yield from count_and_first(*UNPLANNED, without)


def _leftovers(report: Report) -> Iterator[str]:
    gone = [
        str(row.topic_partition)
        for row in report.partitions
        if row.state is None and row.outcome is None
    ]
    yield from count_and_first(*LEFTOVERS, gone)


def _why(row: PartitionReport) -> str | None:
    """Return why a partition has no designated leader; None when it has one or was deleted."""
    if row.plan is None:
        return row.outcome.reason if row.outcome else None
    return why_not(row.plan) if row.plan.designated_leader is None else None


COMMAND = Command(Options, plan)
