"""Looking once more, immediately before an election: does what its plan rests on still hold?

Offline, the same topic id, leader epoch and replica set, no reassignment; and the designated
replica still answers, with the log end offset that was planned on: its broker may have died, or
have come back without its tail, and be listed as live all the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kafka_unclean_recovery.cluster.error_codes import NONE, error_name
from kafka_unclean_recovery.cluster.errors import ConnectionFailed
from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.reading import Reader
from kafka_unclean_recovery.cluster.replica_probe import end_offsets
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.election_rules import refuse_or_settle
from kafka_unclean_recovery.model import (
    Cluster,
    Outcome,
    OutcomeKind,
    PartitionPlan,
    PartitionState,
    TopicPartition,
)

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
    nodes: Nodes, reader: Reader, plans: Mapping[TopicPartition, PartitionPlan]
) -> tuple[dict[TopicPartition, Outcome], dict[TopicPartition, Election]]:
    """(rows that are settled or refused, elections that may go ahead). `plans` is sorted.

    Raises NoBrokerReachable, ConnectionFailed, RequestFailed: then nothing may go ahead.
    """
    states, (cluster, _) = await asyncio.gather(
        reader.partitions_and_reassignments(list(plans)), reader.cluster()
    )
    outcomes: dict[TopicPartition, Outcome] = {}
    elections = {}
    for tp, plan in plans.items():
        now = states.get(tp)
        settled = refuse_or_settle(plan, now)
        if settled is not None:
            outcomes[tp] = settled
        elif now is not None:
            elections[tp] = Election(plan, now)
    for tp, reason in (await _changed_logs(nodes, cluster, elections)).items():
        del elections[tp]
        outcomes[tp] = Outcome(OutcomeKind.REFUSED, reason)
    return outcomes, elections


async def _changed_logs(
    nodes: Nodes, cluster: Cluster, elections: Mapping[TopicPartition, Election]
) -> dict[TopicPartition, str]:
    """Designated leaders that don't answer any more, or whose log is not the planned one."""
    by_leader: dict[int, list[TopicPartition]] = {}
    for tp, election in elections.items():
        by_leader.setdefault(election.leader, []).append(tp)
    answers = await asyncio.gather(
        *(_end_offsets(nodes, cluster, leader, tps) for leader, tps in by_leader.items())
    )
    return {
        tp: reason
        for found in answers
        for tp, answer in found.items()
        if (reason := _changed(elections[tp], answer)) is not None
    }


async def _end_offsets(
    nodes: Nodes, cluster: Cluster, leader: int, tps: Sequence[TopicPartition]
) -> dict[TopicPartition, int | str]:
    """Log end offset of each, or the reason why it is not known."""
    deadline = Deadline.after(_ANSWER_SECONDS)
    broker = cluster.brokers.get(leader)
    if broker is None:
        return dict.fromkeys(tps, "is not live any more")
    try:
        connection = await nodes.broker(broker, deadline)
        ends = await end_offsets(connection, tps, deadline)
    except ConnectionFailed as error:
        return dict.fromkeys(tps, f"does not answer any more ({error})")
    answers: dict[TopicPartition, int | str] = dict.fromkeys(tps, "left it out of its answer")
    for tp, end in ends.items():
        failed = f"answers {error_name(end.error)}"
        answers[tp] = end.log_end_offset if end.error == NONE else failed
    return answers


def _changed(election: Election, answer: int | str) -> str | None:
    leader, planned = election.leader, election.plan.ranking[0].log.log_end_offset
    if isinstance(answer, str):
        return f"broker {leader} {answer}"
    if answer != planned:
        return f"the log of broker {leader} ended at {planned}, now at {answer}; plan again"
    return None
