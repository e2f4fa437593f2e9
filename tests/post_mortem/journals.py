"""Journals of recoveries that never were, as a run writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from msgspec.structs import replace

from kafka_unclean_recovery.files.journal import Journal
from kafka_unclean_recovery.mechanisms import Wishes
from kafka_unclean_recovery.model import (
    Broker,
    Cluster,
    Commit,
    EpochSpan,
    Outcome,
    OutcomeKind,
    PartitionPlan,
    PartitionReport,
    PartitionState,
    ReplicaLog,
    Report,
)
from kafka_unclean_recovery.planning.plan import plan_partition
from kafka_unclean_recovery.recovery.journal_evidence import note_decisions, note_verified
from kafka_unclean_recovery.recovery.observe import Observation
from kafka_unclean_recovery.recovery.views import Wanted

CLUSTER = Cluster("cluster-1", {3: Broker(3, "b3", 9092), 4: Broker(4, "b4", 9092)}, (1,))
WANTED = Wanted(None, ask_groups=True)
ELECTED = Outcome(OutcomeKind.ELECTED)


def planned(number: int, topic: str = "orders", *commits: Commit) -> PartitionPlan:
    """Return a plan of replicas 1 (dead), 3 and 4: 3 leads in a newer epoch, 4 loses 100 records
    and one for each number."""
    end = 1000 + number
    state = PartitionState(
        topic, f"id-{topic}", number, -1, 7, (1, 4, 3), elr=(1,), offline_replicas=(1,)
    )
    return plan_partition(
        state,
        [
            ReplicaLog(1, live=False, problem="broker is down"),
            _log(4, (0, 0, 1100 + 2 * number)),
            _log(3, (0, 0, end), (5, end, end + 1500)),
        ],
        commits,
    )


def harmless(number: int, topic: str = "orders") -> PartitionPlan:
    """Return a plan of replicas that all live and are alike."""
    state = PartitionState(topic, f"id-{topic}", number, -1, 7, (1, 2))
    return plan_partition(state, [_log(1, (0, 0, 1000)), _log(2, (0, 0, 1000))])


def of_many_epochs(topic: str) -> PartitionPlan:
    """Return a plan of replicas that part in the oldest of nine leader epochs."""
    state = PartitionState(topic, f"id-{topic}", 0, -1, 9, (3, 4))
    spans = [(epoch, 100 * epoch, 100 * epoch + 100) for epoch in range(9)]
    return plan_partition(state, [_log(3, *spans), _log(4, (0, 0, 150))])


def _log(broker: int, *spans: tuple[int, int, int]) -> ReplicaLog:
    epochs = tuple(EpochSpan(*span) for span in spans)
    end = epochs[-1].end_offset
    return ReplicaLog(broker, True, epochs[-1].epoch, 0, 990, end, epochs)


def elected(plan: PartitionPlan) -> PartitionReport:
    leader = plan.designated_leader
    assert leader is not None
    after = replace(plan.state, leader=leader, leader_epoch=8, isr=(leader,), elr=())
    return PartitionReport(plan.state.topic_partition, after, plan, ELECTED)


def seen(plans: Iterable[PartitionPlan]) -> Observation:
    states = {plan.state.topic_partition: plan.state for plan in plans}
    return Observation(CLUSTER, states, {}, {})


def write_journal(
    path: Path,
    plans: list[PartitionPlan],
    meanwhile: Callable[[Journal], None] = lambda journal: None,
) -> Report:
    """Write the journal of a run in which every plan was carried out, and return its report.
    meanwhile: what else is noted before the end."""
    rows = tuple(map(elected, plans))
    report = Report(CLUSTER, rows)
    names = [{"topic": p.state.topic, "partition": p.state.partition} for p in plans]
    with Journal.open(path) as journal:
        journal.note("begin", version="1", cluster_id="cluster-1", command="kafka-unclean-recovery")
        note_decisions(journal, WANTED, Wishes(), seen(plans), plans)
        journal.note("reorder", partitions=[_reorder(plan) for plan in plans])
        leaders = [
            name | {"designated_leader": plan.designated_leader}
            for name, plan in zip(names, plans, strict=True)
        ]
        journal.write("elect", partitions=leaders)
        journal.note("restored", partitions=names)
        journal.note(
            "outcome", partitions=[n | {"outcome": "elected", "reason": None} for n in names]
        )
        note_verified(journal, report)
        meanwhile(journal)
        journal.note("end", exit_code=0)
    return report


def _reorder(plan: PartitionPlan) -> dict[str, object]:
    return {
        "topic": plan.state.topic,
        "topic_id": plan.state.topic_id,
        "partition": plan.state.partition,
        "original": plan.state.replicas,
        "written": plan.order,
        "designated_leader": plan.designated_leader,
    }
