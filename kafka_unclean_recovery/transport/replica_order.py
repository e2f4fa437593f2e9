"""Writing a replica set in another order, and putting the original order back, whatever happens.

What is about to be written is in the journal first; `restored` is written there only when the
original order has been read back and no request given up can change it any more.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence

from kafka_unclean_recovery.cluster.controller_requests import Answer, alter_replica_order
from kafka_unclean_recovery.cluster.describe import RequestFailed
from kafka_unclean_recovery.cluster.quorum import Controller, Unsure
from kafka_unclean_recovery.cluster.reading import Reader
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.journal import Journal, Reordered
from kafka_unclean_recovery.model import PartitionState, TopicPartition

BATCH = 1000
_POLL_SECONDS = 0.05
# A broker's metadata shows a new order about 0.3 s late after thousands of elections.
_VISIBLE_SECONDS = 10.0
_RESTORE_ATTEMPTS = 3

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

    async def restore(self, steps: Sequence[Reordered]) -> list[str]:
        """Put the original orders back; the sentences say what could not be, and why.

        Writes first and reads afterwards: a broker's metadata may lag behind our own reorder and
        show the original order when it is not there.
        """
        pending = {step.topic_partition: step for step in steps}
        sentences: list[str] = []
        reason = "the original order was not seen"
        for _ in range(_RESTORE_ATTEMPTS):
            try:
                await self._write_back(pending)
            except Unsure as error:
                try:
                    await self._controller.settle(error.reason)
                except Unsure as still:
                    reason = still.reason
                    break
            except RequestFailed as error:
                reason = str(error)
                break
            sentences += await self.release(pending)
            if not pending:
                return sentences
        return [*sentences, *(_not_restored(step, reason) for step in pending.values())]

    async def _write_back(self, pending: Mapping[TopicPartition, Reordered]) -> None:
        answers = await self.write({tp: step.original for tp, step in pending.items()})
        codes = {answer.error for answer in answers.values()}
        if any(self._controller.unsure(code) for code in codes):
            raise Unsure("the controller did not say whether it restored the order")
        await self._until_visible(pending)

    async def _until_visible(self, pending: Mapping[TopicPartition, Reordered]) -> None:
        deadline = Deadline.after(_VISIBLE_SECONDS)
        while not deadline.expired:
            states = await self._reader.partitions(sorted(pending))
            if all(_done(step, states.get(tp)) for tp, step in pending.items()):
                return
            await asyncio.sleep(_POLL_SECONDS)

    async def release(self, pending: dict[TopicPartition, Reordered]) -> list[str]:
        """Drop from `pending`, and note in the journal, what needs no restoring any more.

        A replica set that is neither in our order nor in the original one belongs to somebody
        else by now and is left alone: the sentences name those. Only to be called when the
        metadata can't be older than what we wrote last.
        """
        states = await self._reader.partitions(sorted(pending))
        done = [tp for tp, step in pending.items() if _done(step, states.get(tp))]
        foreign = [
            tp for tp, step in pending.items() if tp not in done and _foreign(step, states[tp])
        ]
        sentences = [
            f"{tp}: somebody else gave it the replicas {list(states[tp].replicas)}; left alone"
            f" (they were {list(pending[tp].original)})"
            for tp in foreign
        ]
        for tp in (*done, *foreign):
            del pending[tp]
        if done or foreign:
            released = [{"topic": tp.topic, "partition": tp.partition} for tp in (*done, *foreign)]
            self._journal.write("restored", partitions=released, left_alone=sentences)
        return sentences


def _done(step: Reordered, state: PartitionState | None) -> bool:
    """Also when the topic is gone, or is another one of the same name."""
    if state is None or state.topic_id != step.topic_id:
        return True
    return state.replicas == step.original


def _foreign(step: Reordered, state: PartitionState) -> bool:
    return state.replicas != step.written


def _not_restored(step: Reordered, reason: str) -> str:
    return (
        f"{step.topic_partition}: the replica order {list(step.original)} could not be restored"
        f" ({reason})"
    )


async def resume(
    order: ReplicaOrder, controller: Controller, steps: Sequence[Reordered]
) -> list[str]:
    """Finish the restore that an earlier run left. What it sent may still be carried out, so
    this waits first as long as that can take. Raises Unsure."""
    age = time.time() - max(step.at_ms for step in steps) / 1000
    controller.given_up(max(age, 0.0))
    await controller.settle("an earlier run ended in the middle of an election")
    sentences: list[str] = []
    for i in range(0, len(steps), BATCH):
        pending = {step.topic_partition: step for step in steps[i : i + BATCH]}
        sentences += await order.release(pending)
        if pending:
            sentences += await order.restore(list(pending.values()))
    return sentences
