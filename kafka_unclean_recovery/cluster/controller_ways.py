"""The ways to the controller: through some broker, which passes requests on.

Requests that change something have a connection that their sender alone gives up. Each side
question has another one: what fails or is slow there ends no wait for an answer that a decision
rests on. Where one node failed and another got the controller to answer, both go through that one
from then on.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from kafka_unclean_recovery.cluster.locking import one_at_a_time
from kafka_unclean_recovery.cluster.members import Members
from kafka_unclean_recovery.cluster.requests.describe import zookeeper_controller
from kafka_unclean_recovery.cluster.wire.bootstrap import Address
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.dial import address_text
from kafka_unclean_recovery.cluster.wire.errors import (
    ConnectionFailed,
    FailureKind,
    NoBrokerReachable,
    NoControllerReachable,
    most_telling,
)
from kafka_unclean_recovery.cluster.wire.race import Attempt, first_success
from kafka_unclean_recovery.deadline import Deadline

T = TypeVar("T")
Ask = Callable[[Connection], Awaitable[T]]

# One broker has this time alone to pass the question to the controller before the next is asked.
_WAY_SECONDS = 0.75


@dataclass(frozen=True, slots=True)
class _Way(Generic[T]):
    """A connection that leads to the controller, and the answer that came over it."""

    connection: Connection
    answer: T

    async def close(self) -> None:
        await self.connection.close()


class ControllerWays:
    """Leads requests to the controller of one cluster."""

    def __init__(self, members: Members, reads_at: Callable[[], str | None]) -> None:
        """Take `reads_at`, which returns the address of reads: it is the first to be tried."""
        self._members = members
        self._reads_at = reads_at
        self._finding = asyncio.Lock()
        self._soon: asyncio.Task[None] | None = None
        # Of requests that change something; `_led` once it is known to lead to the controller.
        self._held: Connection | None = None
        self._led: Connection | None = None
        # Of side questions, while none is being asked over it.
        self._spare: Connection | None = None
        # The node through which the controller answered last.
        self._answered_at: str | None = None

    async def held(self, deadline: Deadline) -> Connection:
        """Return the connection for requests that change something. Raises NoBrokerReachable."""
        async with one_at_a_time(self._finding, deadline, self._addresses()):
            found = await self._members.usable(self._held, self._addresses(), deadline)
            # It is kept in any case: whatever fails from here on, somebody closes it.
            self._held = found
            if found is not self._led:
                self._held = await self._leading(found, deadline)
                self._led = self._held
            return self._held

    def open_soon(self, deadline: Deadline) -> None:
        """Begin to open the connection that `held` returns, while other work goes on."""

        async def opening() -> None:
            with contextlib.suppress(NoBrokerReachable):
                await self.held(deadline)

        self._soon = self._soon or asyncio.create_task(opening())

    def let_go(self, connection: Connection) -> None:
        """Lead no more requests over this connection, because its node misbehaved."""
        if connection.address == self._answered_at:
            self._answered_at = None
        if connection is self._held:
            self._held = None
            self._members.put_aside(connection)

    def _addresses(self) -> tuple[Address, ...]:
        return self._members.addresses(self._answered_at or self._reads_at())

    async def controller_address(
        self, connection: Connection, deadline: Deadline
    ) -> Address | None:
        """Return the address of the broker that is the controller where the cluster runs on
        ZooKeeper, whose other brokers answer NOT_CONTROLLER. None with KRaft, and while no broker
        is known. Raises ConnectionFailed."""
        controller = await zookeeper_controller(connection, deadline)
        if controller is None or self._members.cluster is None:
            return None
        broker = self._members.brokers.get(controller)
        if broker is None:
            sentence = (
                "the cluster runs on ZooKeeper, and no live broker is its controller, as it is told"
                " here"
            )
            raise ConnectionFailed(FailureKind.NO_CONTROLLER, connection.address, sentence)
        return broker.host, broker.port

    async def _leading(self, found: Connection, deadline: Deadline) -> Connection:
        """Return the connection, or one to the broker that must be asked instead. Raises
        NoBrokerReachable."""
        try:
            address = await self.controller_address(found, deadline)
        except ConnectionFailed as error:
            raise NoBrokerReachable([error]) from None
        if address is None or address_text(*address) == found.address:
            return found
        self._members.put_aside(found)
        return await self._members.usable(None, [address], deadline)

    async def ask(self, ask: Ask[T], deadline: Deadline) -> T:
        """Return the answer to a side question through the first broker that gets the controller to
        answer. `ask` changes nothing. Raises NoControllerReachable with the reason of each broker
        that failed."""
        asked: list[Connection] = []
        spare, self._spare = self._spare, None
        attempts: list[Attempt[_Way[T]]] = []
        addresses = self._addresses()
        if spare is not None and spare.closed:
            await spare.close()
        elif spare is not None:
            attempts.append(partial(self._over, spare, ask, asked))
            addresses = tuple(a for a in addresses if address_text(*a) != spare.address)
        attempts += [partial(self._through, a, ask, asked, deadline) for a in addresses]
        found = await first_success(attempts, _WAY_SECONDS)
        if not isinstance(found, _Way):
            raise NoControllerReachable(found)
        await self._go_on_with(found.connection, asked)
        return found.answer

    async def _go_on_with(self, way: Connection, asked: list[Connection]) -> None:
        for connection in asked:
            if connection is not way:
                self._members.forsake(connection.address)
        if self._held is not None and self._held.address != way.address:
            # What was sent over it may still be answered.
            self._members.put_aside(self._held)
            self._held = None
        self._answered_at = way.address
        if self._spare is None:
            self._spare = way
        else:
            await way.close()

    async def _through(
        self, address: Address, ask: Ask[T], asked: list[Connection], deadline: Deadline
    ) -> _Way[T]:
        try:
            found = await self._members.usable(None, [address], deadline)
            connection = await self._leading(found, deadline)
        except NoBrokerReachable as error:
            raise most_telling(error.failures).again() from None
        return await self._over(connection, ask, asked)

    async def _over(self, connection: Connection, ask: Ask[T], asked: list[Connection]) -> _Way[T]:
        """Ask over the connection, and close it when the answer does not come: nothing else may be
        sent behind an unanswered question."""
        asked.append(connection)
        try:
            return _Way(connection, await ask(connection))
        except ConnectionFailed:
            self._members.forsake(connection.address)
            await connection.close()
            raise
        except BaseException:
            await connection.close()
            raise

    async def close(self) -> None:
        if self._soon is not None:
            self._soon.cancel()
            await asyncio.gather(self._soon, return_exceptions=True)
        for connection in (self._held, self._spare):
            if connection is not None:
                await connection.close()
