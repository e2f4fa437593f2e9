"""Connections to the nodes of one cluster, opened when first needed and kept."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from kafka_unclean_recovery.cluster.bootstrap import connect_any
from kafka_unclean_recovery.cluster.connection import Connection
from kafka_unclean_recovery.cluster.security import ClientConfig
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.model import Broker

Address = tuple[str, int]


class Nodes:
    """Where requests go: to one broker by id, or to any that lives."""

    def __init__(self, bootstrap: Sequence[Address], config: ClientConfig) -> None:
        self.config = config
        self._bootstrap = tuple(bootstrap)
        self._brokers: Mapping[int, Broker] = {}
        self._by_address: dict[Address, Connection] = {}
        self._opening: dict[Address, asyncio.Lock] = {}
        self._any: Connection | None = None
        # Logins that ended while somebody may still have waited for an answer.
        self._replaced: list[Connection] = []
        self._choosing = asyncio.Lock()

    def know(self, brokers: Mapping[int, Broker]) -> None:
        """Remember who lives, so that `any` survives the bootstrap servers."""
        self._brokers = dict(brokers)

    async def broker(self, broker: Broker, deadline: Deadline) -> Connection:
        """The connection to one broker. Raises ConnectionFailed."""
        address = (broker.host, broker.port)
        async with self._opening.setdefault(address, asyncio.Lock()):
            connection = self._by_address.get(address)
            if connection is None or connection.closed:
                if connection is not None:
                    self._replaced.append(connection)
                connection = await Connection.open(*address, self.config, deadline)
                self._by_address[address] = connection
            return connection

    async def any(self, deadline: Deadline) -> Connection:
        """A connection to some broker, the same one as long as it works.

        Raises NoBrokerReachable.
        """
        async with self._choosing:
            if self._any is None or self._any.closed:
                known = ((b.host, b.port) for b in self._brokers.values())
                addresses = tuple(dict.fromkeys((*known, *self._bootstrap)))
                if self._any is not None:
                    self._replaced.append(self._any)
                self._any = await connect_any(addresses, self.config, deadline)
            return self._any

    async def forsake_any(self) -> None:
        """Let the next `any` choose anew: the node at hand misbehaved."""
        if self._any is not None:
            await self._any.close()
            self._any = None

    async def close(self) -> None:
        connections = [*self._by_address.values(), *self._replaced]
        if self._any is not None:
            connections.append(self._any)
        await asyncio.gather(*(connection.close() for connection in connections))
