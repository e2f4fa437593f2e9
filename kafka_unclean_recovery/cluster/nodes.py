"""Connections to the nodes of one cluster are opened when first needed, and kept. Each is checked
when it is opened: one to a broker leads to that broker, and each one into this cluster.

Reads, requests to the controller and probes of replicas each have their own connections: a broker
answers the requests of one connection one after another, and giving up one answer must not end the
wait for another. A node that stayed silent, or gave a useless answer, is asked again only after the
others, for a while.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.identity import prove
from kafka_unclean_recovery.cluster.requests.describe import (
    RequestFailed,
    describe_cluster,
    zookeeper_controller,
)
from kafka_unclean_recovery.cluster.wire.bootstrap import connect_any
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.dial import address_text, bounded
from kafka_unclean_recovery.cluster.wire.errors import (
    ClustersMixed,
    ConnectionFailed,
    FailureKind,
    NoBrokerReachable,
    NoControllerReachable,
    most_telling,
)
from kafka_unclean_recovery.cluster.wire.race import Attempt, first_success
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.model import Broker, Cluster

T = TypeVar("T")

Address = tuple[str, int]
Ask = Callable[[Connection], Awaitable[T]]

_FORSAKEN_SECONDS = 120.0
"""The time for which a node that failed is asked last. It is longer than a broker keeps a request
for the controller, and shorter than an operator takes to bring a node back for good."""

# Bootstrap servers have this time to say which cluster they belong to, while other work goes on.
_BOOTSTRAP_SECONDS = 10.0

# One broker has this time alone to pass the question to the controller before the next is asked.
_WAY_SECONDS = 0.75


@dataclass(frozen=True, slots=True)
class _Known:
    """A connection to a broker at the address that it advertised. unproven: why nothing shows that
    it is this broker, None where it is proven."""

    address: Address
    connection: Connection
    unproven: str | None


@dataclass(frozen=True, slots=True)
class _Way(Generic[T]):
    """A connection that leads to the controller, and the answer that came over it."""

    connection: Connection
    answer: T

    async def close(self) -> None:
        await self.connection.close()


class Nodes:
    """Requests go through this class: to one broker by id, to any live broker, or through any
    broker to the controller.

    A bootstrap server of another cluster than the one that was described first is not used.
    """

    def __init__(self, bootstrap: Sequence[Address], config: ClientConfig) -> None:
        self.config = config
        self._bootstrap = tuple(bootstrap)
        self._cluster: Cluster | None = None
        self._told_by = ""
        # These connections are known to lead into this cluster.
        self._ours: set[Connection] = set()
        self._by_id: dict[int, _Known] = {}
        self._opening: dict[int, asyncio.Lock] = {}
        self._any: Connection | None = None
        self._choosing = asyncio.Lock()
        self._controller: Connection | None = None
        self._finding = asyncio.Lock()
        self._soon: asyncio.Task[None] | None = None
        self._checking: asyncio.Task[ClustersMixed | None] | None = None
        # The keys are "host:port", with the node that failed last at the end.
        self._forsaken: dict[str, Deadline] = {}
        # Somebody may still wait for an answer over one of these connections.
        self._replaced: list[Connection] = []

    def know(self, cluster: Cluster, told_by: Connection) -> None:
        """Remember the live brokers, so that losing the bootstrap servers does no harm. Raises
        ConnectionFailed when `cluster` is another cluster than before."""
        if self._cluster is None:
            self._told_by = told_by.address
            self._cluster = cluster
            deadline = Deadline.after(_BOOTSTRAP_SECONDS)
            self._checking = asyncio.create_task(self._check_bootstrap(deadline))
        self._same_cluster(cluster, told_by)
        self._cluster = cluster
        self._ours.add(told_by)

    @property
    def live(self) -> frozenset[int]:
        """Return the ids of the live brokers, as far as brokers have told them."""
        return frozenset(self._brokers)

    @property
    def _brokers(self) -> dict[int, Broker]:
        return dict(self._cluster.brokers) if self._cluster else {}

    def addresses(self) -> tuple[Address, ...]:
        """Return the address of every node that may answer, in the order in which to try them: the
        node that reads go through comes first."""
        known = ((b.host, b.port) for b in self._brokers.values())
        every = dict.fromkeys((*known, *self._bootstrap))
        forsaken = [text for text, until in self._forsaken.items() if not until.expired]
        at_work = None if self._any is None or self._any.closed else self._any.address

        def turn(address: Address) -> int:
            text = address_text(*address)
            if text in forsaken:
                return forsaken.index(text) + 1
            return -1 if text == at_work else 0

        return tuple(sorted(every, key=turn))

    def forsake(self, connection: Connection) -> None:
        """Prefer other nodes from now on, because this node misbehaved. Requests that were sent
        over the connection stay sent, and may still be answered."""
        self._forsaken.pop(connection.address, None)
        self._forsaken[connection.address] = Deadline.after(_FORSAKEN_SECONDS)
        if connection is self._any:
            self._any = None
            self._replaced.append(connection)
        if connection is self._controller:
            self._controller = None
            self._replaced.append(connection)

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
                for id_, broker in self._brokers.items()
                if address_text(broker.host, broker.port) == connection.address
            ),
            None,
        )

    @property
    def known(self) -> dict[int, Broker]:
        """Return the live brokers by id, as remembered."""
        return self._brokers

    async def broker(self, broker: Broker, deadline: Deadline) -> Connection:
        """Return the connection to one broker. Raises ConnectionFailed, also where another node
        answers there."""
        address = (broker.host, broker.port)
        lock = self._opening.setdefault(broker.id, asyncio.Lock())
        await _acquire(lock, deadline, address_text(*address))
        try:
            known = self._by_id.get(broker.id)
            if known is None or known.connection.closed or known.address != address:
                if known is not None:
                    self._replaced.append(known.connection)
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
            cluster = None if self._cluster is None else self._cluster.cluster_id
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
        """Return what this broker said of a client quota that is used up, None where it said
        nothing."""
        known = self._by_id.get(broker)
        return None if known is None else known.connection.throttled

    async def any(self, deadline: Deadline) -> Connection:
        """Return a connection for reads to some broker, the same one as long as it works.

        Raises NoBrokerReachable.
        """
        async with self._one_at_a_time(self._choosing, deadline):
            self._any = await self._usable(self._any, self.addresses(), deadline)
            return self._any

    async def turn_to(self, brokers: Collection[int], deadline: Deadline) -> None:
        """Let reads go through one of these brokers. Raises NoBrokerReachable, and then reads go
        where they went before."""
        async with self._one_at_a_time(self._choosing, deadline):
            held = self._any
            if held is not None and not held.closed and self.broker_of(held) in brokers:
                return
            there = {(b.host, b.port) for id_, b in self._brokers.items() if id_ in brokers}
            inside = [address for address in self.addresses() if address in there]
            self._any = await self._usable(None, inside, deadline)
            if held is not None:
                self._replaced.append(held)

    async def controller(self, deadline: Deadline) -> Connection:
        """Return a connection to some broker, for requests that the broker passes on to the
        controller. Only the sender of such requests gives the connection up.

        Raises NoBrokerReachable.
        """
        async with self._one_at_a_time(self._finding, deadline):
            found = await self._usable(self._controller, self.addresses(), deadline)
            # It is kept in any case: whatever fails from here on, somebody closes it.
            self._controller = found
            self._controller = await self._leading_to_controller(found, deadline)
            return self._controller

    async def controller_address(
        self, connection: Connection, deadline: Deadline
    ) -> Address | None:
        """Return the address of the broker that is the controller where the cluster runs on
        ZooKeeper, whose other brokers answer NOT_CONTROLLER. None with KRaft, and while no broker
        is known. Raises
        ConnectionFailed."""
        controller = await zookeeper_controller(connection, deadline)
        if controller is None or self._cluster is None:
            return None
        broker = self._brokers.get(controller)
        if broker is None:
            sentence = (
                "the cluster runs on ZooKeeper, and no live broker is its controller, as it is told"
                " here"
            )
            raise ConnectionFailed(FailureKind.NO_CONTROLLER, connection.address, sentence)
        return broker.host, broker.port

    async def _leading_to_controller(self, found: Connection, deadline: Deadline) -> Connection:
        """Return the connection, or one to the broker that must be asked instead. Raises
        NoBrokerReachable."""
        try:
            address = await self.controller_address(found, deadline)
        except ConnectionFailed as error:
            raise NoBrokerReachable([error]) from None
        if address is None or address_text(*address) == found.address:
            return found
        self._replaced.append(found)
        return await self._usable(None, [address], deadline)

    @asynccontextmanager
    async def _one_at_a_time(self, lock: asyncio.Lock, deadline: Deadline) -> AsyncIterator[None]:
        """Hold the lock. Raises NoBrokerReachable where another holds it until the deadline."""
        try:
            await _acquire(lock, deadline, address_text(*self.addresses()[0]))
        except ConnectionFailed as error:
            raise NoBrokerReachable([error]) from None
        try:
            yield
        finally:
            lock.release()

    def open_controller_soon(self, deadline: Deadline) -> None:
        """Begin to open the connection that `controller` returns, while other work goes on."""

        async def opening() -> None:
            with contextlib.suppress(NoBrokerReachable):
                await self.controller(deadline)

        self._soon = self._soon or asyncio.create_task(opening())

    async def ask_controller(self, ask: Ask[T], deadline: Deadline) -> T:
        """Return the answer to `ask` through the first broker that gets the controller to answer.
        Requests to the controller go through that broker from then on.

        `ask` changes nothing. Raises NoControllerReachable with the reason of each broker that
        failed.
        """
        asked: list[Connection] = []

        async def way(opening: Awaitable[Connection]) -> _Way[T]:
            try:
                connection = await opening
            except NoBrokerReachable as error:
                raise most_telling(error.failures).again() from None
            asked.append(connection)
            return await self._answered(connection, ask)

        async def at_hand() -> _Way[T]:
            return await way(self.controller(deadline))

        async def through(address: Address) -> _Way[T]:
            return await way(self._through(address, deadline))

        attempts: list[Attempt[_Way[T]]] = [at_hand]
        attempts += [partial(through, address) for address in self._other_ways()]
        found = await first_success(attempts, _WAY_SECONDS)
        if not isinstance(found, _Way):
            raise NoControllerReachable(found)
        for connection in asked:
            if connection is not found.connection:
                self.forsake(connection)
        if self._controller is not None and self._controller is not found.connection:
            self._replaced.append(self._controller)
        self._controller = found.connection
        return found.answer

    async def _through(self, address: Address, deadline: Deadline) -> Connection:
        found = await self._usable(None, [address], deadline)
        return await self._leading_to_controller(found, deadline)

    def _other_ways(self) -> list[Address]:
        at_hand = self._controller.address if self._controller else None
        return [a for a in self.addresses() if address_text(*a) != at_hand]

    async def _answered(self, connection: Connection, ask: Ask[T]) -> _Way[T]:
        """Ask over the connection, and close it when the answer does not come: nothing else may be
        sent behind an unanswered question."""
        try:
            return _Way(connection, await ask(connection))
        except ConnectionFailed:
            self.forsake(connection)
            await connection.close()
            raise
        except BaseException:
            if connection is self._controller:
                self._controller = None
            await connection.close()
            raise

    async def only_one_cluster(self, seconds: float) -> None:
        """Wait at most `seconds` for the check of the bootstrap servers. Raises ClustersMixed when
        one of them belongs to another cluster than the one that was described."""
        if self._checking is not None:
            await asyncio.wait([self._checking], timeout=seconds)
            if self._checking.done() and (mixed := self._checking.result()) is not None:
                raise mixed.again()

    async def _check_bootstrap(self, deadline: Deadline) -> ClustersMixed | None:
        """Ask every bootstrap server that no broker advertises which cluster it belongs to. A
        server that does not answer is left out."""
        members = {(b.host, b.port) for b in self._brokers.values()}
        strangers = [a for a in self._bootstrap if a not in members]
        clusters = await asyncio.gather(*(self._cluster_of(a, deadline) for a in strangers))
        for address, cluster_id in zip(strangers, clusters, strict=True):
            if self._cluster is not None and cluster_id not in (None, self._cluster.cluster_id):
                return ClustersMixed(
                    f"--bootstrap-server names brokers of two clusters: {self._told_by} is of"
                    f" cluster {self._cluster.cluster_id}, {address_text(*address)} of cluster"
                    f" {cluster_id}; name those of one"
                )
        return None

    async def _cluster_of(self, address: Address, deadline: Deadline) -> str | None:
        if address_text(*address) == self._told_by:
            return None
        try:
            async with await Connection.open(*address, self.config, deadline) as connection:
                return (await describe_cluster(connection, deadline))[0].cluster_id
        except (ConnectionFailed, RequestFailed):
            return None

    async def _usable(
        self, held: Connection | None, addresses: Sequence[Address], deadline: Deadline
    ) -> Connection:
        """Return the held connection, or a new one. Raises NoBrokerReachable."""
        connection, left = held, list(addresses)
        if connection is not None and connection.closed:
            self._replaced.append(connection)
            connection = None
        while True:
            connection = connection or await connect_any(left, self.config, deadline)
            try:
                await self._check_cluster(connection, deadline)
            except ConnectionFailed as error:
                self.forsake(connection)
                await connection.close()
                left = [a for a in left if address_text(*a) != error.address]
                if not left:
                    raise NoBrokerReachable([error]) from None
                connection = None
            except BaseException:
                await connection.close()
                raise
            else:
                return connection

    async def _check_cluster(self, connection: Connection, deadline: Deadline) -> None:
        """Check that the node belongs to our cluster. An address may belong to any cluster, also
        one that our brokers advertise: it may have been given to another since."""
        if self._cluster is None or connection in self._ours:
            return
        with contextlib.suppress(RequestFailed):
            cluster, _ = await describe_cluster(connection, deadline)
            self._same_cluster(cluster, connection)
        self._ours.add(connection)

    def _same_cluster(self, cluster: Cluster, told_by: Connection) -> None:
        if self._cluster is not None and self._cluster.cluster_id != cluster.cluster_id:
            sentence = f"it is of cluster {cluster.cluster_id}, not {self._cluster.cluster_id}"
            raise ConnectionFailed(FailureKind.OTHER_CLUSTER, told_by.address, sentence)

    async def close(self) -> None:
        tasks = [task for task in (self._soon, self._checking) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        connections = [*(known.connection for known in self._by_id.values()), *self._replaced]
        connections += [c for c in (self._any, self._controller) if c is not None]
        await asyncio.gather(*(connection.close() for connection in connections))


async def _acquire(lock: asyncio.Lock, deadline: Deadline, address: str) -> None:
    """Wait for the lock. Raises ConnectionFailed at the deadline: whoever holds it may have more
    time than this caller."""
    async with bounded(deadline, address, "another connection to it is opened"):
        await lock.acquire()
