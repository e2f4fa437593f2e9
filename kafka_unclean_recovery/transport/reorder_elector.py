"""Electing exactly one replica on the controllers of today: reorder, elect uncleanly, restore.

An UNCLEAN election takes the first live replica in assignment order (election_rules.py), so the
chosen one is written first, by a reassignment to the same set that moves no data, and the original
order comes back afterwards. The order written is the whole ranking, best first: if the chosen one
is fenced at the last moment, the second best is elected, and the outcome says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_unclean_recovery.cluster.controller_requests import UNCLEAN, Answer, elect_leaders
from kafka_unclean_recovery.cluster.describe import RequestFailed
from kafka_unclean_recovery.cluster.error_codes import (
    ELECTION_NOT_NEEDED,
    NONE,
    error_name,
)
from kafka_unclean_recovery.cluster.errors import ConnectionFailed, NoBrokerReachable
from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.quorum import Controller, Unsure
from kafka_unclean_recovery.cluster.reading import Reader
from kafka_unclean_recovery.cluster.replica_probe import end_offsets
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.election_rules import judge, refuse_or_settle
from kafka_unclean_recovery.journal import Journal, Reordered
from kafka_unclean_recovery.model import (
    Cluster,
    Outcome,
    OutcomeKind,
    PartitionPlan,
    PartitionState,
    TopicPartition,
)
from kafka_unclean_recovery.transport.replica_order import ReplicaOrder

_POLL_SECONDS = 0.05
_READ_BACK_SECONDS = 10.0
_CONFIRM_SECONDS = 5.0
_RETRY_SECONDS = 0.5

Outcomes = dict[TopicPartition, Outcome]


@dataclass(frozen=True, slots=True)
class _Election:
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


class ReorderElector:
    """An Elector; see the protocol in transport/__init__.py. At most 1000 plans a call.

    `retries` is how often a passing failure of an election is tried again.
    """

    def __init__(
        self,
        nodes: Nodes,
        reader: Reader,
        controller: Controller,
        journal: Journal,
        say: Callable[[str], None],
        retries: int = 3,
    ) -> None:
        self._nodes = nodes
        self._reader = reader
        self._controller = controller
        self._journal = journal
        self._order = ReplicaOrder(controller, reader, journal)
        self._say = say
        self._retries = retries

    async def elect(self, plans: Sequence[PartitionPlan]) -> Outcomes:
        by_partition = {plan.state.topic_partition: plan for plan in plans}
        outcomes, elections = await self._observe_again(by_partition)
        if elections:
            try:
                outcomes |= await self._carry_out(elections)
            except (ConnectionFailed, NoBrokerReachable) as error:
                lost = f"the cluster was lost in the middle ({error}); the journal stays open"
                outcomes |= dict.fromkeys(elections, Outcome(OutcomeKind.FAILED, lost))
        self._journal.write(
            "outcome", partitions=[_outcome_line(tp, outcomes[tp]) for tp in outcomes]
        )
        return outcomes

    async def _observe_again(
        self, plans: Mapping[TopicPartition, PartitionPlan]
    ) -> tuple[Outcomes, dict[TopicPartition, _Election]]:
        """Which rows what they rest on still holds for, immediately before the election."""
        states = await self._reader.partitions_and_reassignments(sorted(plans))
        outcomes: Outcomes = {}
        elections = {}
        for tp, plan in plans.items():
            now = states.get(tp)
            settled = refuse_or_settle(plan, now)
            if settled is not None:
                outcomes[tp] = settled
            elif now is not None:
                elections[tp] = _Election(plan, now)
        for tp, reason in (await self._changed_logs(elections)).items():
            del elections[tp]
            outcomes[tp] = Outcome(OutcomeKind.REFUSED, reason)
        return outcomes, elections

    async def _changed_logs(
        self, elections: Mapping[TopicPartition, _Election]
    ) -> dict[TopicPartition, str]:
        """Designated leaders that don't answer any more, or whose log is not the planned one."""
        cluster, _ = await self._reader.cluster()
        by_leader: dict[int, list[TopicPartition]] = {}
        for tp, election in sorted(elections.items()):
            by_leader.setdefault(election.leader, []).append(tp)
        answers = await asyncio.gather(
            *(self._end_offsets(cluster, leader, tps) for leader, tps in by_leader.items())
        )
        reasons = {tp: answer for found in answers for tp, answer in found.items()}
        return {
            tp: reason
            for tp, answer in reasons.items()
            if (reason := _log_changed(elections[tp], answer))
        }

    async def _end_offsets(
        self, cluster: Cluster, leader: int, tps: Sequence[TopicPartition]
    ) -> dict[TopicPartition, int | str]:
        """Log end offset of each, or the reason why it is not known."""
        deadline = Deadline.after(_CONFIRM_SECONDS)
        broker = cluster.brokers.get(leader)
        if broker is None:
            return dict.fromkeys(tps, "is not live any more")
        try:
            connection = await self._nodes.broker(broker, deadline)
            ends = await end_offsets(connection, tps, deadline)
        except ConnectionFailed as error:
            return dict.fromkeys(tps, f"does not answer any more ({error})")
        return {
            tp: ends[tp].log_end_offset
            if tp in ends and ends[tp].error == NONE
            else f"answers {error_name(ends[tp].error) if tp in ends else 'nothing'}"
            for tp in tps
        }

    async def _carry_out(self, elections: Mapping[TopicPartition, _Election]) -> Outcomes:
        """Journal, reorder, elect, restore, read back."""
        steps = [_step(tp, e) for tp, e in elections.items() if e.needs_order]
        if steps:
            reordered = [_step_line(e) for e in elections.values() if e.needs_order]
            self._journal.write("reorder", partitions=reordered)
        self._journal.write("elect", partitions=[_elect_line(e) for e in elections.values()])
        said = await self._until_elected(elections)
        not_restored = await self._order.restore(steps) if steps else []
        for sentence in not_restored:
            self._say(sentence)
        after = await self._read_back(elections, said)
        return {
            tp: _with_order(
                judge(e.leader, e.before, after.get(tp), said.get(tp)), tp, not_restored
            )
            for tp, e in elections.items()
        }

    async def _until_elected(
        self, elections: Mapping[TopicPartition, _Election]
    ) -> dict[TopicPartition, str]:
        """Kafka's error for each partition that got no leader, after all retries."""
        said: dict[TopicPartition, str] = {}
        pending = dict(elections)
        for attempt in range(1 + self._retries):
            if attempt:
                await asyncio.sleep(_RETRY_SECONDS)
            try:
                said |= await self._reorder_and_elect(pending)
            except Unsure as error:
                said |= dict.fromkeys(pending, error.reason)
                if not await self._settled(error.reason):
                    break
                states = await self._reader.partitions(sorted(pending))
                pending = {tp: e for tp, e in pending.items() if _still(states.get(tp), e)}
            except RequestFailed as error:
                said |= dict.fromkeys(pending, str(error))
                break
            else:
                pending = {tp: e for tp, e in pending.items() if tp in said}
            if not pending:
                break
        return said

    async def _settled(self, reason: str) -> bool:
        try:
            await self._controller.settle(reason)
        except Unsure as error:
            self._say(f"giving up: {error.reason}; the journal stays open")
            return False
        return True

    async def _reorder_and_elect(
        self, pending: Mapping[TopicPartition, _Election]
    ) -> dict[TopicPartition, str]:
        """One try. Raises Unsure when any part of it may or may not have been carried out."""
        orders = {tp: e.plan.order for tp, e in pending.items() if e.needs_order}
        refused = _errors(await self._order.write(orders)) if orders else {}
        self._raise_if_unsure(refused.values())
        wanted = [tp for tp in pending if tp not in refused]
        answers = {}
        if wanted:
            answers = await self._controller.ask(
                lambda connection, deadline: elect_leaders(connection, UNCLEAN, wanted, deadline)
            )
        failed = {
            tp: answer
            for tp, answer in _errors(answers).items()
            if answer.error != ELECTION_NOT_NEEDED
        }
        self._raise_if_unsure(failed.values())
        return {tp: _sentence(answer) for tp, answer in (refused | failed).items()}

    def _raise_if_unsure(self, answers: Iterable[Answer]) -> None:
        unsure = [a for a in answers if self._controller.unsure(a.error)]
        if unsure:
            raise Unsure(_sentence(unsure[0]))

    async def _read_back(
        self, elections: Iterable[TopicPartition], said: Mapping[TopicPartition, str]
    ) -> dict[TopicPartition, PartitionState]:
        """The partitions once all that were elected show a leader, or when time is up."""
        wanted = sorted(elections)
        deadline = Deadline.after(_READ_BACK_SECONDS)
        while True:
            states = await self._reader.partitions(wanted)
            waiting = [tp for tp in wanted if tp not in said and tp in states]
            if not any(states[tp].offline for tp in waiting) or deadline.expired:
                return states
            await asyncio.sleep(_POLL_SECONDS)


