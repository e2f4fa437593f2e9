"""Reading the cluster through whichever broker answers: a failed read is tried on another.

Reads change nothing, so they are repeated freely until their deadline.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from kafka_unclean_recovery.cluster.connection import Connection
from kafka_unclean_recovery.cluster.describe import (
    Reassignment,
    Topic,
    describe_cluster,
    describe_partitions,
    describe_topics,
    list_reassignments,
    with_reassignment,
)
from kafka_unclean_recovery.cluster.errors import ConnectionFailed
from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.quorum_state import quorum_is_up
from kafka_unclean_recovery.deadline import Clock, Deadline
from kafka_unclean_recovery.model import Cluster, PartitionState, TopicPartition

T = TypeVar("T")

_ATTEMPTS = 4
_PAUSE_SECONDS = 0.1


class Reader:
    """`timeout` in seconds bounds each call, whatever it takes."""

    def __init__(self, nodes: Nodes, clock: Clock, timeout: float = 30.0) -> None:
        self._nodes = nodes
        self._clock = clock
        self._timeout = timeout

    async def cluster(self) -> tuple[Cluster, frozenset[int]]:
        """The live brokers, and the caller's rights on the cluster."""
        cluster, rights = await self._read(describe_cluster)
        self._nodes.know(cluster.brokers)
        return cluster, rights

    async def topics(self, names: Sequence[str] | None) -> list[Topic]:
        """The named topics, or all that the caller may see."""
        return await self._read(lambda c, deadline: describe_topics(c, names, deadline))

    async def partitions(
        self, wanted: Sequence[TopicPartition]
    ) -> dict[TopicPartition, PartitionState]:
        """Those of `wanted` (sorted) that exist, as one broker sees them now."""
        return await self._read(lambda c, deadline: describe_partitions(c, wanted, deadline))

    async def partitions_and_reassignments(
        self, wanted: Sequence[TopicPartition]
    ) -> dict[TopicPartition, PartitionState]:
        """As `partitions`, with the reassignments in progress as the controller has them."""

        async def read(
            connection: Connection, deadline: Deadline
        ) -> dict[TopicPartition, PartitionState]:
            states, reassignments = await asyncio.gather(
                describe_partitions(connection, wanted, deadline),
                list_reassignments(connection, deadline),
            )
            return {tp: with_reassignment(s, reassignments) for tp, s in states.items()}

        return await self._read(read)

    async def reassignments(self) -> Mapping[TopicPartition, Reassignment]:
        """Every reassignment in progress, as the controller has them."""
        return await self._read(list_reassignments)

    async def quorum_is_up(self) -> bool:
        """See quorum_state.py."""
        return await self._read(quorum_is_up)

    async def _read(self, read: Callable[[Connection, Deadline], Awaitable[T]]) -> T:
        """Raises NoBrokerReachable, RequestFailed, or the last ConnectionFailed."""
        deadline = Deadline.after(self._timeout, self._clock)
        # A node that accepts and stays silent must leave time for another.
        share = self._timeout / _ATTEMPTS
        for attempt in range(1, _ATTEMPTS + 1):
            connection = await self._nodes.any(deadline)
            try:
                return await read(connection, deadline.within(share))
            except ConnectionFailed:
                await self._nodes.forsake_any()
                if attempt == _ATTEMPTS or deadline.expired:
                    raise
            await asyncio.sleep(_PAUSE_SECONDS)
        raise AssertionError("the last attempt returns or raises")
