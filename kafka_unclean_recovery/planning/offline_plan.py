"""Plan from the disks alone, with no broker alive; no I/O.

The plan assumes that the scanned brokers will start, except for the excluded ones, whose disks
still tell what is lost without them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from msgspec.structs import replace

from kafka_unclean_recovery.model import (
    NO_LEADER,
    Finding,
    Outcome,
    OutcomeKind,
    PartitionInfo,
    PartitionReport,
    PartitionState,
    ReplicaInfo,
    ReplicaLog,
    Severity,
)
from kafka_unclean_recovery.planning.findings import by_gravity
from kafka_unclean_recovery.planning.member_findings import LEADS_BY_ITSELF, once_all_start
from kafka_unclean_recovery.planning.merged_scans import NOT_IN_NEWEST
from kafka_unclean_recovery.planning.plan import plan_partition
from kafka_unclean_recovery.planning.started_replica import NO_DIRECTORY

_SOURCE = "log-dirs"
NO_STATE = (
    "no metadata log that was scanned has this partition, so its replicas and leader epoch are not"
    " known: scan the __cluster_metadata-0 of a controller or of another broker too"
)
NOT_SCANNED = "was not scanned"
"""The problem of a replica of a broker of which nothing was scanned."""


def plan_from_disks(info: ReplicaInfo, excluded: Collection[int]) -> tuple[PartitionReport, ...]:
    """Return a row for each partition of `info`, in its order. Every partition counts as offline,
    whoever led it last. A partition whose state is not known gets no plan, and the outcome says
    why; a partition that the newest metadata log does not have, and so was deleted, gets neither.

    excluded: brokers that will not start, or are not to lead.
    """
    return tuple(_planned(part, info, excluded) for part in info.partitions)


def _planned(part: PartitionInfo, info: ReplicaInfo, excluded: Collection[int]) -> PartitionReport:
    if part.state is None:
        was_there = any(found.code == NOT_IN_NEWEST for found in part.findings)
        known = info.metadata_epoch is not None and not was_there
        outcome = None if known else Outcome(OutcomeKind.NO_CANDIDATE, NO_STATE)
        return PartitionReport(part.topic_partition, None, outcome=outcome)
    by_broker = {log.broker: log for log in part.replica_logs}
    logs = [
        _row(by_broker.get(broker), broker, broker in info.brokers, broker in excluded)
        for broker in part.state.replicas
    ]
    state = replace(
        part.state,
        leader=NO_LEADER,
        offline_replicas=tuple(log.broker for log in logs if not log.live),
    )
    plan = plan_partition(state, logs)
    leading = once_all_start(state, logs, part.state)
    # Excluded brokers do not return, whatever their return would bring.
    planned = [found for found in plan.findings if found.code != LEADS_BY_ITSELF]
    findings = by_gravity([*planned, *part.findings, *leading, *_not_assigned(part, state)])
    # No broker is alive, and the excluded ones will not return: there is no broker to wait for.
    plan = replace(plan, findings=findings, waiting=())
    return PartitionReport(part.topic_partition, state, plan)


def _row(log: ReplicaLog | None, broker: int, scanned: bool, excluded: bool) -> ReplicaLog:
    if log is not None:
        return replace(log, live=not excluded)
    problem = NO_DIRECTORY if scanned else NOT_SCANNED
    return ReplicaLog(broker, live=False, source=_SOURCE, problem=problem)


def _not_assigned(part: PartitionInfo, state: PartitionState) -> Iterator[Finding]:
    for log in part.replica_logs:
        if log.broker not in state.replicas:
            end = "unknown" if log.log_end_offset is None else log.log_end_offset
            yield Finding(
                "not_assigned",
                Severity.NOTICE,
                f"the disk of broker {log.broker} holds this partition too (log end offset {end}),"
                " but it is no replica of it any more, or not yet: it is left out",
            )
