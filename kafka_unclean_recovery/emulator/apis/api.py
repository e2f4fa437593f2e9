"""What an API is, and what its answer may rest on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.emulator.broker.broker import Broker
from kafka_unclean_recovery.emulator.broker.replica import Replica
from kafka_unclean_recovery.emulator.controller.records import TopicIdPartition
from kafka_unclean_recovery.emulator.controller.state import State, Topic
from kafka_unclean_recovery.emulator.emulation import Emulation
from kafka_unclean_recovery.emulator.listener.intercepts import Interceptions
from kafka_unclean_recovery.emulator.security.rights import EVERY_RIGHT, Rights


@dataclass(slots=True)
class Muted:
    """A connection of which nothing is read for some time, as its client is over its quota."""

    until: Deadline | None = None


Fields = dict[str, Any]
"""Of an answer, by name; see wire.encode."""

NO_TOPIC_ID = UUID(int=0)


@dataclass(frozen=True, slots=True)
class Context:
    """The broker that is asked, the cluster it is in, and where the brokers listen.

    `moved` waits, at most so many seconds, for records or metadata to move. `versions`: the lowest
    and highest of each API key that is advertised. `interceptions`: of this cluster's requests.
    `rights`: of the client. `gone` is set when the client has closed the connection. `muted`: of
    this connection.
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
        """As `moved`, for what nobody but the client waits for, who may ask to wait for weeks and
        be killed. Raises ConnectionError when it is gone."""
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
        """Metadata as this broker knows it, which may lag behind the controller's."""
        return self.emulation.seen_by(self.broker.id)

    def topic(self, name: str | None, topic_id: UUID | None) -> Topic | None:
        """By name, or by id where the version has no name; kafka-python reads zeros as None."""
        if name:
            return self.state.topic(name)
        return self.state.topics.get(topic_id or NO_TOPIC_ID)

    def replica(self, topic: Topic, partition: int) -> Replica | None:
        """This broker's."""
        return self.broker.replicas.get(TopicIdPartition(topic.topic_id, partition))

    def no_replica(self, topic: Topic, partition: int, otherwise: int) -> int:
        """The error where this broker has none: that of a disk which failed, or `otherwise`."""
        return self.broker.absent.get(TopicIdPartition(topic.topic_id, partition), otherwise)

    def live(self) -> list[int]:
        """Unfenced brokers, shutting down or not: those that Kafka's metadata lists."""
        registrations = self.state.brokers
        return sorted(id_ for id_, found in registrations.items() if not found.fenced)


Answer = Callable[[Context, Any], Awaitable[Fields | None]]


@dataclass(frozen=True, slots=True)
class Api:
    """`request` is kafka-python's class or ours; `answer` gets a decoded one, and gives None where
    the client wants no answer."""

    request: Any
    lowest: int
    highest: int
    answer: Answer

    @property
    def name(self) -> str:
        """As Kafka's class ApiKeys has it: ElectLeaders."""
        return str(self.request.name).removesuffix("Request")
