"""Connections to the nodes of one cluster are opened when first needed, and kept. Each is checked
when it is opened: one to a broker leads to that broker, and each one into this cluster.

Reads, requests to the controller and probes of replicas each have their own connections: a broker
answers the requests of one connection one after another, and giving up one answer must not end the
wait for another.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.controller_ways import Ask, ControllerWays
from kafka_unclean_recovery.cluster.identity import prove
from kafka_unclean_recovery.cluster.locking import acquire, one_at_a_time
from kafka_unclean_recovery.cluster.members import Members
from kafka_unclean_recovery.cluster.wire.bootstrap import Address
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.dial import address_text
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.model import Broker, Cluster

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Known:
    """A connection to a broker at the address that it advertised. unproven: why nothing shows that
    it is this broker, None where it is proven."""

    address: Address
    connection: Connection
    unproven: str | None


class Nodes:
    """Requests go through this class: to one broker by id, to any live broker, or through any
    broker to the controller."""

    def __init__(self, bootstrap: Sequence[Address], config: ClientConfig) -> None:
        self.config = config
        self._members = Members(bootstrap, config)
        self._controller = ControllerWays(self._members, self._reads_at)
        self._by_id: dict[int, _Known] = {}
        self._opening: dict[int, asyncio.Lock] = {}
        self._any: Connection | None = None
        self._choosing = asyncio.Lock()

    def know(self, cluster: Cluster, told_by: Connection) -> None:
        """Remember the live brokers; see Members.know."""
        self._members.know(cluster, told_by)

    @property
    def live(self) -> frozenset[int]:
        """Return the ids of the live brokers, as far as brokers have told them."""
        return frozenset(self.known)

    @property
    def lived(self) -> frozenset[int]:
        """Return the ids of all brokers that were listed as live at any time so far."""
        return frozenset(self._members.lived)

    @property
    def known(self) -> dict[int, Broker]:
        """Return the live brokers by id, as remembered."""
        return self._members.brokers

    @property
    def connected(self) -> bool:
        """Tell whether any node has answered so far."""
        return self._any is not None or bool(self._by_id)

    def addresses(self) -> tuple[Address, ...]:
        """Return the address of every node that may answer, in the order in which to try them: the
        node that reads go through comes first."""
        return self._members.addresses(self._reads_at())

    def _reads_at(self) -> str | None:
        return None if self._any is None or self._any.closed else self._any.address

    def forsake(self, connection: Connection) -> None:
        """Prefer other nodes from now on, because this node misbehaved. Requests that were sent
        over the connection stay sent, and may still be answered."""
        self._members.forsake(connection.address)
        if connection is self._any:
            self._any = None
            self._members.put_aside(connection)
        self._controller.let_go(connection)

    def forsake_reads(self) -> None:
        """Call `forsake` for the node that reads go through."""
        if self._any is not None:
            self.forsake(self._any)

    def broker_of(self, connection: Connection) -> int | None:
        """Return the broker at the other end of the connection; None where that node is known only
        by another address."""
        return next(
            (
                id_
                for id_, broker in self.known.items()
                if address_text(broker.host, broker.port) == connection.address
            ),
            None,
        )

    async def broker(self, broker: Broker, deadline: Deadline) -> Connection:
        """Return the connection to one broker. Raises ConnectionFailed, also where another node
        answers there."""
        address = (broker.host, broker.port)
        lock = self._opening.setdefault(broker.id, asyncio.Lock())
        await acquire(lock, deadline, address_text(*address))
        try:
            known = self._by_id.get(broker.id)
            if known is None or known.connection.closed or known.address != address:
                if known is not None:
                    self._members.put_aside(known.connection)
                known = await self._open(broker.id, address, deadline)
                self._by_id[broker.id] = known
            return known.connection
        finally:
            lock.release()

    @asynccontextmanager
    async def shared(self, broker: Broker, deadline: Deadline) -> AsyncIterator[Connection]:
        """Give the connection that `broker` gives. Raises ConnectionFailed as `broker` does."""
        yield await self.broker(broker, deadline)

    @asynccontextmanager
    async def apart(self, broker: Broker, deadline: Deadline) -> AsyncIterator[Connection]:
        """Open a connection of its own to one broker, and close it at the end: for a side question,
        whose answer may be held back for long. Raises ConnectionFailed as `broker` does."""
        known = await self._open(broker.id, (broker.host, broker.port), deadline)
        try:
            yield known.connection
        finally:
            await known.connection.close()

    async def _open(self, broker: int, address: Address, deadline: Deadline) -> _Known:
        connection = await Connection.open(*address, self.config, deadline)
        try:
            cluster = None if self._members.cluster is None else self._members.cluster.cluster_id
            unproven = None
            if cluster is not None:
                unproven = await prove(connection, cluster, broker, deadline)
        except BaseException:
            await connection.close()
            raise
        return _Known(address, connection, unproven)

    def unproven(self, broker: int) -> str | None:
        """Return why nothing shows that this broker is the one that answered over its connection;
        None where that is proven, or it was not asked."""
        known = self._by_id.get(broker)
        return None if known is None else known.unproven

    def throttled(self, broker: int) -> str | None:
        """Return what this broker said of a used-up client quota, None where nothing."""
        known = self._by_id.get(broker)
        return None if known is None else known.connection.throttled

    def slowed(self) -> str | None:
        """Return what a node said last of a client quota that was used up, None where none did."""
        every = [self._any, *(known.connection for known in self._by_id.values())]
        told = ((c.address, c.held_back) for c in every if c is not None)
        return next((f"{address}: {why}" for address, why in told if why is not None), None)

    async def any(self, deadline: Deadline) -> Connection:
        """Return a connection for reads to some broker, the same one as long as it works.

        Raises NoBrokerReachable.
        """
        async with one_at_a_time(self._choosing, deadline, self.addresses()):
            self._any = await self._members.usable(self._any, self.addresses(), deadline)
            return self._any

    async def turn_to(self, brokers: Collection[int], deadline: Deadline) -> None:
        """Let reads go through one of these brokers. Raises NoBrokerReachable, and then reads go
        where they went before."""
        async with one_at_a_time(self._choosing, deadline, self.addresses()):
            held = self._any
            if held is not None and not held.closed and self.broker_of(held) in brokers:
                return
            there = {(b.host, b.port) for id_, b in self.known.items() if id_ in brokers}
            inside = [address for address in self.addresses() if address in there]
            self._any = await self._members.usable(None, inside, deadline)
            if held is not None:
                self._members.put_aside(held)

    async def controller(self, deadline: Deadline) -> Connection:
        """Return a connection to some broker, for requests that the broker passes on to the
        controller. Only the sender of such requests gives the connection up.

        Raises NoBrokerReachable.
        """
        return await self._controller.held(deadline)

    def open_controller_soon(self, deadline: Deadline) -> None:
        """Begin to open the connection that `controller` returns, while other work goes on."""
        self._controller.open_soon(deadline)

    async def controller_address(
        self, connection: Connection, deadline: Deadline
    ) -> Address | None:
        """Return the broker to be asked in place of the controller; see ControllerWays."""
        return await self._controller.controller_address(connection, deadline)

    async def ask_controller(self, ask: Ask[T], deadline: Deadline) -> T:
        """Return the controller's answer to a side question; see ControllerWays.ask."""
        return await self._controller.ask(ask, deadline)

    async def only_one_cluster(self, seconds: float) -> None:
        """Check the bootstrap servers; see Members.only_one_cluster."""
        await self._members.only_one_cluster(seconds)

    async def close(self) -> None:
        await self._controller.close()
        connections = [known.connection for known in self._by_id.values()]
        connections += [] if self._any is None else [self._any]
        await asyncio.gather(*(connection.close() for connection in connections))
        await self._members.close()
