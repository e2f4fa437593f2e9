"""Electing exactly one replica on the controllers of today: reorder, elect uncleanly, restore.

An UNCLEAN election takes the first live replica in assignment order (election_rules.py), so the
chosen one is written first, by a reassignment to the same set that moves no data, and the original
order comes back afterwards. The order written is the whole ranking, best first: if the chosen one
is fenced at the last moment, the second best is elected, and the outcome says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from kafka_unclean_recovery.cluster.controller_requests import UNCLEAN, Answer, elect_leaders
from kafka_unclean_recovery.cluster.describe import RequestFailed
from kafka_unclean_recovery.cluster.error_codes import ELECTION_NOT_NEEDED, NONE, error_name
from kafka_unclean_recovery.cluster.errors import ConnectionFailed, NoBrokerReachable
from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.quorum import Controller, Unsure
from kafka_unclean_recovery.cluster.reading import Reader
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.election_rules import judge
from kafka_unclean_recovery.journal import Journal, JournalError, Reordered
from kafka_unclean_recovery.model import (
    Outcome,
    OutcomeKind,
    PartitionPlan,
    PartitionState,
    TopicPartition,
)
from kafka_unclean_recovery.stopping import Stop
from kafka_unclean_recovery.transport import Elections
from kafka_unclean_recovery.transport.observe_again import Election, observe_again
from kafka_unclean_recovery.transport.replica_order import (
    BATCH,
    Complaints,
    ReplicaOrder,
    not_restored,
)

_POLL_SECONDS = 0.02
_READ_BACK_SECONDS = 10.0
_RETRY_SECONDS = 0.5

Outcomes = dict[TopicPartition, Outcome]
Carried = dict[TopicPartition, Election]
_LOST = (ConnectionFailed, NoBrokerReachable)


class ReorderElector:
    """An Elector; see the protocol in transport/__init__.py.

    `say` and `progress` take sentences for people; `retries` is how often a passing failure of an
    election is tried again.
    """

    def __init__(
        self,
        nodes: Nodes,
        reader: Reader,
        controller: Controller,
        journal: Journal,
        stop: Stop,
        say: Callable[[str], None],
        progress: Callable[[str], None],
        retries: int = 3,
    ) -> None:
        self._nodes = nodes
        self._reader = reader
        self._controller = controller
        self._journal = journal
        self._stop = stop
        self._order = ReplicaOrder(controller, reader, journal)
        self._say = say
        self._progress = progress
        self._retries = retries
        self._left: Complaints = {}

    async def elect(self, plans: Sequence[PartitionPlan]) -> Elections:
        outcomes: Outcomes = {}
        carried: Carried = {}
        said: dict[TopicPartition, str] = {}
        for start in range(0, len(plans), BATCH):
            batch = {plan.state.topic_partition: plan for plan in plans[start : start + BATCH]}
            not_begun = self._why_not_begin()
            if not_begun is not None:
                outcomes |= _all_failed(batch, not_begun)
                continue
            try:
                settled, elections = await observe_again(self._nodes, self._reader, batch)
                self._announce(elections)
            except (*_LOST, RequestFailed, JournalError) as error:
                outcomes |= _all_failed(batch, f"nothing was sent: {error}")
                continue
            outcomes |= settled
            carried |= elections
            self._progress(f"electing {start + len(batch)} of {len(plans)} partitions")
            said |= await self._carry_out(elections)
        try:
            elections_made = await self._conclude(carried, said)
        except (*_LOST, JournalError) as error:
            unfinished = f"not finished: {error}; the journal stays open, --resume finishes it"
            elections_made = Elections(_all_failed(carried, unfinished), {})
        return Elections(outcomes | elections_made.outcomes, elections_made.after)

    def _why_not_begin(self) -> str | None:
        if self._stop.requested:
            return "interrupted before its election began"
        if self._left:
            return "not begun: what the controller does is not certain"
        return None

    def _announce(self, elections: Carried) -> None:
        """What is about to be changed is on the disk before it is. Raises JournalError."""
        reordered = [_reorder_line(e) for e in elections.values() if e.needs_order]
        if reordered:
            self._journal.note("reorder", partitions=reordered)
        if elections:
            self._journal.write("elect", partitions=[_elect_line(e) for e in elections.values()])

    async def _carry_out(self, elections: Carried) -> dict[TopicPartition, str]:
        """Reorder, elect, put the order back. Kafka's error for each that got no leader."""
        if not elections:
            return {}
        try:
            said = await self._until_elected(elections)
        except _LOST as error:
            said = dict.fromkeys(elections, str(error))
        steps = _steps(elections)
        reason = await self._order.put_back(steps)
        if reason is not None:
            self._left |= {s.topic_partition: not_restored(s, reason) for s in steps}
        return said

    async def _until_elected(self, elections: Carried) -> dict[TopicPartition, str]:
        """Kafka's error for each partition that got no leader, after all retries."""
        said: dict[TopicPartition, str] = {}
        pending = dict(elections)
        for attempt in range(1 + self._retries):
            if attempt:
                await asyncio.sleep(_RETRY_SECONDS)
            try:
                failed = await self._reorder_and_elect(pending)
            except Unsure as error:
                said = dict.fromkeys(pending, error.reason)
                if not await self._settled(error.reason):
                    break
                states = await self._reader.partitions(sorted(pending))
                pending = {tp: e for tp, e in pending.items() if _still(states.get(tp), e)}
            except RequestFailed as error:
                return dict.fromkeys(pending, str(error))
            else:
                said = failed
                pending = {tp: e for tp, e in pending.items() if tp in failed}
            if not pending:
                return {}
        return said

    async def _settled(self, reason: str) -> bool:
        try:
            await self._controller.settle(reason)
        except Unsure as error:
            self._say(f"giving up: {error.reason}; the journal stays open")
            return False
        return True

    async def _reorder_and_elect(self, pending: Carried) -> dict[TopicPartition, str]:
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

    async def _conclude(self, carried: Carried, said: Mapping[TopicPartition, str]) -> Elections:
        """Read everything back, judge it, and close in the journal what is as it was."""
        if not carried:
            return Elections({}, {})
        after = await self._read_back(carried, said)
        # What a request given up may still change is not done, whatever the metadata shows now.
        steps = {step.topic_partition: step for step in _steps(carried)}
        pending = {tp: step for tp, step in steps.items() if tp not in self._left}
        not_back = self._left | self._order.release(pending, after)
        not_back |= await self._order.restore(list(pending.values()))
        outcomes = {
            tp: _with_order(
                judge(e.leader, e.before, after.get(tp), said.get(tp)), not_back.get(tp)
            )
            for tp, e in carried.items()
        }
        self._journal.note("outcome", partitions=[_outcome_line(*row) for row in outcomes.items()])
        return Elections(outcomes, after)

    async def _read_back(
        self, carried: Carried, said: Mapping[TopicPartition, str]
    ) -> dict[TopicPartition, PartitionState]:
        """The partitions once leader and order are seen, or when time is up.

        Metadata reaches a broker in the order it was written: the last partition is watched, and
        only when that is there all are read.
        """
        wanted = sorted(carried)
        deadline = Deadline.after(_READ_BACK_SECONDS)
        watched = wanted[-1:]
        while True:
            states = await self._reader.partitions(watched)
            if all(_seen(carried[tp], states.get(tp), tp in said) for tp in watched):
                if len(watched) == len(wanted):
                    return states
                watched = wanted
                continue
            if deadline.expired:
                return await self._reader.partitions(wanted)
            await asyncio.sleep(_POLL_SECONDS)


