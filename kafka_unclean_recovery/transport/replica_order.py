"""Write a replica set in another order, and put the original order back, whatever happens.

A new order is in the journal before it is written. `restored` is written there only when the
controller answered the original order with NONE, the order has been read back, and no request given
up can change it any more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kafka_unclean_recovery.cluster.quorum import Controller, Unsure
from kafka_unclean_recovery.cluster.reading import Reader
from kafka_unclean_recovery.cluster.requests.controller_requests import (
    Answer,
    alter_replica_order,
    left_out,
)
from kafka_unclean_recovery.cluster.requests.describe import Described, RequestFailed
from kafka_unclean_recovery.cluster.wire.error_codes import NONE, error_name
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, NoBrokerReachable
from kafka_unclean_recovery.files.journal import Journal
from kafka_unclean_recovery.files.journal_lines import Reordered
from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.transport.coming import Coming
from kafka_unclean_recovery.transport.sending import Sent, noted, settle

BATCH = 8000
"""How many orders are written, and partitions elected, at once: a controller (4.3.1) writes up to
10,000 records for one request (QuorumController.MAX_RECORDS_PER_USER_OP), one a partition here."""
_ATTEMPTS = 3
_NOT_SEEN = "it was written, but is not seen"
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
    why."""

    unsure: str | None = None
    failed: Complaints = field(default_factory=dict)


class ReplicaOrder:
    """The replica orders of a run. gone_with_topic: partitions that are gone, so their orders need
    no restoring."""

    def __init__(self, controller: Controller, reader: Reader, journal: Journal) -> None:
        self._controller = controller
        self._reader = reader
        self._journal = journal
        self.gone_with_topic: set[TopicPartition] = set()

    async def write(self, orders: Orders, *, needs_note: bool) -> dict[TopicPartition, Answer]:
        """Send one request and return an answer for each order, also for one that the controller
        left out.

        needs_note: the request is not sent where the journal can't note it. Raises Unsure,
        RequestFailed, JournalError.
        """
        sent = Sent("AlterPartitionReassignments", len(orders), needs_note)
        answers = await noted(
            self._controller,
            self._journal,
            sent,
            lambda connection, deadline: alter_replica_order(connection, orders, deadline),
        )
        return left_out(orders) | {tp: answers[tp] for tp in orders if tp in answers}

    async def see(self, orders: Orders) -> None:
        """Wait until brokers show the written orders. Raises NotSeen, ConnectionFailed and
        NoBrokerReachable."""
        wanted = sorted(orders)
        watched = wanted if len(wanted) <= _SHOWN else wanted[-1:]
        coming = Coming(len(watched))
        while watched:
            seen = await self._reader.described(watched)
            missing = [tp for tp in watched if tp not in seen.gone and not _shows(seen, tp, orders)]
            if not missing:
                return
            if coming.over(len(missing)):
                raise NotSeen(_not_seen(missing[0], orders, seen))
            await coming.pause()

    async def put_back(self, steps: Sequence[Reordered]) -> PutBack:
        """Write the original orders, and return which of them are not certain to be back."""
        if not steps:
            return PutBack()
        unsure = "a request given up may still be carried out"
        failed: Complaints = {}
        for _ in range(_ATTEMPTS):
            if self._controller.haunted:
                try:
                    await settle(self._controller, self._journal, unsure)
                    steps = await self._ours(steps)
                except Unsure as still:
                    return PutBack(still.reason)
                except (ConnectionFailed, NoBrokerReachable) as error:
                    return PutBack(str(error))
            try:
                answers = await self.write(
                    {s.topic_partition: s.original for s in steps}, needs_note=False
                )
            except Unsure as error:
                unsure = error.reason
                continue
            except RequestFailed as error:
                return PutBack(str(error))
            open_ = [a for a in answers.values() if self._controller.unsure(a.error)]
            failed = {tp: _why(answer) for tp, answer in answers.items() if answer.error != NONE}
            if open_:
                unsure = error_name(open_[0].error)
            elif not any(answer.left_out for answer in answers.values()):
                return PutBack(None, failed)
        return PutBack(unsure if self._controller.haunted else None, failed)

    async def _ours(self, steps: Sequence[Reordered]) -> list[Reordered]:
        """Return the steps whose partitions are still ours: in minutes a topic may have been made
        anew, and our order would move its data."""
        seen = await self._reader.described(sorted(s.topic_partition for s in steps))
        return [s for s in steps if not _is_gone(s, seen) and not _foreign(s, seen)]

    async def restore(self, steps: Sequence[Reordered]) -> Complaints:
        """Put the original orders back and see them, or return which could not be restored, and
        why.

        The orders are written first and read afterwards: a broker's metadata may lag behind our own
        reorder and show the original order when it is not there.
        """
        back = await self.put_back(steps)
        if back.unsure is not None:
            return {s.topic_partition: not_restored(s, back.unsure) for s in steps}
        pending = {step.topic_partition: step for step in steps}
        coming = Coming(len(pending))
        while pending:
            seen = await self._reader.described(sorted(pending))
            waiting = [tp for tp, s in pending.items() if not _over(s, seen, back.failed.get(tp))]
            if waiting and not coming.over(len(waiting)):
                await coming.pause()
                continue
            complaints = self.release(pending, seen, back.failed)
            return complaints | {
                tp: not_restored(step, back.failed.get(tp) or seen.untold.get(tp) or _NOT_SEEN)
                for tp, step in pending.items()
            }
        return {}

    def release(
        self, pending: Steps, seen: Described, failed: Mapping[TopicPartition, str] | None = None
    ) -> Complaints:
        """Drop from `pending`, and note in the journal, the partitions that need no restoring any
        more.

        A replica set that is neither in our order nor in the original one belongs to somebody else
        by now and is left alone: the complaints name these partitions. `seen` must not be older
        than our last write; `failed` holds the partitions that the controller did not put back.
        """
        failed = failed or {}
        done = [tp for tp, step in pending.items() if _over(step, seen, failed.get(tp))]
        self.gone_with_topic |= {tp for tp in done if _is_gone(pending[tp], seen)}
        foreign = self._left_alone(pending, seen)
        for tp in done:
            del pending[tp]
        self._note_restored([*done, *foreign], foreign)
        return foreign

    def release_others(self, pending: Steps, seen: Described) -> Complaints:
        """Do as `release`, before anything was written: only partitions that are no longer ours to
        put back are released."""
        gone = [tp for tp, step in pending.items() if _is_gone(step, seen)]
        self.gone_with_topic |= set(gone)
        foreign = self._left_alone(pending, seen)
        for tp in gone:
            del pending[tp]
        self._note_restored([*gone, *foreign], foreign)
        return foreign

    def _left_alone(self, pending: Steps, seen: Described) -> Complaints:
        foreign = [tp for tp, step in pending.items() if _foreign(step, seen)]
        complaints = {
            tp: f"{tp}: somebody else gave it the replicas {list(seen.states[tp].replicas)}; left"
            f" alone (they were {list(pending[tp].original)})"
            for tp in foreign
        }
        for tp in foreign:
            del pending[tp]
        return complaints

    def _note_restored(self, released: Sequence[TopicPartition], foreign: Complaints) -> None:
        if released:
            rows = [{"topic": tp.topic, "partition": tp.partition} for tp in released]
            self._journal.note("restored", partitions=rows, left_alone=list(foreign.values()))


