"""Electing exactly one replica on the controllers of today: reorder, elect uncleanly, restore.

An UNCLEAN election takes the first live replica in assignment order (election_rules.py), so the
chosen one is written first, by a reassignment to the same set that moves no data, and the original
order comes back afterwards. The order written is the whole ranking, best first: if the chosen one
is fenced at the last moment, the second best is elected, and the outcome says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kafka_unclean_recovery.cluster.controller_requests import UNCLEAN, elect_leaders
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.election_rules import controller_choice, judge
from kafka_unclean_recovery.journal import JournalError, Reordered
from kafka_unclean_recovery.model import Outcome, OutcomeKind, PartitionPlan, TopicPartition
from kafka_unclean_recovery.transport import Elections
from kafka_unclean_recovery.transport.electing import (
    LOST,
    AnsweredLate,
    Carried,
    Means,
    Said,
    all_failed,
    elect_in_batches,
    elect_line,
    errors,
    failures,
    outcome_line,
    raise_if_unsure,
    read_back,
    sentence,
    until_elected,
)
from kafka_unclean_recovery.transport.observe_again import Election
from kafka_unclean_recovery.transport.replica_order import (
    BATCH,
    Complaints,
    ReplicaOrder,
    not_restored,
)

SOON_SECONDS = 1.0
"""How long the new order may take; a paused controller answers after up to 30 s, in which a broker
may come back. Later than that there is another look before the election."""


class ReorderElector:
    """An Elector (the protocol in transport/__init__.py), and a Mechanism (electing.py)."""

    batch = BATCH
    choose = staticmethod(controller_choice)

    def __init__(self, means: Means) -> None:
        self._means = means
        self._order = ReplicaOrder(means.controller, means.reader, means.journal)
        self._left: Complaints = {}
        self._written: frozenset[TopicPartition] = frozenset()

    async def elect(self, plans: Sequence[PartitionPlan]) -> Elections:
        return await elect_in_batches(self, self._means, plans)

    @property
    def certain(self) -> bool:
        return not self._left

    def announce(self, elections: Carried) -> None:
        reordered = [_reorder_line(e) for e in elections.values() if e.needs_order]
        if reordered:
            self._means.journal.note("reorder", partitions=reordered)
        if elections:
            lines = [elect_line(e) for e in elections.values()]
            self._means.journal.write("elect", partitions=lines)

    async def carry_out(self, elections: Carried) -> Said:
        """Reorder, elect, put the order back."""
        try:
            attempt = self._reorder_and_elect
            said = (await until_elected(self._means, elections, self.choose, attempt)).said
        except LOST as error:
            said = dict.fromkeys(elections, str(error))
        steps = _steps(elections)
        reason = await self._order.put_back(steps)
        if reason is not None:
            self._left |= {s.topic_partition: not_restored(s, reason) for s in steps}
        return said

    async def _reorder_and_elect(self, pending: Carried) -> Said:
        """One try; see until_elected."""
        controller = self._means.controller
        # Once: whatever happens after the next try, the order is written again.
        there, self._written = self._written, frozenset()
        orders = {
            tp: e.plan.order for tp, e in pending.items() if e.needs_order and tp not in there
        }
        soon = Deadline.after(SOON_SECONDS)
        refused = errors(await self._order.write(orders)) if orders else {}
        raise_if_unsure(controller, refused.values())
        written = frozenset(orders) - refused.keys()
        if soon.expired and written and not there:
            self._written = written
            raise AnsweredLate
        wanted = [tp for tp in pending if tp not in refused]
        answers = {}
        if wanted:
            answers = await controller.ask(
                lambda connection, deadline: elect_leaders(connection, UNCLEAN, wanted, deadline)
            )
        failed = failures(answers)
        raise_if_unsure(controller, failed.values())
        return {tp: sentence(answer) for tp, answer in (refused | failed).items()}

    async def conclude(self, carried: Carried, said: Said) -> Elections:
        try:
            return await self._conclude(carried, said)
        except (*LOST, JournalError) as error:
            unfinished = f"not finished: {error}; the journal stays open, --resume finishes it"
            return Elections(all_failed(carried, unfinished), {})

    async def _conclude(self, carried: Carried, said: Said) -> Elections:
        """Read everything back, judge it, and close in the journal what is as it was."""
        after = await read_back(self._means.reader, carried, said)
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
        lines = [outcome_line(*row) for row in outcomes.items()]
        self._means.journal.note("outcome", partitions=lines)
        return Elections(outcomes, after)


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
