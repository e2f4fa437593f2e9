"""Asking every live broker for its replicas' logs, side by side, until all answered or time is up.

One silent or failing broker never holds up the others: each has a task of its own that tries again
until the deadline. Brokers that are fenced meanwhile are asked no more, those that come back are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Container, Mapping
from dataclasses import replace

from tenacity import AsyncRetrying, retry_if_exception, wait_exponential

from kafka_unclean_recovery.cluster.errors import ConnectionFailed
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.model import Broker, PartitionState, ReplicaLog, TopicPartition
from kafka_unclean_recovery.transport import ReplicaLogSource

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 1.0

States = Mapping[TopicPartition, PartitionState]


class Gathering:
    """The answers so far, and the tasks that wait for the rest."""

    def __init__(
        self, source: ReplicaLogSource, deadline: Deadline, answered: Callable[[int], None]
    ) -> None:
        self._source = source
        self._deadline = deadline
        self._answered = answered
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._logs: dict[int, Mapping[TopicPartition, ReplicaLog]] = {}
        self.failures: dict[int, str] = {}

    def ask(self, brokers: Mapping[int, Broker], states: States) -> None:
        """Ask each live broker that hosts one of the partitions; drop those that are gone."""
        for broker_id in [b for b in self._tasks if b not in brokers]:
            self._tasks.pop(broker_id).cancel()
            self.failures.setdefault(broker_id, "fenced before it answered")
        for broker in brokers.values():
            hosted = [state for state in states.values() if broker.id in state.replicas]
            unknown = [s for s in hosted if s.topic_partition not in self.logs_of(broker.id)]
            if unknown and broker.id not in self._tasks:
                work = self._keep_asking(broker, unknown)
                self._tasks[broker.id] = asyncio.create_task(work)

    async def _keep_asking(self, broker: Broker, states: list[PartitionState]) -> None:
        passing = retry_if_exception(
            lambda e: isinstance(e, ConnectionFailed) and not e.is_authentication
        )
        waits = wait_exponential(multiplier=_FIRST_PAUSE, max=_LONGEST_PAUSE)
        try:
            async for attempt in AsyncRetrying(
                retry=passing, wait=waits, stop=lambda _: self._deadline.expired, reraise=True
            ):
                with attempt:
                    logs = await self._try(broker, states)
        except ConnectionFailed:
            return
        self._logs[broker.id] = {**self.logs_of(broker.id), **logs}
        self.failures.pop(broker.id, None)
        self._answered(broker.id)

    async def _try(
        self, broker: Broker, states: list[PartitionState]
    ) -> Mapping[TopicPartition, ReplicaLog]:
        try:
            return await self._source.replica_logs(broker, states, self._deadline)
        except ConnectionFailed as error:
            self.failures[broker.id] = str(error)
            raise

    def logs_of(self, broker: int) -> Mapping[TopicPartition, ReplicaLog]:
        """What that broker has answered so far."""
        return self._logs.get(broker, {})

    @property
    def answered(self) -> frozenset[int]:
        return frozenset(self._logs)

    @property
    def waiting_for(self) -> list[int]:
        return sorted(broker for broker, task in self._tasks.items() if not task.done())

    async def wait(self, seconds: float) -> None:
        """Until every task is done, at most so long."""
        running = [task for task in self._tasks.values() if not task.done()]
        if running:
            await asyncio.wait(running, timeout=seconds)
        for broker in [b for b, task in self._tasks.items() if task.done()]:
            self._tasks.pop(broker).result()

    async def end(self) -> None:
        """Give up on the rest; they are in `failures` from here on."""
        for broker in self.waiting_for:
            self.failures.setdefault(broker, "did not answer in time")
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def replica_logs(self, state: PartitionState, live: Container[int]) -> list[ReplicaLog]:
        """The log of each replica of one partition, with the reason where there is none."""
        return [self._replica_log(state, broker, broker in live) for broker in state.replicas]

    def _replica_log(self, state: PartitionState, broker: int, live: bool) -> ReplicaLog:
        log = self.logs_of(broker).get(state.topic_partition)
        if log is None:
            problem = self.failures.get(broker, "was not asked") if live else "broker is down"
            return ReplicaLog(broker, live=live, problem=problem)
        return replace(log, live=live)
