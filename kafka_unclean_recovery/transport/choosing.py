"""Choose among the mechanisms that a cluster offers.

A mechanism that no released Kafka speaks is used only where the user names it, or where the broker
says that it is our emulator: a key or version that a node advertises may mean something else there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests.controller_requests import offers_designated
from kafka_unclean_recovery.cluster.requests.replica_log_info import speaks
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.errors import NoBrokerReachable
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.mechanisms import (
    EMULATOR_FEATURE,
    Dialect,
    ElectionMethod,
    Transport,
    Wishes,
)
from kafka_unclean_recovery.model import Broker, PartitionState, ReplicaLog, TopicPartition
from kafka_unclean_recovery.transport import Elector, ReplicaLogSource
from kafka_unclean_recovery.transport.designated_elector import DesignatedElector
from kafka_unclean_recovery.transport.electing import Means
from kafka_unclean_recovery.transport.list_offsets import ListOffsetsSource
from kafka_unclean_recovery.transport.move_elector import MoveElector, MovesApart
from kafka_unclean_recovery.transport.reorder_elector import ReorderElector
from kafka_unclean_recovery.transport.replica_log_info import ReplicaLogInfoSource


class NotOffered(InputError):
    """The cluster does not offer the mechanism that the user asked for. Nothing was changed; the
    message says what to do."""


class ChosenSource:
    """A ReplicaLogSource (the protocol in transport/__init__.py) that asks each broker in the way
    that this broker understands. It also raises NotOffered."""

    def __init__(self, nodes: Nodes, wishes: Wishes) -> None:
        self._nodes = nodes
        self._wishes = wishes
        # By broker: the connection over which logs were read in full, and of which partitions.
        self._read_over: dict[int, tuple[Connection, set[TopicPartition]]] = {}

    async def replica_logs(
        self, broker: Broker, states: Sequence[PartitionState], deadline: Deadline
    ) -> Mapping[TopicPartition, ReplicaLog]:
        # Before it is read: where it is lost on the way, the logs count as read over another one.
        connection = await self._nodes.broker(broker, deadline)
        over, read = self._read_over.get(broker.id, (connection, set[TopicPartition]()))
        if over is not connection:
            read = set()
        self._read_over[broker.id] = connection, read.union(s.topic_partition for s in states)
        source = await self._source(broker, deadline)
        logs = await source.replica_logs(broker, states, deadline)
        unproven = self._nodes.unproven(broker.id)
        if unproven is None:
            return logs
        return {tp: replace(log, unproven=unproven) for tp, log in logs.items()}

    async def log_ends(
        self, broker: Broker, states: Sequence[PartitionState], deadline: Deadline
    ) -> Mapping[TopicPartition, ReplicaLog]:
        connection = await self._nodes.broker(broker, deadline)
        over, read = self._read_over.get(broker.id, (None, set[TopicPartition]()))
        if over is not connection or not read.issuperset(s.topic_partition for s in states):
            # The broker may have started again since, with another disk: its end is not enough.
            return await self.replica_logs(broker, states, deadline)
        source = await self._source(broker, deadline)
        return await source.log_ends(broker, states, deadline)

    async def _source(self, broker: Broker, deadline: Deadline) -> ReplicaLogSource:
        dialect = dialect_for(await self._nodes.broker(broker, deadline), self._wishes)
        if dialect is None:
            return ListOffsetsSource(self._nodes)
        return ReplicaLogInfoSource(self._nodes, dialect)


def dialect_for(connection: Connection, wishes: Wishes) -> Dialect | None:
    """Return the dialect of GetReplicaLogInfo to speak with a node; None means list-offsets.

    Raises NotOffered when the user asked for the RPC and nothing says in which dialect.
    """
    if wishes.transport is Transport.LIST_OFFSETS:
        return None
    known = list(Dialect) if is_emulator(connection) else []
    candidates = known if wishes.dialect is None else [wishes.dialect]
    spoken = next((dialect for dialect in candidates if speaks(connection, dialect)), None)
    if spoken is not None or wishes.transport is Transport.AUTO:
        return spoken
    if wishes.dialect is None:
        raise NotOffered(
            f"{connection.address} does not say which dialect of GetReplicaLogInfo it speaks, if"
            " any: name it with --replica-log-info-dialect, or use --transport list-offsets"
        )
    # The source then reports each broker that lacks the dialect.
    return wishes.dialect


async def method_for(nodes: Nodes, wishes: Wishes, deadline: Deadline) -> ElectionMethod:
    """Return DESIGNATED or REORDER. Raises NotOffered, and NoBrokerReachable where the user asked
    for DESIGNATED."""
    if wishes.election_method is ElectionMethod.REORDER:
        return ElectionMethod.REORDER
    if wishes.election_method is ElectionMethod.AUTO:
        return await _auto_method(nodes, deadline)
    connection = await nodes.any(deadline)
    if offers_designated(connection):
        return ElectionMethod.DESIGNATED
    raise NotOffered(
        f"{connection.address} does not offer elections of a designated leader (ElectLeaders"
        " version 3), and nothing else is done instead: use --election-method reorder"
    )


async def _auto_method(nodes: Nodes, deadline: Deadline) -> ElectionMethod:
    try:
        connection = await nodes.any(deadline)
    except NoBrokerReachable:
        # The elector reports the unreachable brokers itself, partition by partition.
        return ElectionMethod.REORDER
    if is_emulator(connection) and offers_designated(connection):
        return ElectionMethod.DESIGNATED
    return ElectionMethod.REORDER


def elector_for(method: ElectionMethod, means: Means) -> Elector:
    """Return the elector of `method`, which method_for gave."""
    designated = method is ElectionMethod.DESIGNATED
    rest = DesignatedElector(means) if designated else ReorderElector(means)
    return MovesApart(MoveElector(means), rest)


def is_emulator(connection: Connection) -> bool:
    """Return True when the node says that it is our emulator."""
    return EMULATOR_FEATURE in connection.features