def _errors(answers: Mapping[TopicPartition, Answer]) -> dict[TopicPartition, Answer]:
    return {tp: answer for tp, answer in answers.items() if answer.error != NONE}


def _sentence(answer: Answer) -> str:
    return f"{error_name(answer.error)}: {answer.message or 'no reason given'}"


def _still(now: PartitionState | None, election: _Election) -> bool:
    return now is not None and now.offline and now.topic_id == election.before.topic_id


def _log_changed(election: _Election, answer: int | str) -> str | None:
    if isinstance(answer, str):
        return f"broker {election.leader} {answer}"
    planned = election.plan.ranking[0].log.log_end_offset
    if answer != planned:
        return (
            f"the log of broker {election.leader} ended at {planned}, now at {answer}; plan again"
        )
    return None


def _with_order(outcome: Outcome, tp: TopicPartition, not_restored: Sequence[str]) -> Outcome:
    mine = [sentence for sentence in not_restored if sentence.startswith(f"{tp}: ")]
    if not mine:
        return outcome
    return Outcome(OutcomeKind.FAILED, "; ".join([*filter(None, [outcome.reason]), *mine]))


def _step(tp: TopicPartition, election: _Election) -> Reordered:
    before = election.before
    return Reordered(tp, before.topic_id, before.replicas, election.plan.order, at_ms=0)


def _step_line(election: _Election) -> dict[str, Any]:
    before = election.before
    return {
        "topic": before.topic,
        "topic_id": before.topic_id,
        "partition": before.partition,
        "original": before.replicas,
        "written": election.plan.order,
        "leader_epoch": before.leader_epoch,
        "designated_leader": election.leader,
    }


def _elect_line(election: _Election) -> dict[str, Any]:
    return {
        "topic": election.before.topic,
        "partition": election.before.partition,
        "designated_leader": election.leader,
    }


def _outcome_line(tp: TopicPartition, outcome: Outcome) -> dict[str, Any]:
    return {
        "topic": tp.topic,
        "partition": tp.partition,
        "outcome": outcome.kind,
        "reason": outcome.reason,
    }
