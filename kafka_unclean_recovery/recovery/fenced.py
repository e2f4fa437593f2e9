"""Fenced brokers are asked for their logs too: one that only the controllers do not hear runs, may
hold more than any live one, and is truncated once it is heard again.

Most fenced brokers are dead. So each gets a short time, and one that takes no connection counts as
down, as if it had not been asked. One that takes it runs, however long it is silent: it hangs, is
slow, or still starts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from msgspec.structs import replace

from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed
from kafka_unclean_recovery.model import Broker, PartitionState, ReplicaLog, TopicPartition
from kafka_unclean_recovery.planning.seen_logs import SeenLog
from kafka_unclean_recovery.survey import budgets
from kafka_unclean_recovery.transport import ReplicaLogSource

_HANGS = (
    "is fenced, and takes connections without an answer: it hangs, is slow, or still starts; let"
    " it answer, or make sure that its process has ended"
)

Asked = tuple[TopicPartition, str, int]
"""The log that was asked for: (partition, topic id, leader epoch)."""


def asked(state: PartitionState) -> Asked:
    return state.topic_partition, state.topic_id, state.leader_epoch


SeenLogs = dict[TopicPartition, list[SeenLog]]
"""Every log that brokers told in a run, also those that count no more."""


def note_seen(seen: SeenLogs, which: Asked, log: ReplicaLog) -> None:
    tp, topic_id, leader_epoch = which
    seen.setdefault(tp, []).append(SeenLog(topic_id, leader_epoch, log))


class FencedBrokers:
    """What fenced brokers answered, and the tasks that still wait for them."""

    def __init__(self, source: ReplicaLogSource, seen: SeenLogs) -> None:
        """Take `seen`, into which each log goes that is told."""
        self._source = source
        self._seen = seen
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._asked: dict[int, set[Asked]] = {}
        self._logs: dict[int, dict[Asked, ReplicaLog]] = {}

    def ask(
        self, fenced: Mapping[int, Broker], states: Mapping[TopicPartition, PartitionState]
    ) -> None:
        """Ask each fenced broker once for each replica; forget what others answered, which are not
        fenced any more: another process may have started since."""
        for gone in self._asked.keys() - fenced.keys():
            self._logs.pop(gone, None)
            del self._asked[gone]
            self._tasks.pop(gone).cancel()
        for broker in fenced.values():
            before = self._asked.get(broker.id, set())
            new = [s for s in states.values() if broker.id in s.replicas and asked(s) not in before]
            if new and not self._at_work(broker.id):
                self._asked[broker.id] = before | {asked(state) for state in new}
                self._tasks[broker.id] = asyncio.create_task(self._ask(broker, new))

    def _at_work(self, broker: int) -> bool:
        return broker in self._tasks and not self._tasks[broker].done()

    async def _ask(self, broker: Broker, states: list[PartitionState]) -> None:
        for budget in (budgets.FENCED_LOGS, budgets.FENCED_LOGS_OF_THE_SLOW):
            try:
                found = await self._source.replica_logs(broker, states, budget.deadline())
            except ConnectionFailed as error:
                unread = _unread(broker.id, error)
                if unread is not None:
                    self._keep(broker.id, dict.fromkeys(map(asked, states), unread))
                if not error.taken:
                    return
            else:
                logs = {asked(s): replace(found[s.topic_partition], live=True) for s in states}
                self._keep(broker.id, logs)
                return

    def _keep(self, broker: int, logs: Mapping[Asked, ReplicaLog]) -> None:
        self._logs.setdefault(broker, {}).update(logs)
        for which, log in logs.items():
            note_seen(self._seen, which, log)

    def known(self, state: PartitionState, broker: int) -> ReplicaLog | None:
        """Return the log that a fenced broker answered for its replica; None where it gave none."""
        return self._logs.get(broker, {}).get(asked(state))

    @property
    def at_work(self) -> list[asyncio.Task[None]]:
        """Return the tasks that wait for an answer."""
        return [task for task in self._tasks.values() if not task.done()]

    @property
    def waiting_for(self) -> list[int]:
        return [broker for broker in self._tasks if self._at_work(broker)]

    async def end(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)


def _unread(broker: int, error: ConnectionFailed) -> ReplicaLog | None:
    """Return what is known of a fenced broker's log that was not told; None for a broker down."""
    if error.takes_none:
        return None
    if error.is_authentication:
        return ReplicaLog(broker, live=True, problem=str(error))
    problem = f"the broker may live: it {_HANGS}"
    return ReplicaLog(broker, live=False, problem=problem, unproven=_HANGS)
