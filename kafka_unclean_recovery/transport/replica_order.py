"""Write a replica set in another order, and put the original order back, whatever happens.

A new order is in the journal before it is written. `restored` is written there only when the
controller answered the original order with NONE, the order has been read back, and no request given
up can change it any more.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kafka_unclean_recovery.cluster.controller import Controller, Unsure
from kafka_unclean_recovery.cluster.requests.controller_requests import (
    PartitionResult,
    alter_replica_order,
    left_out,
)
from kafka_unclean_recovery.cluster.requests.describe import Described, RequestFailed
from kafka_unclean_recovery.cluster.wire.error_codes import UNSURE, error_name
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, NoBrokerReachable
from kafka_unclean_recovery.documents.journal_lines import JournalError, Reordered
from kafka_unclean_recovery.files.journal import Journal
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.survey.currency import Behind
from kafka_unclean_recovery.survey.reading import Reader
from kafka_unclean_recovery.transport.coming import Coming
from kafka_unclean_recovery.transport.gate import Gate, LookTooOld, NotSent
from kafka_unclean_recovery.transport.landed_orders import Looking, take_back
from kafka_unclean_recovery.transport.order_standing import Standing, foreign_text, standing
from kafka_unclean_recovery.transport.sending import Sent, at_once, noted, settle

BATCH = 8000
"""How many orders are written, and partitions elected, at once: a controller (4.3.1) writes up to
10,000 records for one request (QuorumController.MAX_RECORDS_PER_USER_OP), one a partition here."""
_ATTEMPTS = 3
# Brokers may take this long to apply thousands of elections, before they are looked at again.
_CAUGHT_UP_SECONDS = 30.0
_NOT_SEEN = "it was written, but is not seen"
_GONE = (Standing.GONE, Standing.ANEW)
_STRANGE = (Standing.FOREIGN, Standing.ANEW)
_NO_LONGER = {
    Standing.GONE: "it no longer exists",
    Standing.ANEW: "its topic was deleted and created again",
}
OTHER_ORDER = (
    "somebody else gave its replicas the order {order}, by which an election would take another"
    " leader; plan again"
)
_SHOWN = 100
"""Up to this many orders are all read back, at the cost of one small request. Of more orders only
the last is, which reaches a broker with or after the others."""

Complaints = dict[TopicPartition, str]
"""The reason, by partition, why its original order could not be put back."""
Orders = Mapping[TopicPartition, Sequence[int]]
Steps = dict[TopicPartition, Reordered]


class NotSeen(Exception):
    """The controller said that it wrote orders, and brokers do not show them."""


@dataclass(frozen=True, slots=True)
class PutBack:
    """The result of putting orders back. unsure: why the result of some order is not certain, None
    when all are certain; failed: the partitions that the controller did not answer with NONE, and
    why; left_alone: partitions that are not ours to put back any more, and why; gone: partitions
    that no longer exist, or whose topic was created again."""

    unsure: str | None = None
    failed: Complaints = field(default_factory=dict)
    left_alone: Complaints = field(default_factory=dict)
    gone: frozenset[TopicPartition] = frozenset()


class ReplicaOrder:
    """The replica orders of a run.

    gone_with_topic: partitions that are gone, so their orders need no restoring. maybe_written:
    partitions whose new order was sent, and not refused for sure.
    """

    def __init__(self, controller: Controller, reader: Reader, journal: Journal) -> None:
        self._controller = controller
        self._reader = reader
        self._journal = journal
        self._gate = Gate()
        self.gone_with_topic: set[TopicPartition] = set()
        self.maybe_written: set[TopicPartition] = set()

    async def write(
        self,
        orders: Orders,
        *,
        needs_note: bool,
        fewer: bool = False,
        gate: Callable[[], None] = at_once,
    ) -> dict[TopicPartition, PartitionResult]:
        """Send one request and return an answer for each order, also for one that the controller
        left out.

        needs_note: the request is not sent where the journal can't note it. fewer: replicas leave
        their sets. gate: asked directly before it is sent. Raises Unsure, RequestFailed, NotSent,
        JournalError.
        """
        sent = Sent("AlterPartitionReassignments", len(orders), needs_note)
        before = set(self.maybe_written)
        self.maybe_written |= orders.keys()
        try:
            answers = await noted(
                self._controller,
                self._journal,
                sent,
                lambda connection, deadline: alter_replica_order(
                    connection, orders, deadline, fewer=fewer
                ),
                gate,
            )
        except (RequestFailed, NotSent, JournalError):
            self.maybe_written = before
            raise
        refused = {tp for tp, a in answers.items() if a.error not in (Errors.NONE, *UNSURE)}
        self.maybe_written -= refused - before
        return left_out(orders) | {tp: answers[tp] for tp in orders if tp in answers}

    async def see(self, steps: Sequence[Reordered]) -> Complaints:
        """Wait until brokers show the written orders, and return the partitions that are not ours
        to elect any more, and why. Raises NotSeen, ConnectionFailed and NoBrokerReachable."""
        by_partition = {step.topic_partition: step for step in steps}
        wanted = sorted(by_partition)
        watched = wanted if len(wanted) <= _SHOWN else wanted[-1:]
        coming = Coming(len(watched))
        while watched:
            seen = await self._reader.described(watched)
            changed = {tp: why for tp in watched if (why := _changed(by_partition[tp], seen))}
            missing = [
                tp for tp in watched if tp not in changed and not _shows(by_partition[tp], seen)
            ]
            if not missing:
                return changed
            if coming.over(len(missing)):
                raise NotSeen(_not_seen(by_partition[missing[0]], seen))
            await coming.pause()
        return {}

    async def put_back(self, steps: Sequence[Reordered]) -> PutBack:
        """Write the original orders, and return which of them are not certain to be back.

        Directly before each request all partitions are looked at: what is not ours any more is left
        alone. Where such a look got old on the way another one is taken, but not for ever.
        """
        unsure = "a request given up may still be carried out"
        unseen = False
        failed: Complaints = {}
        alone: Complaints = {}
        gone: frozenset[TopicPartition] = frozenset()
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                if self._controller.haunted or unseen:
                    await settle(self._controller, self._journal, unsure)
                steps, left, went = await self._still_ours(steps)
            except Unsure as still:
                return PutBack(still.reason, failed, alone, gone)
            except (Behind, ConnectionFailed, NoBrokerReachable, RequestFailed) as error:
                unsure, unseen = str(error), True
                continue
            alone, gone, unseen = alone | left, gone | went, False
            if not steps:
                return PutBack(None, {}, alone, gone)
            orders = {s.topic_partition: s.original for s in steps}
            try:
                answers = await self.write(orders, needs_note=False, gate=self._gate_of(attempt))
            except (LookTooOld, Unsure) as error:
                unsure = error.reason
                continue
            except RequestFailed as error:
                return PutBack(str(error), failed, alone, gone)
            open_ = [a for a in answers.values() if self._controller.unsure(a.error)]
            failed = {
                tp: _why(answer) for tp, answer in answers.items() if answer.error != Errors.NONE
            }
            if open_:
                unsure = error_name(open_[0].error)
            elif not any(answer.left_out for answer in answers.values()):
                return PutBack(None, failed, alone, gone)
        uncertain = self._controller.haunted or unseen
        return PutBack(unsure if uncertain else None, failed, alone, gone)

    def _gate_of(self, attempt: int) -> Callable[[], None]:
        """Return the gate of a request that puts orders back; the last attempt passes in any case,
        for an order that stays as it is harms for longer than an old look."""
        return at_once if attempt == _ATTEMPTS else self._gate.pass_whoever_stops

    async def _look(self, partitions: Iterable[TopicPartition]) -> Described:
        """Return the partitions as they are now, with the reassignments in progress. Raises Behind,
        ConnectionFailed, NoBrokerReachable, RequestFailed."""
        wanted = sorted(partitions)
        looked = self._gate.begin_look()
        seen = await self._reader.current(
            lambda: self._reader.described_with_reassignments(wanted), within=_CAUGHT_UP_SECONDS
        )
        looked()
        return seen

    async def _take_back(self, steps: Steps, seen: Described) -> Complaints:
        looking = Looking(self._look, self._gate.pass_whoever_stops)
        return await take_back(self._controller, self._journal, steps, seen, looking)

    async def _still_ours(
        self, steps: Sequence[Reordered]
    ) -> tuple[list[Reordered], Complaints, frozenset[TopicPartition]]:
        """Return (the steps whose partitions are still ours, why others are left alone, those that
        are gone), as they are now. What is not ours is noted in the journal."""
        seen = await self._look(step.topic_partition for step in steps)
        stand = {step: standing(step, seen) for step in steps}
        alone = {
            s.topic_partition: foreign_text(s, seen.states[s.topic_partition])
            for s, how in stand.items()
            if how is Standing.FOREIGN
        }
        strange = {s.topic_partition: s for s, how in stand.items() if how in _STRANGE}
        sent = {tp: s for tp, s in strange.items() if tp in self.maybe_written}
        alone |= await self._take_back(sent, seen)
        gone = [s.topic_partition for s, how in stand.items() if how in _GONE]
        self.gone_with_topic |= set(gone)
        self._note_restored({*gone, *alone}, alone.values())
        ours = [s for s, how in stand.items() if how in (Standing.OURS, Standing.UNTOLD)]
        return ours, alone, frozenset(gone)

    async def restore(self, steps: Sequence[Reordered]) -> Complaints:
        """Put the original orders back and see them, or return which could not be restored, and
        why.

        The orders are written first and read afterwards: a broker's metadata may lag behind our own
        reorder and show the original order when it is not there.
        """
        if not steps:
            return {}
        back = await self.put_back(steps)
        over = {*back.left_alone, *back.gone}
        pending = {s.topic_partition: s for s in steps if s.topic_partition not in over}
        if back.unsure is not None:
            not_back = {tp: not_restored(s, back.unsure) for tp, s in pending.items()}
            return back.left_alone | not_back
        return back.left_alone | await self.see_restored(pending, back.failed)

    async def see_restored(
        self, pending: Steps, failed: Mapping[TopicPartition, str]
    ) -> Complaints:
        """Wait until brokers show the original orders that were written, note them in the journal,
        and return which are not restored, and why."""
        pending = dict(pending)
        coming = Coming(len(pending))
        while pending:
            seen = await self._reader.described(sorted(pending))
            waiting = [tp for tp, s in pending.items() if not _over(s, seen, failed.get(tp))]
            if waiting and not coming.over(len(waiting)):
                await coming.pause()
                continue
            complaints = await self.release(pending, seen, failed)
            return complaints | {
                tp: not_restored(step, failed.get(tp) or seen.untold.get(tp) or _NOT_SEEN)
                for tp, step in pending.items()
            }
        return {}

    async def release(
        self, pending: Steps, seen: Described, failed: Mapping[TopicPartition, str]
    ) -> Complaints:
        """Drop from `pending`, and note in the journal, the partitions that need no restoring any
        more.

        A replica set that is neither in our order nor in the original one belongs to somebody else
        by now and is left alone, but for a reassignment that an order of ours began: the complaints
        name these partitions. `seen` must not be older than our last write; `failed` holds the
        partitions that the controller did not put back.
        """
        stand = {tp: standing(step, seen) for tp, step in pending.items()}
        strange = {tp: pending[tp] for tp, how in stand.items() if how in _STRANGE}
        foreign = await self._disown(strange) if strange else {}
        done = [tp for tp, step in pending.items() if _over(step, seen, failed.get(tp))]
        self.gone_with_topic |= {tp for tp in done if stand[tp] in _GONE}
        self._note_restored({*done, *foreign}, foreign.values())
        for tp in {*done, *foreign}:
            del pending[tp]
        return foreign

    async def _disown(self, strange: Steps) -> Complaints:
        """Take back what orders of ours did to partitions that are not ours any more, and return a
        sentence on each that is left alone. One that can't be looked at stays as it is."""
        try:
            seen = await self._look(strange)
        except (Behind, ConnectionFailed, NoBrokerReachable, RequestFailed):
            return {}
        alone = {
            tp: foreign_text(step, seen.states[tp])
            for tp, step in strange.items()
            if standing(step, seen) is Standing.FOREIGN
        }
        return alone | await self._take_back(strange, seen)

    def note_refused(self, refused: Mapping[TopicPartition, str]) -> None:
        """Note in the journal that orders were refused, so that the original ones still stand."""
        sentences = [f"{tp}: its order was not written: {why}" for tp, why in refused.items()]
        self._note_restored(list(refused), sentences)

    def _note_restored(
        self, released: Collection[TopicPartition], left_alone: Iterable[str]
    ) -> None:
        if released:
            rows = [{"topic": tp.topic, "partition": tp.partition} for tp in sorted(released)]
            self._journal.note("restored", partitions=rows, left_alone=list(left_alone))


