"""An Api answers one kind of request, and a Context holds the facts for the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.emulator.broker.broker import Broker
from kafka_unclean_recovery.emulator.broker.replica import Replica
from kafka_unclean_recovery.emulator.emulation import Emulation
from kafka_unclean_recovery.emulator.faults import NOWHERE
from kafka_unclean_recovery.emulator.listener.intercepts import Interceptions
from kafka_unclean_recovery.emulator.security.rights import EVERY_RIGHT, Rights
from kafka_unclean_recovery.kraft_rules.records import TopicIdPartition
from kafka_unclean_recovery.kraft_rules.state import State, Topic


@dataclass(slots=True)
class Muted:
    """A connection from which nothing is read for some time, as its client is over its quota."""

    until: Deadline | None = None


Fields = dict[str, Any]
"""These are the fields of an answer by name; see wire.encode."""

NO_TOPIC_ID = UUID(int=0)
_NOBODY = ("127.0.0.1", 1)


@dataclass(frozen=True, slots=True)
class Context:
    """The broker that is asked, the cluster it is in, and the addresses of the brokers.

    `moved` waits, at most so many seconds, for records or metadata to move. `versions`: the lowest
    and highest version of each advertised API key. `interceptions`: those of this cluster's
    requests. `rights`: those of the client. `gone` is set when the client has closed the
    connection. `muted`: whether this connection is read from.
    """

    broker: Broker
    emulation: Emulation
    addresses: Mapping[int, tuple[str, int]]
    versions: Mapping[int, tuple[int, int]]
    moved: Callable[[float], Awaitable[None]]
    interceptions: Interceptions
    rights: Rights = EVERY_RIGHT
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    muted: Muted = field(default_factory=Muted)

    async def moved_for_client(self, seconds: float) -> None:
        """Wait as `moved` does, for an answer that only this client waits for. A client may ask to
        wait for weeks and be killed meanwhile. Raises ConnectionError when the client is gone."""
        gone = asyncio.create_task(self.gone.wait())
        moved = asyncio.ensure_future(self.moved(seconds))
        try:
            await asyncio.wait((gone, moved), return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            moved.cancel()
        if self.gone.is_set():
            raise ConnectionAbortedError

    @property
    def state(self) -> State:
        """Return the metadata as this broker knows it, which may lag behind the controller's."""
        return self.emulation.seen_by(self.broker.id)

    def topic(self, name: str | None, topic_id: UUID | None) -> Topic | None:
        """Return a topic by name, or where that is None by id; kafka-python reads zeros as None."""
        if name:
            return self.state.topic(name)
        return self.state.topics.get(topic_id or NO_TOPIC_ID)

    def replica(self, topic: Topic, partition: int) -> Replica | None:
        """Return this broker's replica of a partition."""
        return self.broker.replicas.get(TopicIdPartition(topic.topic_id, partition))

    def no_replica(self, topic: Topic, partition: int, otherwise: int) -> int:
        """Return the error where this broker has no replica: a failed disk's, or `otherwise`."""
        return self.broker.absent.get(TopicIdPartition(topic.topic_id, partition), otherwise)

    def live(self) -> list[int]:
        """Return the unfenced brokers, shutting down or not, which Kafka's metadata lists to who
        comes in by this listener."""
        registrations = self.state.brokers
        return sorted(id_ for id_ in self.listed() if not registrations[id_].fenced)

    def listed(self) -> list[int]:
        """Return the brokers that have the listener which clients come in by, fenced or not."""
        return sorted(self.state.brokers.keys() - self.emulation.faults.unlisted)

    def address(self, broker: int) -> tuple[str, int]:
        """Return where clients who look for a broker arrive."""
        to = self.emulation.faults.astray.get(broker, broker)
        return _NOBODY if to == NOWHERE else self.addresses[to]


Answer = Callable[[Context, Any], Awaitable[Fields | None]]


@dataclass(frozen=True, slots=True)
class Api:
    """One API. `request` is a class of kafka-python's or of this package's; `answer` gets a decoded
    request, and returns None where the client wants no answer."""

    request: Any
    lowest: int
    highest: int
    answer: Answer

    @property
    def name(self) -> str:
        """Return the API's name in Kafka's class ApiKeys, such as ElectLeaders."""
        return str(self.request.name).removesuffix("Request")
