"""GetReplicaLogInfo (KIP-966, KIP-1275) has several dialects, which one function speaks.

No released Kafka speaks any of them. Differences between the dialects are hidden here: a value that
a dialect lacks is None.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from uuid import UUID

from kafka_unclean_recovery.cluster.wire.api import Message
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.layout import uuid_text
from kafka_unclean_recovery.cluster.wire.log_apis import GET_REPLICA_LOG_INFO
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.mechanisms import Dialect
from kafka_unclean_recovery.model import PartitionState

LIMIT = 1000
"""One request serves this many partitions, and none beyond."""

_VERSION = 0
_NOTHING = -1
# Key 94 is UnregisterController, which came with the new meaning of 93.
_AFTER_REVERTED = 94

IdPartition = tuple[str, int]
"""A partition is named by (topic id, partition)."""


@dataclass(frozen=True, slots=True)
class LogInfo:
    """The log of one replica. With an error (Kafka's code, 0 for none) the other numbers say
    nothing.

    current_leader_epoch: the partition's leader epoch in the broker's metadata; the log may hold no
    record of that epoch. last_written_leader_epoch: the epoch of the last record; None where the
    dialect does not tell, or there is no record. log_end_offset is exclusive.
    """

    error: int
    message: str | None
    last_written_leader_epoch: int | None
    current_leader_epoch: int
    log_end_offset: int


@dataclass(frozen=True, slots=True)
class LogInfos:
    """One answer. broker_epoch: the epoch of the broker process that gave it, None when it tells
    none."""

    broker_epoch: int | None
    logs: Mapping[IdPartition, LogInfo]


def speaks(connection: Connection, dialect: Dialect) -> bool:
    """Return True when the node advertises the dialect's key, whatever the node means by the key.
    Key 93 does not count on a node that has 94 too: that is Kafka 4.4, where 93 is another
    request."""
    if dialect is Dialect.REVERTED and _AFTER_REVERTED in connection.versions:
        return False
    return connection.version_for(GET_REPLICA_LOG_INFO[dialect]) == _VERSION


def unspoken(connection: Connection, dialect: Dialect) -> str:
    """Return the name of the request that a node does not speak, with what is known of the key that
    the node may mean instead."""
    what = f"GetReplicaLogInfo ({dialect})"
    if key_of(Dialect.REVERTED) not in connection.versions:
        return what
    if dialect is Dialect.REVERTED:
        return f"{what}: it announces key 94, and so its 93 is another request of Kafka's"
    return (
        f"{what}, key {key_of(dialect)}: it announces 93, which is another request since Kafka 4.4,"
        f" or {Dialect.REVERTED}; for a 93 that names the broker there is no dialect here"
    )


def key_of(dialect: Dialect) -> int:
    """Return the API key of the request that is sent."""
    return GET_REPLICA_LOG_INFO[dialect].API_KEY


def id_partition(state: PartitionState) -> IdPartition | None:
    """Return the name that the request has for a partition; None for a topic without an id (Kafka
    before 2.8)."""
    try:
        topic_id = UUID(state.topic_id)
    except ValueError:
        return None
    return (str(topic_id), state.partition) if topic_id.int else None


async def replica_log_info(
    connection: Connection,
    dialect: Dialect,
    broker: int,
    wanted: Sequence[IdPartition],
    deadline: Deadline,
) -> LogInfos:
    """Ask for at most LIMIT partitions; partitions that the broker leaves out are missing.

    Needs CLUSTER_ACTION, or DESCRIBE on the topics. Raises ConnectionFailed.
    """
    message = _request(dialect, broker, wanted)
    answer = await connection.request(message, deadline, version=_VERSION)
    return LogInfos(
        # Kafka's broker epochs begin above 0: a broker that answers 0 or -1 tells none.
        _known(answer["broker_epoch"] or _NOTHING),
        {
            (uuid_text(topic["topic_id"]), p["partition"]): _log_info(p)
            for topic in answer["topic_partition_log_info_list"]
            for p in topic["partition_log_info"]
        },
    )


def _request(dialect: Dialect, broker: int, wanted: Sequence[IdPartition]) -> Message:
    topics = [
        {"topic_id": UUID(topic_id).bytes, "partitions": [p for _, p in of_topic]}
        for topic_id, of_topic in groupby(sorted(wanted), key=lambda name: name[0])
    ]
    # A dialect that does not name the broker has no such field.
    fields = {"broker_id": broker, "topic_partitions": topics}
    return Message(GET_REPLICA_LOG_INFO[dialect], fields)


def _log_info(p: Mapping[str, Any]) -> LogInfo:
    return LogInfo(
        error=p["error_code"],
        message=p.get("error_message") or None,
        last_written_leader_epoch=_known(p.get("last_written_leader_epoch")),
        # The text of KIP-1275 has the current epoch under a name of its own.
        current_leader_epoch=p.get("partition_leader_epoch", p.get("current_leader_epoch")),
        log_end_offset=p["log_end_offset"],
    )


def _known(number: int | None) -> int | None:
    return None if number is None or number <= _NOTHING else number