def _all_failed(partitions: Iterable[TopicPartition], reason: str) -> Outcomes:
    return dict.fromkeys(partitions, Outcome(OutcomeKind.FAILED, reason))


def _errors(answers: Mapping[TopicPartition, Answer]) -> dict[TopicPartition, Answer]:
    return {tp: answer for tp, answer in answers.items() if answer.error != NONE}


def _sentence(answer: Answer) -> str:
    return f"{error_name(answer.error)}: {answer.message or 'no reason given'}"


def _still(now: PartitionState | None, election: Election) -> bool:
    return now is not None and now.offline and now.topic_id == election.before.topic_id


def _seen(election: Election, now: PartitionState | None, failed: bool) -> bool:
    """A leader, unless none was elected, and the order as it was."""
    if now is None or now.topic_id != election.before.topic_id:
        return True
    return (failed or not now.offline) and now.replicas == election.before.replicas


def _with_order(outcome: Outcome, not_back: str | None) -> Outcome:
    """An election whose order could not be put back is no success, whoever leads."""
    if not_back is None:
        return outcome
    return Outcome(OutcomeKind.FAILED, "; ".join(filter(None, [outcome.reason, not_back])))


def _steps(elections: Carried) -> list[Reordered]:
    return [
        Reordered(tp, e.before.topic_id, e.before.replicas, e.plan.order, at_ms=0)
        for tp, e in elections.items()
        if e.needs_order
    ]


def _reorder_line(election: Election) -> dict[str, Any]:
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


def _elect_line(election: Election) -> dict[str, Any]:
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
