"""Observe partitions once more, immediately before an election, to see that their plans still hold.

The partition must be offline, with the same topic id, leader epoch and replica set, and without a
reassignment. The designated replica must still answer with the planned log end offset, and from the
same process where that can be told: its broker may have died, or have come back without its tail,
and be listed as live all the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kafka_unclean_recovery.cluster.reading import Reader
from kafka_unclean_recovery.cluster.requests.describe import Described
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.model import (
    Cluster,
    Outcome,
    OutcomeKind,
    PartitionPlan,
    PartitionState,
    ReplicaLog,
    TopicPartition,
)
from kafka_unclean_recovery.planning.election_rules import Choice, refuse_or_settle
from kafka_unclean_recovery.transport import ReplicaLogSource

_ANSWER_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Election:
    """One election that may go ahead: the plan, and the partition as observed just before."""

    plan: PartitionPlan
    before: PartitionState

    @property
    def leader(self) -> int:
        assert self.plan.designated_leader is not None
        return self.plan.designated_leader

    @property
    def needs_order(self) -> bool:
        return self.plan.order != self.before.replicas


async def observe_again(
    reader: Reader,
    source: ReplicaLogSource,
    plans: Mapping[TopicPartition, PartitionPlan],
    choose: Choice,
) -> tuple[dict[TopicPartition, Outcome], dict[TopicPartition, Election]]:
    """Return (outcomes of partitions that are settled or refused, elections that may go ahead).
    `plans` is sorted.

    Raises Behind, NoBrokerReachable, ConnectionFailed, RequestFailed: then no election may go
    ahead.
    """

    async def look() -> tuple[Described, Cluster]:
        seen, (cluster, _) = await asyncio.gather(
            reader.described_with_reassignments(list(plans)), reader.cluster()
        )
        return seen, cluster

    # A broker that is behind hides brokers that came back, and tells outdated replica sets: writing
    # such a set would begin a reassignment.
    seen, cluster = await reader.current(look)
    outcomes: dict[TopicPartition, Outcome] = {}
    elections = {}
    for tp, plan in plans.items():
        if tp in seen.untold:
            why = f"it could not be looked at again ({seen.untold[tp]})"
            outcomes[tp] = Outcome(OutcomeKind.REFUSED, why)
            continue
        now = seen.states.get(tp)
        settled = refuse_or_settle(plan, now, choose)
        if settled is not None:
            outcomes[tp] = settled
        elif now is not None:
            elections[tp] = Election(plan, now)
    for tp, reason in (await _changed_logs(source, cluster, elections)).items():
        del elections[tp]
        outcomes[tp] = Outcome(OutcomeKind.REFUSED, reason)
    return outcomes, elections


async def _changed_logs(
    source: ReplicaLogSource, cluster: Cluster, elections: Mapping[TopicPartition, Election]
) -> dict[TopicPartition, str]:
    """Return why designated leaders don't answer any more, or have another log than planned."""
    by_leader: dict[int, list[Election]] = {}
    for election in elections.values():
        by_leader.setdefault(election.leader, []).append(election)
    found = await asyncio.gather(
        *(_changes_of(source, cluster, leader, of_it) for leader, of_it in by_leader.items())
    )
    return {tp: reason for changes in found for tp, reason in changes.items()}


async def _changes_of(
    source: ReplicaLogSource, cluster: Cluster, leader: int, elections: Sequence[Election]
) -> dict[TopicPartition, str]:
    """Return why one broker can't lead its elections any more."""
    before = {election.before.topic_partition: election for election in elections}
    broker = cluster.brokers.get(leader)
    if broker is None:
        return dict.fromkeys(before, f"broker {leader} is not live any more")
    try:
        states = [election.before for election in elections]
        logs = await source.log_ends(broker, states, Deadline.after(_ANSWER_SECONDS))
    except ConnectionFailed as error:
        return dict.fromkeys(before, f"broker {leader} does not answer any more ({error})")
    return {
        tp: reason
        for tp, election in before.items()
        if (reason := _changed(election, logs[tp])) is not None
    }


def _changed(election: Election, now: ReplicaLog) -> str | None:
    leader, planned = election.leader, election.plan.ranking[0].log
    if now.problem is not None:
        return f"broker {leader} does not tell its log end any more: {now.problem}"
    if None not in (planned.broker_epoch, now.broker_epoch) and (
        planned.broker_epoch != now.broker_epoch
    ):
        return (
            f"broker {leader} has started again since (broker epoch {planned.broker_epoch}, now"
            f" {now.broker_epoch}); plan again"
        )
    if now.log_end_offset != planned.log_end_offset:
        return (
            f"the log of broker {leader} ended at {planned.log_end_offset}, now at"
            f" {now.log_end_offset}; plan again"
        )
    return None