def _shows(seen: Described, tp: TopicPartition, orders: Orders) -> bool:
    return tp in seen.states and seen.states[tp].replicas == tuple(orders[tp])


def _not_seen(tp: TopicPartition, orders: Orders, seen: Described) -> str:
    shown = f"shows {list(seen.states[tp].replicas)}" if tp in seen.states else seen.untold[tp]
    return (
        f"the controller answered NONE to the replica order {list(orders[tp])} of {tp}, but the"
        f" cluster {shown}: an election would take another leader"
    )


def _why(answer: Answer) -> str:
    return error_name(answer.error) if answer.message is None else answer.message


def _is_gone(step: Reordered, seen: Described) -> bool:
    """Return True when two brokers don't know the partition, or its name is another topic's now."""
    tp = step.topic_partition
    topic_id = seen.topic_ids.get(tp.topic, step.topic_id)
    return tp in seen.gone or topic_id != step.topic_id


def _over(step: Reordered, seen: Described, failed: str | None) -> bool:
    """Return True when the original order is back, or the partition is gone as in `_is_gone`."""
    if _is_gone(step, seen):
        return True
    state = seen.states.get(step.topic_partition)
    return failed is None and state is not None and state.replicas == step.original


def _foreign(step: Reordered, seen: Described) -> bool:
    state = seen.states.get(step.topic_partition)
    ours = (step.written, step.original)
    return state is not None and not _is_gone(step, seen) and state.replicas not in ours


def not_restored(step: Reordered, reason: str) -> str:
    return (
        f"{step.topic_partition}: the replica order {list(step.original)} could not be restored"
        f" ({reason})"
    )


async def resume(order: ReplicaOrder, reader: Reader, steps: Sequence[Reordered]) -> Complaints:
    """Finish the restore that an earlier run left, once none of its requests can still be carried
    out.

    An order is not taken for restored because it looks so: the broker that is read may not show our
    own order yet. Writing the original order again changes nothing where it is there.
    """
    complaints: Complaints = {}
    for i in range(0, len(steps), BATCH):
        pending = {step.topic_partition: step for step in steps[i : i + BATCH]}
        complaints |= order.release_others(pending, await reader.described(sorted(pending)))
        if pending:
            complaints |= await order.restore(list(pending.values()))
    return complaints
