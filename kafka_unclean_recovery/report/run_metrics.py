"""A run's findings and actions are reported as metrics.

Metrics are totals, because a label for each partition or topic would make a time series of each. An
unknown sum is left out, never 0; the number of partitions whose count is unknown is a metric of its
own. This module does no I/O.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from kafka_unclean_recovery.model import OutcomeKind, ReplicaInfo, Report
from kafka_unclean_recovery.report.document import summarize
from kafka_unclean_recovery.report.prometheus import Metric, gauge, gauges

PREFIX = "kafka_unclean_recovery"
# node_exporter wants the same help text when two files have the same metric.
_PROBLEMS = "Problems of the cluster, or of the disks, as a whole."
_INTERRUPTED = "1 when a signal ended the run."
_OUTCOMES = "Partitions by outcome; none has one where nothing was to be elected."


def run_metrics(
    version: str,
    ended_at: float,
    seconds: float,
    exit_code: int | None,
    phases: Mapping[str, float],
) -> list[Metric]:
    """Return the metrics that every command has.

    ended_at: seconds since 1970. exit_code: None while the run goes on. phases: seconds by phase.
    """
    return [
        gauges(f"{PREFIX}_build_info", "The release that ran.", "version", {version: 1}),
        gauge(f"{PREFIX}_last_run_timestamp_seconds", "When the last run ended.", ended_at),
        gauge(f"{PREFIX}_duration_seconds", "How long the last run took.", seconds),
        gauge(f"{PREFIX}_exit_code", "The exit code of the last run.", exit_code),
        gauges(f"{PREFIX}_phase_duration_seconds", "How long each phase took.", "phase", phases),
    ]


def report_metrics(report: Report) -> list[Metric]:
    """Return the metrics of a recovery or of a plan. Losses are those of the elections that were
    made or, when nothing is elected, of those that were planned."""
    found = summarize(report)
    where = {"online": found.online, "offline": found.offline, "missing": found.missing}
    outcomes = {kind.value: found.outcomes[kind] for kind in OutcomeKind}
    certain = [loss.certain for loss in found.losses]
    possible = [loss.possible for loss in found.losses]
    silent = len(report.silent_brokers)
    return [
        gauges(f"{PREFIX}_partitions", "Partitions looked at, as they are now.", "state", where),
        gauges(f"{PREFIX}_partition_outcomes", _OUTCOMES, "outcome", outcomes),
        *_losses("certain", "that live replicas lose", certain),
        *_losses("possible", "that dead replicas may hold", possible),
        gauge(f"{PREFIX}_silent_brokers", "Brokers without an answer.", silent),
        gauge(f"{PREFIX}_problems", _PROBLEMS, len(report.problems)),
        gauge(f"{PREFIX}_interrupted", _INTERRUPTED, int(report.interrupted)),
    ]


def _losses(which: str, whose: str, losses: Sequence[int | None]) -> Iterator[Metric]:
    unknown = losses.count(None)
    total = None if unknown else sum(loss for loss in losses if loss is not None)
    name = f"{PREFIX}_{which}_loss"
    yield gauge(f"{name}_records", f"Records {whose}; absent when unknown.", total)
    yield gauge(
        f"{name}_unknown_partitions",
        f"Partitions with an unknown number of records {whose}.",
        unknown,
    )


def scan_metrics(info: ReplicaInfo) -> list[Metric]:
    """Return the metrics of a scan of disks."""
    logs = [log for part in info.partitions for log in part.replica_logs]
    unreadable = sum(log.problem is not None for log in logs)
    suspect = sum(log.problem is None and log.suspect is not None for log in logs)
    trust = {
        "trusted": len(logs) - unreadable - suspect,
        "suspect": suspect,
        "unusable": unreadable,
    }
    return [
        gauges(f"{PREFIX}_scanned_replicas", "Replicas by trust.", "trust", trust),
        gauge(f"{PREFIX}_scanned_bytes", "Bytes of segments of replicas.", _bytes(info)),
        gauge(f"{PREFIX}_problems", _PROBLEMS, len(info.problems)),
        gauge(f"{PREFIX}_interrupted", _INTERRUPTED, int(info.interrupted)),
    ]


def _bytes(info: ReplicaInfo) -> int:
    logs = (log for part in info.partitions for log in part.replica_logs)
    return sum(log.scanned.size for log in logs if log.scanned)


def outcome_metrics(outcomes: Iterable[OutcomeKind]) -> list[Metric]:
    """Return the metrics of elections in which the controller chooses the leader."""
    counted = dict.fromkeys((kind.value for kind in OutcomeKind), 0)
    for kind in outcomes:
        counted[kind.value] += 1
    return [gauges(f"{PREFIX}_partition_outcomes", _OUTCOMES, "outcome", counted)]
