"""A Control acts on a running cluster beyond its processes: records, lags, interceptions, waiting.

It runs in the cluster's thread. A method raises ValueError when it can't do what it is told.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.emulator import administration
from kafka_unclean_recovery.emulator.apis.api import Api, Context
from kafka_unclean_recovery.emulator.broker.replica import Replica
from kafka_unclean_recovery.emulator.emulation import Emulation
from kafka_unclean_recovery.emulator.links import Links
from kafka_unclean_recovery.emulator.listener.intercepts import (
    Action,
    Decide,
    Interception,
    Interceptions,
)

T = TypeVar("T")

ACKS = {"all": -1, "1": 1, "0": 0}
# Some changes, such as the end of a session, are not announced, so the cluster is looked at this
# often, in seconds.
_LOOK_AGAIN = 0.05


class Control:
    """The control of a running cluster. `contexts` has one per broker. `moved` waits at most so
    long for something to move."""

    def __init__(
        self,
        emulation: Emulation,
        contexts: Mapping[int, Context],
        table: Mapping[int, Api],
        interceptions: Interceptions,
        links: Links,
        moved: Callable[[float], Awaitable[None]],
    ) -> None:
        self._emulation = emulation
        self._contexts = contexts
        self._table = table
        self._interceptions = interceptions
        self._links = links
        self._moved = moved

    def anyone(self) -> Context:
        """Return the context of a running broker that reaches the controller. Raises ValueError."""
        for id_, broker in self._emulation.brokers.items():
            if broker.running and self._emulation.faults.reaches_controller(id_):
                return self._contexts[id_]
        raise ValueError("no broker is running that reaches the controller")

    async def produce(
        self,
        topic: str,
        partition: int,
        records: int | Sequence[bytes],
        acks: str,
        batch: int,
        broker: int | None,
        timeout: float,
    ) -> int:
        if acks not in ACKS or batch < 1:
            raise ValueError(f"acks is one of {', '.join(ACKS)}, and a batch has a record at least")
        deadline = Deadline.after(timeout)
        context, replica = self._leader(topic, partition, broker)
        first = replica.log.end_offset
        given = None if isinstance(records, int) else records
        count = records if isinstance(records, int) else len(records)
        for begin in range(0, count, batch):
            end = min(begin + batch, count)
            values = _numbered(replica, end - begin) if given is None else given[begin:end]
            await administration.write(
                context, topic, partition, values, ACKS[acks], deadline.remaining()
            )
        return first

    def _leader(self, topic: str, partition: int, broker: int | None) -> tuple[Context, Replica]:
        key = self._emulation.partition_key(topic, partition)
        id_ = self._emulation.state.partition(key).leader if broker is None else broker
        context = self._contexts.get(id_)
        replica = None if context is None else context.broker.replicas.get(key)
        if context is None or replica is None or not (context.broker.running and replica.leads):
            who = "no live broker leads" if broker is None else f"broker {broker} does not lead"
            raise administration.Refused(f"{who} {topic}-{partition}")
        return context, replica

    async def lag(
        self, broker: int, records: int | None, topic: str | None, partition: int
    ) -> None:
        self._emulation.broker(broker)
        key = None if topic is None else self._emulation.partition_key(topic, partition)
        await self._links.lag(broker, key, records)

    async def intercept(
        self, api: str | int, action: Action | Decide, broker: int | None, times: int
    ) -> Interception:
        if broker is not None:
            self._emulation.broker(broker)
        if times < 1:
            raise ValueError("what is intercepted is intercepted once at least")
        key = self._api_key(api)
        rule = Interception(key, self._table[key].name, action, broker, times)
        self._interceptions.rules = [*self._interceptions.open(), rule]
        return rule

    def _api_key(self, api: str | int) -> int:
        names = {found.name.lower(): key for key, found in self._table.items()}
        key = api if isinstance(api, int) else names.get(api.lower())
        if key is None and str(api).isdigit():
            key = int(api)
        if key is None or key not in self._table:
            listed = ", ".join(sorted(found.name for found in self._table.values()))
            raise ValueError(f"{api} is no API that is answered here; those are {listed}")
        return key

    async def clear_intercepts(self) -> None:
        for rule in self._interceptions.rules:
            rule.cancel()
        self._interceptions.rules = []

    async def wait_until(self, question: Callable[[Emulation], T], timeout: float) -> T:
        deadline = Deadline.after(timeout)
        while not (answer := question(self._emulation)):
            if deadline.expired:
                raise TimeoutError(f"not within {timeout:g} s")
            await self._moved(deadline.within(_LOOK_AGAIN).remaining())
        return answer


def _numbered(replica: Replica, count: int) -> list[bytes]:
    first = replica.log.end_offset
    return [b"%d led by %d" % (first + n, replica.leader) for n in range(count)]
