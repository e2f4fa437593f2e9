"""Who belongs to one cluster, as its brokers tell: whom to ask, in which order, and whether who
answers is of this cluster.

A node that stayed silent, or gave a useless answer, is asked again only after the others, for a
while.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.requests.describe import RequestFailed, describe_cluster
from kafka_unclean_recovery.cluster.wire.bootstrap import Address, connect_any
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.dial import address_text
from kafka_unclean_recovery.cluster.wire.errors import (
    ClustersMixed,
    ConnectionFailed,
    FailureKind,
    NoBrokerReachable,
)
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.model import Broker, Cluster

_FORSAKEN_SECONDS = 120.0
"""The time for which a node that failed is asked last. It is longer than a broker keeps a request
for the controller, and shorter than an operator takes to bring a node back for good."""

# Bootstrap servers have this time to say which cluster they belong to, while other work goes on.
_BOOTSTRAP_SECONDS = 10.0


class Members:
    """The nodes of one cluster. A bootstrap server of another cluster than the one that was
    described first is not used.

    cluster: as it was described last, None before. lived: every broker that was ever listed as
    live.
    """

    def __init__(self, bootstrap: Sequence[Address], config: ClientConfig) -> None:
        self.config = config
        self.cluster: Cluster | None = None
        self.lived: set[int] = set()
        self._bootstrap = tuple(bootstrap)
        self._told_by = ""
        # These connections are known to lead into this cluster.
        self._ours: set[Connection] = set()
        self._checking: asyncio.Task[ClustersMixed | None] | None = None
        # The keys are "host:port", with the node that failed last at the end.
        self._forsaken: dict[str, Deadline] = {}
        # Somebody may still wait for an answer over one of these connections.
        self._put_aside: list[Connection] = []

    def know(self, cluster: Cluster, told_by: Connection) -> None:
        """Remember the live brokers, so that losing the bootstrap servers does no harm. Raises
        ConnectionFailed when `cluster` is another cluster than before."""
        if self.cluster is None:
            self._told_by = told_by.address
            self.cluster = cluster
            deadline = Deadline.after(_BOOTSTRAP_SECONDS)
            self._checking = asyncio.create_task(self._check_bootstrap(deadline))
        self._same_cluster(cluster, told_by)
        self.cluster = cluster
        self.lived.update(cluster.brokers)
        self._ours.add(told_by)

    @property
    def brokers(self) -> dict[int, Broker]:
        """Return the live brokers by id, as remembered."""
        return dict(self.cluster.brokers) if self.cluster else {}

    def addresses(self, first: str | None = None) -> tuple[Address, ...]:
        """Return the address of every node that may answer, in the order in which to try them.
        first: one to begin with, where it has not failed."""
        known = ((b.host, b.port) for b in self.brokers.values())
        every = dict.fromkeys((*known, *self._bootstrap))
        forsaken = [text for text, until in self._forsaken.items() if not until.expired]

        def turn(address: Address) -> int:
            text = address_text(*address)
            if text in forsaken:
                return forsaken.index(text) + 1
            return -1 if text == first else 0

        return tuple(sorted(every, key=turn))

    def forsake(self, address: str) -> None:
        """Ask this node last from now on, because it misbehaved."""
        self._forsaken.pop(address, None)
        self._forsaken[address] = Deadline.after(_FORSAKEN_SECONDS)

    def put_aside(self, connection: Connection) -> None:
        """Send nothing more over the connection. What was sent stays sent, and may be answered."""
        self._put_aside.append(connection)

    async def usable(
        self, held: Connection | None, addresses: Sequence[Address], deadline: Deadline
    ) -> Connection:
        """Return the held connection, or a new one. Raises NoBrokerReachable."""
        connection, left = held, list(addresses)
        if connection is not None and connection.closed:
            self.put_aside(connection)
            connection = None
        while True:
            connection = connection or await connect_any(left, self.config, deadline)
            try:
                await self._check_cluster(connection, deadline)
            except ConnectionFailed as error:
                self.forsake(connection.address)
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
        if self.cluster is None or connection in self._ours:
            return
        with contextlib.suppress(RequestFailed):
            cluster, _ = await describe_cluster(connection, deadline)
            self._same_cluster(cluster, connection)
        self._ours.add(connection)

    def _same_cluster(self, cluster: Cluster, told_by: Connection) -> None:
        if self.cluster is not None and self.cluster.cluster_id != cluster.cluster_id:
            sentence = f"it is of cluster {cluster.cluster_id}, not {self.cluster.cluster_id}"
            raise ConnectionFailed(FailureKind.OTHER_CLUSTER, told_by.address, sentence)

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
        members = {(b.host, b.port) for b in self.brokers.values()}
        strangers = [a for a in self._bootstrap if a not in members]
        clusters = await asyncio.gather(*(self._cluster_of(a, deadline) for a in strangers))
        for address, cluster_id in zip(strangers, clusters, strict=True):
            if self.cluster is not None and cluster_id not in (None, self.cluster.cluster_id):
                return ClustersMixed(
                    f"--bootstrap-server names brokers of two clusters: {self._told_by} is of"
                    f" cluster {self.cluster.cluster_id}, {address_text(*address)} of cluster"
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

    async def close(self) -> None:
        """Close what was put aside."""
        if self._checking is not None:
            self._checking.cancel()
            await asyncio.gather(self._checking, return_exceptions=True)
        await asyncio.gather(*(connection.close() for connection in self._put_aside))