def _shows(step: Reordered, seen: Described) -> bool:
    state = seen.states.get(step.topic_partition)
    if state is None:
        return False
    # Replicas that are about to leave the set stand behind the others.
    leaving = len(step.original) - len(step.written)
    shown = state.replicas[: len(step.written)] if leaving else state.replicas
    return shown == step.written


def _changed(step: Reordered, seen: Described) -> str | None:
    """Return why an order that was written is no longer ours; None while it is, or is not seen."""
    how = standing(step, seen)
    if how is Standing.FOREIGN:
        state = seen.states[step.topic_partition]
        if set(state.replicas) == set(step.original):
            return None
        return f"its replica set changed from {list(step.original)} to {list(state.replicas)}"
    return _NO_LONGER.get(how)


def why_not_ours(step: Reordered, seen: Described) -> str | None:
    """Return why a partition whose order needs no writing is not to be elected by it; None where it
    stands in that order."""
    how = standing(step, seen)
    state = seen.states.get(step.topic_partition)
    if how is Standing.OURS:
        return None
    if state is not None and how is Standing.FOREIGN:
        return OTHER_ORDER.format(order=list(state.replicas))
    return _NO_LONGER.get(
        how, f"it could not be looked at again ({seen.untold.get(step.topic_partition)})"
    )


