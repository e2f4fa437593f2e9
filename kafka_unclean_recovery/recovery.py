"""The phases after observing: plan, elect in batches, verify, report. Knows no broker, only the
protocols of transport/__init__.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from kafka_unclean_recovery.cluster.describe import RequestFailed
from kafka_unclean_recovery.cluster.errors import ConnectionFailed, NoBrokerReachable
from kafka_unclean_recovery.cluster.reading import Reader
from kafka_unclean_recovery.election_rules import refuse_or_settle
from kafka_unclean_recovery.journal import JournalError
from kafka_unclean_recovery.model import (
    Outcome,
    OutcomeKind,
    PartitionPlan,
    PartitionReport,
    Report,
    TopicPartition,
)
from kafka_unclean_recovery.observation import Observation
from kafka_unclean_recovery.plan import plan_partition
from kafka_unclean_recovery.stopping import Stop
from kafka_unclean_recovery.transport import Elector

BATCH = 1000

Plans = dict[TopicPartition, PartitionPlan]
Outcomes = dict[TopicPartition, Outcome]


def plan_recovery(seen: Observation) -> Plans:
    """A plan for each offline partition, by topic and partition."""
    return {
        tp: plan_partition(seen.states[tp], logs) for tp, logs in sorted(seen.replica_logs.items())
    }


def settled_before(seen: Observation, plans: Plans) -> Outcomes:
    """Outcomes that need no election: missing, online already, no candidate, refused."""
    outcomes = {tp: Outcome(OutcomeKind.FAILED, why) for tp, why in seen.missing.items()}
    for tp, state in seen.states.items():
        if not state.offline:
            outcomes[tp] = Outcome(OutcomeKind.ALREADY_ONLINE)
    for tp, plan in plans.items():
        settled = refuse_or_settle(plan, plan.state)
        if settled is not None:
            outcomes[tp] = settled
    return outcomes


async def elect_planned(
    elector: Elector,
    every: Plans,
    settled: Outcomes,
    stop: Stop,
    progress: Callable[[str], None],
) -> Outcomes:
    """Elect what is not settled, batch by batch; when asked to stop, the batch in hand is finished
    and no other begins."""
    plans = [plan for tp, plan in every.items() if tp not in settled]
    outcomes: Outcomes = {}
    for start in range(0, len(plans), BATCH):
        batch = plans[start : start + BATCH]
        if stop.requested:
            outcomes |= not_elected(batch, "interrupted before its election began")
            continue
        try:
            outcomes |= await elector.elect(batch)
        except (ConnectionFailed, NoBrokerReachable, RequestFailed, JournalError) as error:
            outcomes |= not_elected(batch, f"nothing was sent: {error}")
        progress(f"{start + len(batch)} of {len(plans)} partitions done")
    return outcomes


def not_elected(plans: Iterable[PartitionPlan], reason: str) -> Outcomes:
    """The same failure for every plan."""
    outcome = Outcome(OutcomeKind.FAILED, reason)
    return {plan.state.topic_partition: outcome for plan in plans}


async def verify(
    reader: Reader, seen: Observation, plans: Plans, outcomes: Mapping[TopicPartition, Outcome]
) -> Report:
    """The report on the partitions as they are now."""
    known = sorted(seen.states)
    try:
        now = await reader.partitions(known)
        problems = seen.problems
    except (ConnectionFailed, NoBrokerReachable, RequestFailed) as error:
        now = dict(seen.states)
        problems = (*seen.problems, f"the partitions could not be read back: {error}")
    report = report_on(seen, plans, outcomes)
    rows = tuple(
        replace(row, state=now.get(row.topic_partition, row.state)) for row in report.partitions
    )
    return replace(report, partitions=rows, problems=problems)


def report_on(
    seen: Observation, plans: Plans, outcomes: Mapping[TopicPartition, Outcome]
) -> Report:
    """The report on the partitions as they were observed."""
    rows = tuple(
        PartitionReport(tp, seen.states.get(tp), plans.get(tp), outcomes.get(tp))
        for tp in sorted({*seen.states, *seen.missing})
    )
    return Report(seen.cluster, rows, seen.problems, seen.silent_brokers)
