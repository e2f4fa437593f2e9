"""Writing a replica set in another order, and putting the original order back, whatever happens.

What is about to be written is in the journal first; `restored` is written there only when the
original order has been read back and no request given up can change it any more.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence

from kafka_unclean_recovery.cluster.controller_requests import Answer, alter_replica_order
from kafka_unclean_recovery.cluster.describe import RequestFailed
from kafka_unclean_recovery.cluster.error_codes import error_name
from kafka_unclean_recovery.cluster.quorum import Controller, Unsure
from kafka_unclean_recovery.cluster.reading import Reader
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.journal import Journal, Reordered
from kafka_unclean_recovery.model import PartitionState, TopicPartition

BATCH = 2000
_POLL_SECONDS = 0.05
# A broker's metadata shows a new order about 0.3 s late after thousands of elections.
_VISIBLE_SECONDS = 10.0
_ATTEMPTS = 3
_NOT_SEEN = "it was written, but is not seen"

Complaints = dict[TopicPartition, str]
"""Why a partition's original order could not be put back."""
Orders = Mapping[TopicPartition, Sequence[int]]


class ReplicaOrder:
    def __init__(self, controller: Controller, reader: Reader, journal: Journal) -> None:
        self._controller = controller
        self._reader = reader
        self._journal = journal

    async def write(self, orders: Orders) -> dict[TopicPartition, Answer]:
        """One request. Raises Unsure, RequestFailed."""
        return await self._controller.ask(
            lambda connection, deadline: alter_replica_order(connection, orders, deadline)
        )

    async def states(
        self, wanted: Iterable[TopicPartition]
    ) -> dict[TopicPartition, PartitionState]:
        return await self._reader.partitions(sorted(wanted))

    async def put_back(self, steps: Sequence[Reordered]) -> str | None:
        """Write the original orders; the reason when it is not certain that they are back."""
        if not steps:
            return None
        reason = "a request given up may still be carried out"
        for _ in range(_ATTEMPTS):
            if self._controller.haunted:
                try:
                    await self._controller.settle(reason)
                except Unsure as still:
                    return still.reason
            try:
                answers = await self.write({s.topic_partition: s.original for s in steps})
            except Unsure as error:
                reason = error.reason
            except RequestFailed as error:
                return str(error)
            else:
                unsure = [a for a in answers.values() if self._controller.unsure(a.error)]
                if not unsure:
                    return None
                reason = error_name(unsure[0].error)
        return reason

    async def restore(self, steps: Sequence[Reordered]) -> Complaints:
        """Put the original orders back and see them, or say what could not be, and why.

        Writes first and reads afterwards: a broker's metadata may lag behind our own reorder and
        show the original order when it is not there.
        """
        reason = await self.put_back(steps)
        if reason is not None:
            return {step.topic_partition: not_restored(step, reason) for step in steps}
        pending = {step.topic_partition: step for step in steps}
        deadline = Deadline.after(_VISIBLE_SECONDS)
        complaints: Complaints = {}
        while pending:
            states = await self._reader.partitions(sorted(pending))
            if all(restored(step, states.get(tp)) for tp, step in pending.items()):
                return self.release(pending, states)
            if deadline.expired:
                complaints = self.release(pending, states)
                break
            await asyncio.sleep(_POLL_SECONDS)
        return complaints | {tp: not_restored(step, _NOT_SEEN) for tp, step in pending.items()}

    def release(
        self,
        pending: dict[TopicPartition, Reordered],
        states: Mapping[TopicPartition, PartitionState],
    ) -> Complaints:
        """Drop from `pending`, and note in the journal, what needs no restoring any more.

        A replica set that is neither in our order nor in the original one belongs to somebody
        else by now and is left alone: the complaints name those. `states` must not be older than
        what we wrote last.
        """
        done = {tp for tp, step in pending.items() if restored(step, states.get(tp))}
        foreign = [
            tp for tp, step in pending.items() if tp not in done and _foreign(step, states[tp])
        ]
        complaints = {
            tp: f"{tp}: somebody else gave it the replicas {list(states[tp].replicas)}; left alone"
            f" (they were {list(pending[tp].original)})"
            for tp in foreign
        }
        for tp in (*done, *foreign):
            del pending[tp]
        if done or foreign:
            released = [{"topic": tp.topic, "partition": tp.partition} for tp in (*done, *foreign)]
            self._journal.note(
                "restored", partitions=released, left_alone=list(complaints.values())
            )
        return complaints


def restored(step: Reordered, state: PartitionState | None) -> bool:
    """Also when the topic is gone, or is another one of the same name."""
    if state is None or state.topic_id != step.topic_id:
        return True
    return state.replicas == step.original


def _foreign(step: Reordered, state: PartitionState) -> bool:
    return state.replicas != step.written


def not_restored(step: Reordered, reason: str) -> str:
    return (
        f"{step.topic_partition}: the replica order {list(step.original)} could not be restored"
        f" ({reason})"
    )


async def resume(
    order: ReplicaOrder, controller: Controller, steps: Sequence[Reordered]
) -> Complaints:
    """Finish the restore that an earlier run left. What it sent may still be carried out, so
    this waits first as long as that can take. Raises Unsure."""
    age = time.time() - max(step.at_ms for step in steps) / 1000
    controller.given_up(max(age, 0.0))
    await controller.settle("an earlier run ended in the middle of an election")
    complaints: Complaints = {}
    for i in range(0, len(steps), BATCH):
        pending = {step.topic_partition: step for step in steps[i : i + BATCH]}
        complaints |= order.release(pending, await order.states(pending))
        if pending:
            complaints |= await order.restore(list(pending.values()))
    return complaints
