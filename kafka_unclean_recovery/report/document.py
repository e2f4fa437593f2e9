"""What a run found and did: its JSON document and its summary. Pure.

The JSON is schemas/report-1.schema.json. Unknown is null there, never 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kafka_unclean_recovery.documents.plan import candidate_json
from kafka_unclean_recovery.documents.reading.codec import json_text, to_json
from kafka_unclean_recovery.documents.writing import Json, partitions_by_chunk
from kafka_unclean_recovery.model import (
    GroupBeyond,
    Loss,
    OutcomeKind,
    PartitionReport,
    PartitionState,
    Report,
)
from kafka_unclean_recovery.planning.broker_return import BrokerWaiting, by_broker
from kafka_unclean_recovery.planning.losses import groups_under, loss_after

FORMAT_VERSION = 1


def render_json(report: Report) -> str:
    """Return the report as --format json has it: one object with a line for each partition."""
    return "".join(json_parts(report))


def json_parts(report: Report) -> Iterator[str]:
    """Yield what render_json returns part by part."""
    rows = (json_text(_row_json(row)) for row in report.partitions)
    return partitions_by_chunk(_head_json(report), rows, lambda: {"summary": _summary_json(report)})


@dataclass(frozen=True, slots=True)
class ReportSummary:
    """Counts over a report. `losses` has one for each partition that was elected or, in a run
    that elects nothing, would be; `waiting` is about those that are offline still."""

    outcomes: Counter[OutcomeKind]
    online: int
    offline: int
    missing: int
    losses: tuple[Loss, ...]
    waiting: tuple[BrokerWaiting, ...] = ()


def summarize(report: Report) -> ReportSummary:
    states = [row.state for row in report.partitions]
    offline = sum(1 for state in states if state is not None and state.offline)
    missing = states.count(None)
    return ReportSummary(
        outcomes=Counter(row.outcome.kind for row in report.partitions if row.outcome),
        online=len(states) - offline - missing,
        offline=offline,
        missing=missing,
        losses=tuple(_losses(report.partitions)),
        waiting=by_broker(
            row.plan for row in report.partitions if row.plan and row.state and row.state.offline
        ),
    )


def election_loss(row: PartitionReport) -> Loss | None:
    """Return what the election destroyed, unknown where it is in doubt; None when nobody was
    elected. A failed election may have ended with another leader than designated: then that one
    counts."""
    leader = _elected_leader(row)
    in_doubt = row.outcome is not None and row.outcome.in_doubt
    return loss_after(row.plan, leader, row.outcome) if in_doubt or leader is not None else None


def _elected_leader(row: PartitionReport) -> int | None:
    kind = row.outcome.kind if row.outcome else None
    if kind is OutcomeKind.FAILED and row.state is not None and not row.state.offline:
        return row.state.leader
    if kind in (None, OutcomeKind.ELECTED):
        return row.plan.designated_leader if row.plan else None
    return None


def _losses(rows: Sequence[PartitionReport]) -> Iterator[Loss]:
    # A partition that is online or missing has an outcome in a run that elects nothing, too.
    tried = any(row.outcome and row.plan for row in rows)
    for row in rows:
        loss = election_loss(row)
        if loss is not None and (row.outcome or not tried):
            yield loss


def _sum(records: Iterable[int | None]) -> int | None:
    known = 0
    for count in records:
        if count is None:
            return None
        known += count
    return known


def _head_json(report: Report) -> Json:
    silent = {str(broker): reason for broker, reason in sorted(report.silent_brokers.items())}
    return {
        "format_version": FORMAT_VERSION,
        "kind": "report",
        "cluster_id": report.cluster.cluster_id,
        "problems": list(report.problems),
        "unknown": list(report.unknown),
        "silent_brokers": silent,
    }


def _summary_json(report: Report) -> Json:
    summary = summarize(report)
    return {
        "partitions": len(report.partitions),
        "online": summary.online,
        "offline": summary.offline,
        "missing": summary.missing,
        "outcomes": {kind.value: summary.outcomes[kind] for kind in OutcomeKind},
        "certain_loss": _sum(loss.certain for loss in summary.losses),
        "possible_loss": _sum(loss.possible for loss in summary.losses),
        "waiting": to_json(summary.waiting),
        "interrupted": report.interrupted,
    }


def _row_json(row: PartitionReport) -> Json:
    plan, outcome = row.plan, row.outcome
    designated = plan.designated_leader if plan else None
    return {
        **_state_json(row),
        "designated_leader": designated,
        "outcome": outcome.kind.value if outcome else None,
        "reason": outcome.reason if outcome else None,
        "refusal": plan.refusal if plan else None,
        "findings": plan.findings if plan else [],
        "loss": loss_after(plan, designated, outcome),
        "candidates": [candidate_json(candidate) for candidate in plan.ranking] if plan else [],
        "waiting": plan.waiting if plan else [],
        "groups_beyond": [group_json(found) for found in groups_under(plan, designated)],
        "planned_on": _planned_on_json(plan.state) if plan else None,
        "replica_logs": plan.replica_logs if plan else [],
    }


def _state_json(row: PartitionReport) -> Json:
    state = row.state
    return {
        "topic": row.topic_partition.topic,
        "topic_id": state.topic_id if state else None,
        "partition": row.topic_partition.partition,
        "leader": state.leader if state else None,
        "leader_epoch": state.leader_epoch if state else None,
        "replicas": state.replicas if state else None,
        "isr": state.isr if state else None,
        "elr": state.elr if state else None,
        "last_known_elr": state.last_known_elr if state else None,
    }


def group_json(found: GroupBeyond) -> Json:
    """Return a group that has read more than the designated leader holds."""
    return {
        "group": found.commit.group,
        "committed_offset": found.commit.offset,
        "committed_leader_epoch": found.commit.leader_epoch,
        "resume_offset": found.resume,
        "share_done_to": found.commit.share_done_to,
    }


def _planned_on_json(state: PartitionState) -> Json:
    """Return what an election overwrites, so that the report still tells it afterwards."""
    return {
        "leader_epoch": state.leader_epoch,
        "isr": state.isr,
        "elr": state.elr,
        "last_known_elr": state.last_known_elr,
    }
