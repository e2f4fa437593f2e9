"""All live brokers are asked for their replicas' logs at the same time, until all have answered or
the time is up.

One silent or failing broker never delays the others: each broker has a task of its own that tries
again until the deadline. A broker that is fenced meanwhile is asked no more; a broker that comes
back is asked again.

An answer counts only for the leader epoch in which it was asked for: once a partition has had a
leader again, its logs may have changed. So may the logs of a broker that was away or was restarted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Container, Mapping
from functools import lru_cache

from msgspec.structs import replace
from tenacity import AsyncRetrying, retry_if_exception, wait_exponential

from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, FailureKind
from kafka_unclean_recovery.cluster.wire.patience import all_done
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.model import Broker, PartitionState, ReplicaLog, TopicPartition
from kafka_unclean_recovery.recovery.fenced import (
    Asked,
    FencedBrokers,
    SeenLogs,
    asked,
    note_seen,
)
from kafka_unclean_recovery.transport import ReplicaLogSource

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 1.0

States = Mapping[TopicPartition, PartitionState]


class Gathering:
    """The brokers' answers so far, and the tasks that wait for the remaining answers.

    failures: why a broker gave no answer, by broker id. seen: gets each log that is told.
    """

    def __init__(
        self,
        source: ReplicaLogSource,
        deadline: Deadline,
        answered: Callable[[int], None],
        why_late: Callable[[int], str | None] = lambda _: None,
        seen: SeenLogs | None = None,
    ) -> None:
        """Take `why_late`, which returns why a broker is late as far as it is known."""
        self._seen: SeenLogs = {} if seen is None else seen
        self._source = source
        self._deadline = deadline
        self._answered = answered
        self._why_late = why_late
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._logs: dict[int, Mapping[Asked, ReplicaLog]] = {}
        self._away: set[int] = set()
        self._fenced = FencedBrokers(source, self._seen)
        self.failures: dict[int, str] = {}

    def ask(
        self, brokers: Mapping[int, Broker], states: States, fenced: Mapping[int, Broker]
    ) -> None:
        """Ask each live broker that hosts a replica whose log is not known; stop asking brokers
        that are no longer live. Fenced brokers are asked once, as FencedBrokers does."""
        self._fenced.ask(fenced, states)
        for broker_id in [b for b in self._tasks if b not in brokers]:
            self._tasks.pop(broker_id).cancel()
            self.failures.setdefault(broker_id, "fenced before it answered")
        self._away |= self._logs.keys() - brokers.keys()
        for broker in brokers.values():
            unknown = self._unknown(broker.id, states)
            if unknown and broker.id not in self._tasks:
                work = self._keep_asking(broker, unknown)
                self._tasks[broker.id] = asyncio.create_task(work)

    def unasked(self, brokers: Mapping[int, Broker], states: States) -> list[int]:
        """Return the live brokers that host a replica whose log nobody has asked for: a partition
        went offline while the broker answered for others."""
        idle = [b for b in brokers if b not in self._tasks and b not in self.failures]
        return [broker for broker in idle if self._unknown(broker, states)]

    def _unknown(self, broker: int, states: States) -> list[PartitionState]:
        hosted = [state for state in states.values() if broker in state.replicas]
        return [state for state in hosted if self._known(state, broker) is None]

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
        found = {asked(state): logs[state.topic_partition] for state in states}
        for which, log in found.items():
            note_seen(self._seen, which, log)
        earlier = {} if broker.id in self._away else self._logs.get(broker.id, {})
        self._logs[broker.id] = _of_one_process({**earlier, **found})
        self._away.discard(broker.id)
        self.failures.pop(broker.id, None)
        self._answered(broker.id)

    async def _try(
        self, broker: Broker, states: list[PartitionState]
    ) -> Mapping[TopicPartition, ReplicaLog]:
        try:
            return await self._source.replica_logs(broker, states, self._deadline)
        except ConnectionFailed as error:
            # The last try runs out of time, and tells less than those before.
            if error.kind is not FailureKind.TIMED_OUT or broker.id not in self.failures:
                self.failures[broker.id] = str(error)
            raise

    def _known(self, state: PartitionState, broker: int) -> ReplicaLog | None:
        """Return the log that the broker answered, or None when the answer no longer counts."""
        if broker in self._away:
            return None
        return self._logs.get(broker, {}).get(asked(state))

    @property
    def answered(self) -> frozenset[int]:
        return frozenset(self._logs)

    @property
    def fenced_waiting_for(self) -> list[int]:
        return sorted(self._fenced.waiting_for)

    @property
    def waiting_for(self) -> list[int]:
        return sorted(broker for broker, task in self._tasks.items() if not task.done())

    async def wait(self, seconds: float) -> None:
        """Wait until every task is done, at most `seconds`."""
        running = [task for task in self._tasks.values() if not task.done()]
        running += self._fenced.at_work
        if running:
            await all_done(running, seconds)
        for broker in [b for b, task in self._tasks.items() if task.done()]:
            self._tasks.pop(broker).result()

    async def end(self) -> None:
        """Cancel all tasks; brokers without an answer are in `failures` from then on."""
        await self._fenced.end()
        for broker in self.waiting_for:
            why = self._why_late(broker)
            late = f"did not answer in time{'' if why is None else f': {why}'}"
            self.failures.setdefault(broker, late)
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def replica_logs(
        self, state: PartitionState, live: Container[int], doubts: Mapping[int, str]
    ) -> list[ReplicaLog]:
        """Return the log of each replica of one partition, with the reason where it is unknown.
        doubts: why brokers that are not live are not known to be dead."""
        return [
            self._replica_log(state, broker, broker in live, doubts.get(broker))
            for broker in state.replicas
        ]

    def _replica_log(
        self, state: PartitionState, broker: int, live: bool, doubt: str | None
    ) -> ReplicaLog:
        if not live and (told := self._fenced.known(state, broker)) is not None:
            return told
        log = self._known(state, broker)
        if log is None and not live:
            log = self._logs.get(broker, {}).get(asked(state))
        if log is None:
            problem = self._why_unknown(broker) if live else _not_live(doubt)
            return _unread(broker, live=live, problem=problem, unproven=doubt)
        if doubt is not None:
            return replace(log, live=live, unproven=doubt)
        return log if log.live == live else replace(log, live=live)

    def _why_unknown(self, broker: int) -> str:
        was_asked = broker in self._logs
        otherwise = "has not answered since it was away or the partition was led again"
        return self.failures.get(broker, otherwise if was_asked else "was not asked")


# One value for all partitions whose replica on a broker is unread for the same reason.
_unread = lru_cache(maxsize=1024)(ReplicaLog)


def _not_live(doubt: str | None) -> str:
    return "broker is down" if doubt is None else f"the broker may live: it {doubt}"


def _of_one_process(logs: Mapping[Asked, ReplicaLog]) -> Mapping[Asked, ReplicaLog]:
    """Keep the logs with the newest broker epoch, and those without a broker epoch: a restarted
    broker may have lost records that it reported before."""
    newest = max((log.broker_epoch or 0 for log in logs.values()), default=0)
    return {
        which: log
        for which, log in logs.items()
        if log.broker_epoch is None or log.broker_epoch == newest
    }
