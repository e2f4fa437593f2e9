"""The journal records, for the post-mortem, what a run observed, decided and found at its end.

No action depends on these lines: they reach the disk with the next line that a later step
writes and syncs.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafka_unclean_recovery.documents.journal_lines import outcome_fields
from kafka_unclean_recovery.documents.plan import plan_row
from kafka_unclean_recovery.documents.writing import Json
from kafka_unclean_recovery.files.journal import Journal
from kafka_unclean_recovery.mechanisms import Wishes
from kafka_unclean_recovery.model import PartitionPlan, PartitionReport, Report
from kafka_unclean_recovery.planning.losses import groups_under
from kafka_unclean_recovery.recovery.observe import Observation
from kafka_unclean_recovery.recovery.views import Wanted
from kafka_unclean_recovery.report.document import group_json


def note_decisions(
    journal: Journal,
    wanted: Wanted,
    wishes: Wishes,
    seen: Observation,
    plans: Iterable[PartitionPlan],
) -> None:
    """Write one line with the observation, and one line for each plan."""
    journal.tell("observed", [_observed(wanted, wishes, seen)])
    journal.tell("decision", map(_decision, plans))


def note_verified(journal: Journal, report: Report) -> None:
    """Write the outcome and the state of every partition of the run."""
    found = {
        "partitions": [_row(row) for row in report.partitions],
        "problems": report.problems,
        "interrupted": report.interrupted,
    }
    journal.tell("verified", [found])


def _observed(wanted: Wanted, wishes: Wishes, seen: Observation) -> Json:
    cluster = seen.cluster
    return {
        "brokers": [
            {"id": id_, "host": broker.host, "port": broker.port}
            for id_, broker in sorted(cluster.brokers.items())
        ],
        "fenced": list(cluster.fenced),
        "silent_brokers": {str(id_): why for id_, why in sorted(seen.silent_brokers.items())},
        "problems": list(seen.problems),
        "groups_asked": wanted.ask_groups,
        "unknown": list(seen.witnesses.unknown),
        "transport": wishes.transport.value,
        "election_method": wishes.election_method.value,
        "dialect": None if wishes.dialect is None else wishes.dialect.value,
        "partitions": len(seen.states),
        "missing": [
            {"topic": tp.topic, "partition": tp.partition, "reason": why}
            for tp, why in sorted(seen.missing.items())
        ],
        **({"gone": sorted(wanted.gone)} if wanted.gone else {}),
    }


def _decision(plan: PartitionPlan) -> Json:
    state = plan.state
    return {
        **plan_row(plan),
        "leader": state.leader,
        "offline_replicas": state.offline_replicas,
        "adding_replicas": state.adding_replicas,
        "removing_replicas": state.removing_replicas,
        "waiting": plan.waiting,
        "groups_beyond": list(map(group_json, groups_under(plan, plan.designated_leader))),
    }


def _row(row: PartitionReport) -> Json:
    state, outcome = row.state, row.outcome
    return {
        "topic": row.topic_partition.topic,
        "partition": row.topic_partition.partition,
        **({"outcome": None, "reason": None} if outcome is None else outcome_fields(outcome)),
        "leader": None if state is None else state.leader,
        "leader_epoch": None if state is None else state.leader_epoch,
        "isr": None if state is None else state.isr,
    }
