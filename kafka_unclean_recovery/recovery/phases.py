"""The phases after observing: plan, settle what needs no election, verify, report. The elections
themselves are an Elector's (transport/).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from kafka_unclean_recovery.cluster.reading import Reader
from kafka_unclean_recovery.cluster.requests.describe import RequestFailed
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, NoBrokerReachable
from kafka_unclean_recovery.model import (
    Outcome,
    OutcomeKind,
    PartitionPlan,
    PartitionReport,
    PartitionState,
    ReplicaInfo,
    Report,
    TopicPartition,
)
from kafka_unclean_recovery.planning.broker_return import by_broker, why_wait
from kafka_unclean_recovery.planning.dead_leaders import dead_leader_text
from kafka_unclean_recovery.planning.election_rules import (
    Choice,
    came_back_text,
    controller_choice,
    refuse_or_settle,
)
from kafka_unclean_recovery.planning.merged_scans import add_disks
from kafka_unclean_recovery.planning.plan import plan_partition
from kafka_unclean_recovery.recovery.observe import Observation

Plans = dict[TopicPartition, PartitionPlan]
Outcomes = dict[TopicPartition, Outcome]
States = Mapping[TopicPartition, PartitionState]


def plan_recovery(seen: Observation) -> Plans:
    """A plan for each offline partition, by topic and partition."""
    return {
        tp: plan_partition(seen.states[tp], logs, seen.witnesses.commits.get(tp, ()))
        for tp, logs in sorted(seen.replica_logs.items())
    }


def waiting_brings(seen: Observation, info: ReplicaInfo | None) -> dict[int, str]:
    """What waiting for each dead broker would bring, as "would make 12 partitions lossless". info:
    of disks, None without any."""
    plans = plan_recovery(seen if info is None else with_disks(seen, info))
    return {waiting.broker: why_wait(waiting) for waiting in by_broker(plans.values())}


def with_disks(seen: Observation, info: ReplicaInfo) -> Observation:
    """What was seen, and the disks of the replicas that are not live. Raises InputError for disks
    of another cluster."""
    logs = add_disks(seen.replica_logs, seen.states, seen.cluster.cluster_id, info)
    return replace(seen, replica_logs=logs)


def settled_before(seen: Observation, plans: Plans, choose: Choice = controller_choice) -> Outcomes:
    """Outcomes that need no election: missing, online already, no candidate, refused."""
    outcomes = {tp: Outcome(OutcomeKind.FAILED, why) for tp, why in seen.missing.items()}
    for tp, state in seen.states.items():
        if not state.offline:
            before = seen.came_back.get(tp)
            why = None if before is None else came_back_text(state.leader, before)
            outcomes[tp] = Outcome(OutcomeKind.ALREADY_ONLINE, why)
    for tp, state in seen.led_by_the_dead.items():
        if tp in outcomes:
            why = f"it is led by {dead_leader_text(state, seen.cluster)}"
            outcomes[tp] = Outcome(OutcomeKind.FAILED, why)
    for tp, plan in plans.items():
        settled = refuse_or_settle(plan, plan.state, choose)
        if settled is not None:
            outcomes[tp] = settled
    return outcomes


def not_elected(plans: Iterable[PartitionPlan], reason: str) -> Outcomes:
    """The same failure for every plan."""
    outcome = Outcome(OutcomeKind.FAILED, reason)
    return {plan.state.topic_partition: outcome for plan in plans}


async def verify(
    reader: Reader, seen: Observation, plans: Plans, outcomes: Outcomes, after: States
) -> Report:
    """The report on the partitions as they are now; `after` are those already read back."""
    rest = sorted(seen.states.keys() - after.keys())
    problems = seen.problems
    try:
        now = {**after, **(await reader.partitions(rest))}
    except (ConnectionFailed, NoBrokerReachable, RequestFailed) as error:
        now = {**seen.states, **after}
        problems = (*problems, f"the partitions could not be read back: {error}")
    report = report_on(seen, plans, outcomes)
    rows = tuple(
        replace(row, state=now.get(row.topic_partition, row.state)) for row in report.partitions
    )
    return replace(report, partitions=rows, problems=problems)


def report_on(seen: Observation, plans: Plans, outcomes: Outcomes) -> Report:
    """The report on the partitions as they were observed."""
    rows = tuple(
        PartitionReport(tp, seen.states.get(tp), plans.get(tp), outcomes.get(tp))
        for tp in sorted({*seen.states, *seen.missing})
    )
    return Report(
        seen.cluster, rows, seen.problems, seen.silent_brokers, unknown=seen.witnesses.unknown
    )