def _not_seen(step: Reordered, seen: Described) -> str:
    tp = step.topic_partition
    shown = f"shows {list(seen.states[tp].replicas)}" if tp in seen.states else seen.untold[tp]
    return (
        f"the controller answered NONE to the replica order {list(step.written)} of {tp}, but the"
        f" cluster {shown}: an election would take another leader"
    )


def _why(answer: PartitionResult) -> str:
    return error_name(answer.error) if answer.message is None else answer.message


def _over(step: Reordered, seen: Described, failed: str | None) -> bool:
    """Return True when the original order is back, or the partition is gone."""
    how = standing(step, seen)
    if how in _GONE:
        return True
    state = seen.states.get(step.topic_partition)
    return failed is None and state is not None and state.replicas == step.original


def not_restored(step: Reordered, reason: str) -> str:
    return (
        f"{step.topic_partition}: the replica order {list(step.original)} could not be restored"
        f" ({reason})"
    )


async def resume(order: ReplicaOrder, steps: Sequence[Reordered]) -> Complaints:
    """Finish the restore that an earlier run left, once none of its requests can still be carried
    out.

    An order is not taken for restored because it looks so: the broker that is read may not show our
    own order yet. Writing the original order again changes nothing where it is there.
    """
    complaints: Complaints = {}
    for i in range(0, len(steps), BATCH):
        complaints |= await order.restore(steps[i : i + BATCH])
    return complaints
