"""Elect exactly one replica on released controllers: reorder, elect uncleanly, restore.

An UNCLEAN election takes the first live replica in assignment order (election_rules.py), so the
designated replica is written first, by a reassignment to the same set that moves no data. The order
is read back before any election: if the controller answered NONE and did nothing, the first replica
of the old order would lead. The original order is restored afterwards. The written order is the
whole ranking, best first: if the designated replica is fenced at the last moment, the second best
is elected, and the outcome says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from kafka_unclean_recovery.cluster.requests.controller_requests import PartitionResult
from kafka_unclean_recovery.cluster.requests.describe import Described
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.documents.journal import Event
from kafka_unclean_recovery.documents.journal_lines import JournalError, Reordered
from kafka_unclean_recovery.model import Outcome, OutcomeKind, PartitionPlan, TopicPartition
from kafka_unclean_recovery.planning.election_rules import controller_choice
from kafka_unclean_recovery.transport import Elections
from kafka_unclean_recovery.transport.electing import (
    LOST,
    NOT_CERTAIN,
    Carried,
    Means,
    Said,
    all_in_doubt,
    elect_in_batches,
    elect_line,
    elect_uncleanly,
    errors,
    judged,
    outcome_line,
    raise_if_unsure,
    read_back,
    until_elected,
    why_not_elected,
)
from kafka_unclean_recovery.transport.gate import LookTooOld
from kafka_unclean_recovery.transport.observe_again import DueElection
from kafka_unclean_recovery.transport.replica_order import (
    BATCH,
    OTHER_ORDER,
    Complaints,
    NotSeen,
    ReplicaOrder,
    not_restored,
    why_not_ours,
)
from kafka_unclean_recovery.transport.unregistered import (
    Brokers,
    Reduced,
    leave_out,
    left_text,
    reduce_line,
    refused_text,
    without,
)
from kafka_unclean_recovery.wording import brokers_text

SOON_SECONDS = 1.0
"""The time in which the new order must be seen. A paused controller answers after up to 30 s, in
which a broker may come back, so after this time the partitions are observed again before the
election."""
_LATE = "the controller took so long that what had been seen before is too old to elect by"


class ReorderElector:
    """An Elector (the protocol in transport/__init__.py), and a Mechanism (electing.py)."""

    batch = BATCH
    choose = staticmethod(controller_choice)

    def __init__(self, means: Means) -> None:
        self._means = means
        self._order = ReplicaOrder(means.controller, means.reader, means.journal)
        self._left: Complaints = {}
        self._left_alone: Complaints = {}
        self._gone: set[TopicPartition] = set()
        self._refused: set[TopicPartition] = set()
        self._reduced: Reduced = {}
        self._not_put_back: Complaints = {}
        self._not_written: Said | None = None
        # Those that stood in our order before, so that it is not written.
        self._in_order: set[TopicPartition] = set()
        self._unseen: str | None = None
        self._unanswered: set[TopicPartition] = set()

    async def elect(self, plans: Sequence[PartitionPlan]) -> Elections:
        return await elect_in_batches(self, self._means, plans)

    @property
    def obstacle(self) -> str | None:
        return NOT_CERTAIN if self._left else self._unseen

    async def announce(self, elections: Carried) -> None:
        reordered = [_reorder_line(e) for e in elections.values() if e.needs_order]
        lines: list[tuple[Event, dict[str, Any]]] = []
        if reordered:
            lines.append(("reorder", {"partitions": reordered}))
        if elections:
            electing = [elect_line(e) for e in elections.values()]
            lines.append(("elect", {"partitions": electing}))
            await asyncio.to_thread(self._means.journal.announce, *lines)

    async def carry_out(self, elections: Carried) -> Said:
        """Reorder, elect, and put the order back."""
        self._not_written = None
        self._in_order = {tp for tp, e in elections.items() if not e.needs_order}
        try:
            attempt = self._reorder_and_elect
            tried = await until_elected(
                self._means, elections, self.choose, attempt, self._why_not_in_order
            )
            self._unanswered |= tried.unanswered
            said = tried.said
        except NotSeen as error:
            self._unseen = str(error)
            said = dict.fromkeys(elections, f"nobody was elected: {error}")
        except JournalError as error:
            said = dict.fromkeys(elections, str(error))
            await asyncio.to_thread(self._means.journal.take_back)
        except LOST as error:
            said = dict.fromkeys(elections, str(error))
        self._close_refused(elections, said)
        over = {*self._refused, *self._reduced}
        steps = [s for s in _steps(elections) if s.topic_partition not in over]
        back = await self._order.put_back(steps)
        self._not_put_back |= back.failed
        self._left_alone |= back.left_alone
        self._gone |= back.gone
        if back.unsure is not None:
            over = {*back.left_alone, *back.gone}
            left = {s.topic_partition: s for s in steps if s.topic_partition not in over}
            self._left |= {tp: not_restored(step, back.unsure) for tp, step in left.items()}
        return said

    def _close_refused(self, elections: Carried, said: Said) -> None:
        """Note that orders which were never written, refused or kept back, need not be put back."""
        announced = {tp for tp, e in elections.items() if e.needs_order and tp not in self._reduced}
        refused = {tp: said.get(tp, "") for tp in announced - self._order.maybe_written}
        self._refused |= refused.keys()
        self._order.note_refused(refused)

    async def _reorder_and_elect(self, pending: Carried) -> Said:
        """Make one try; see until_elected."""
        # After another observation the orders are already written; the failures to write them are
        # kept.
        written_before, self._not_written = self._not_written, None
        soon = Deadline.after(SOON_SECONDS)
        if written_before is None:
            failed = await self._write(pending)
            written = [e for tp, e in pending.items() if e.needs_order and tp not in failed]
            if written and (late := await self._why_late(written, soon)) is not None:
                self._not_written = failed
                raise LookTooOld(late)
            if written:
                failed |= await self._changed_meanwhile(pending)
        else:
            failed = {tp: why for tp, why in written_before.items() if tp in pending}
        wanted = [tp for tp in pending if tp not in failed]
        try:
            return failed | (await self._elect(wanted) if wanted else {})
        except LookTooOld:
            self._not_written = failed
            raise

    def _why_not_in_order(self, now: DueElection) -> str | None:
        """Return why the next try would elect by another order than ours, which it does not write:
        somebody else has changed it. None where it stands, or is written first."""
        tp = now.before.topic_partition
        tried = self._not_written
        written_first = tried is None and tp not in self._in_order
        if written_first or (tried is not None and tp in tried):
            return None
        ours = self._reduced.get(tp, now.plan.order)
        # Replicas that are about to leave the set stand behind the others.
        shown = now.before.replicas[: len(ours)]
        return None if shown == ours else OTHER_ORDER.format(order=list(now.before.replicas))

    async def _changed_meanwhile(self, pending: Carried) -> Said:
        """Return why partitions that stood in our order before are not to be elected: somebody else
        changed them while the orders of the rest were written."""
        stood = {tp: e for tp, e in pending.items() if not e.needs_order}
        seen = await self._means.reader.described(sorted(stood)) if stood else Described({})
        return {
            tp: why
            for tp, election in stood.items()
            if (why := why_not_ours(_step(election), seen)) is not None
        }

    async def _why_late(self, written: Sequence[DueElection], soon: Deadline) -> str | None:
        """Return why to look again before the election; None where nobody has come back while the
        orders were written. Whoever shows the orders knows of all that were there before them."""
        if soon.expired:
            return _LATE
        live = (await self._means.reader.cluster())[0].brokers.keys()
        back = next((broker for e in written for broker in e.back(live)), None)
        return None if back is None else f"broker {back} came back while the orders were written"

    async def _write(self, pending: Carried) -> Said:
        """Write the orders, see that they are there, and return which partitions are not to be
        elected, and why. Raises NotSeen."""
        orders = {tp: e.plan.order for tp, e in pending.items() if e.needs_order}
        if not orders:
            return {}
        gate = self._means.pass_gate
        refused = errors(await self._order.write(orders, needs_note=True, gate=gate))
        raise_if_unsure(self._means.controller, refused.values())
        refused = await leave_out(pending, refused, self._write_without)
        steps = [s for s in _steps(pending) if s.topic_partition not in refused]
        changed = await self._order.see([_reduced_step(s, self._reduced) for s in steps])
        return {tp: refused_text(orders[tp], a) for tp, a in refused.items()} | changed

    async def _write_without(
        self, elections: Carried, gone: Brokers
    ) -> dict[TopicPartition, PartitionResult]:
        """Write the orders without the brokers in `gone`; nothing puts these back."""
        orders = {tp: without(e.plan.order, gone[tp]) for tp, e in elections.items()}
        rows = [
            reduce_line(e, e.before.replicas, orders[tp], gone[tp]) for tp, e in elections.items()
        ]
        texts = {tp: left_text(e.before.replicas, gone[tp]) for tp, e in elections.items()}
        self._order.note_refused(texts)
        await asyncio.to_thread(self._means.journal.write, "reduce", partitions=rows)
        gate = self._means.pass_gate
        answers = await self._order.write(orders, needs_note=True, fewer=True, gate=gate)
        refused = errors(answers)
        self._reduced |= {tp: order for tp, order in orders.items() if tp not in refused}
        raise_if_unsure(self._means.controller, refused.values())
        return refused

    async def _elect(self, wanted: Sequence[TopicPartition]) -> Said:
        answers = await elect_uncleanly(self._means, wanted)
        return why_not_elected(self._means.controller, answers)

    async def conclude(self, carried: Carried, said: Said) -> Elections:
        try:
            return await self._conclude(carried, said)
        except LOST as error:
            unfinished = f"not finished: {error}; the journal stays open, --resume finishes it"
            return Elections(all_in_doubt(carried, unfinished), {})

    async def _conclude(self, carried: Carried, said: Said) -> Elections:
        """Read everything back, judge it, and close in the journal the orders that are restored."""
        seen = await read_back(self._means.reader, carried, said)
        # A partition that a request given up may still change is not done, whatever the metadata
        # shows now.
        over = {*self._left, *self._left_alone, *self._gone, *self._refused, *self._reduced}
        pending = {s.topic_partition: s for s in _steps(carried) if s.topic_partition not in over}
        not_back = self._left | self._left_alone
        not_back |= await self._order.release(pending, seen, self._not_put_back)
        not_back |= await self._order.restore(list(pending.values()))
        judging = seen, said, self._unanswered
        outcomes = {
            tp: _with_order(judged(tp, e, *judging), not_back.get(tp)) for tp, e in carried.items()
        }
        outcomes |= {tp: _with_reduced(outcomes[tp], carried[tp], self._reduced) for tp in carried}
        lines = [outcome_line(*row) for row in outcomes.items()]
        self._means.journal.note("outcome", partitions=lines)
        return Elections(outcomes, dict(seen.states))


def _with_order(outcome: Outcome, not_back: str | None) -> Outcome:
    """Return the outcome of an election: if its order could not be put back it is no success,
    whoever leads."""
    if not_back is None:
        return outcome
    reason = "; ".join(filter(None, [outcome.reason, not_back]))
    return replace(outcome, kind=OutcomeKind.FAILED, reason=reason)


def _with_reduced(outcome: Outcome, election: DueElection, reduced: Reduced) -> Outcome:
    """Return the outcome, with what became of the replica set where it was reduced."""
    order = reduced.get(election.before.topic_partition)
    if order is None:
        return outcome
    gone = tuple(r for r in election.before.replicas if r not in order)
    left = left_text(election.before.replicas, gone)
    text = f"{left}; its replicas are {list(order)} from now on"
    if away := [broker for broker in order if broker not in election.live]:
        text += f", and a reassignment is listed until {brokers_text(away)} is in sync"
    return replace(outcome, reason="; ".join(filter(None, [outcome.reason, text])))


def _reduced_step(step: Reordered, reduced: Reduced) -> Reordered:
    written = reduced.get(step.topic_partition)
    return step if written is None else replace(step, written=written)


def _steps(elections: Carried) -> list[Reordered]:
    return [_step(e) for e in elections.values() if e.needs_order]


def _step(election: DueElection) -> Reordered:
    before = election.before
    return Reordered(
        before.topic_partition, before.topic_id, before.replicas, election.plan.order, at_ms=0
    )


def _reorder_line(election: DueElection) -> dict[str, Any]:
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
