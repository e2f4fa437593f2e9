"""The requests that change who leads: a new order of a replica set, and an election, which is the
controller's choice or names a designated leader.

Any broker forwards them to the active controller. Both are harmless to repeat, and no error or
silence proves that a request was not carried out: see `UNSURE` in error_codes.py.

The active controller checks the caller's rights before it looks at what is asked for
(kafka.server.ControllerApis). So an answer without CLUSTER_AUTHORIZATION_FAILED to a request that
can change nothing proves the right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from kafka_unclean_recovery.cluster.requests.asking import by_topic
from kafka_unclean_recovery.cluster.requests.describe import RequestFailed
from kafka_unclean_recovery.cluster.wire.api import Message
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.controller_apis import (
    ALTER_PARTITION_REASSIGNMENTS,
    ELECT_LEADERS,
)
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.mechanisms import ElectionMethod
from kafka_unclean_recovery.model import TopicPartition

# No topic can have this name: a slash is not allowed (org.apache.kafka.common.internals.Topic).
NO_TOPIC = TopicPartition("kafka-unclean-recovery/doctor", 0)
# The numbers are those of org.apache.kafka.common.ElectionType.
PREFERRED = 0
UNCLEAN = 1
DESIGNATED = 2

DESIGNATED_LIMIT = 1000
"""One designated election serves this many partitions, and none beyond."""
_CHOSEN_BY_CONTROLLER, _DESIGNATED_VERSION = 2, 3

# Brokers are told this time-out; they ignore it while the quorum is lost, and answer after 60 s.
_TIMEOUT_MS = 60_000


class PartitionResult(Struct, frozen=True):
    """Kafka's error code for one partition, 0 for success, and the message with it, if any.
    left_out: True when the answer lacked the partition."""

    error: int
    message: str | None = None
    left_out: bool = False


def left_out(asked: Iterable[TopicPartition]) -> dict[TopicPartition, PartitionResult]:
    """Return an error for each partition that the answer lacks: a missing answer is no success."""
    missing = PartitionResult(
        Errors.UNKNOWN_SERVER_ERROR, "the controller left it out of its answer", True
    )
    return dict.fromkeys(asked, missing)


async def alter_replica_order(
    connection: Connection,
    orders: Mapping[TopicPartition, Sequence[int] | None],
    deadline: Deadline,
    *,
    fewer: bool = False,
) -> dict[TopicPartition, PartitionResult]:
    """Send AlterPartitionReassignments with unchanged replica sets in another order. None instead
    of an order cancels the reassignment in progress.

    With nothing to add or remove, the controller only rewrites the order: no data moves. fewer:
    replicas may leave their sets; otherwise a controller that knows the flag (4.1) refuses an order
    that has more or fewer replicas than the partition, which somebody else has changed then. Needs
    ALTER on the cluster. Raises RequestFailed when the whole request is refused.
    """
    topics = [
        {
            "name": topic,
            "partitions": [
                {"partition_index": tp.partition, "replicas": orders[tp]} for tp in of_topic
            ],
        }
        for topic, of_topic in by_topic(sorted(orders))
    ]
    fields = {
        "timeout_ms": _TIMEOUT_MS,
        "allow_replication_factor_change": fewer,
        "topics": topics,
    }
    message = Message(ALTER_PARTITION_REASSIGNMENTS, fields)
    answer = await connection.request(message, deadline)
    if answer["error_code"]:
        what = "AlterPartitionReassignments"
        raise RequestFailed(what, answer["error_code"], answer["error_message"])
    return {
        TopicPartition(topic["name"], p["partition_index"]): PartitionResult(
            p["error_code"], p["error_message"]
        )
        for topic in answer["responses"]
        for p in topic["partitions"]
    }


async def elect_leaders(
    connection: Connection,
    election_type: int,
    wanted: Sequence[TopicPartition] | None,
    deadline: Deadline,
) -> dict[TopicPartition, PartitionResult]:
    """Send ElectLeaders, at most version 2. `election_type` is PREFERRED or UNCLEAN; `wanted` None
    means every partition.

    Success does not say who was elected. Needs ALTER on the cluster. Raises RequestFailed when the
    whole request is refused.
    """
    topics = None
    if wanted is not None:
        topics = [
            {"topic": topic, "partitions": [tp.partition for tp in of_topic]}
            for topic, of_topic in by_topic(sorted(wanted))
        ]
    fields = {
        "election_type": election_type,
        "topic_partitions": topics,
        "timeout_ms": _TIMEOUT_MS,
    }
    version = connection.version_for(ELECT_LEADERS, at_most=_CHOSEN_BY_CONTROLLER)
    message = Message(ELECT_LEADERS, fields)
    return _elected(await connection.request(message, deadline, version=version))


def offers_designated(connection: Connection) -> bool:
    """Return True when the node advertises the version of ElectLeaders that names the leaders."""
    return connection.version_for(ELECT_LEADERS) == _DESIGNATED_VERSION


async def elect_designated(
    connection: Connection, leaders: Mapping[TopicPartition, int], deadline: Deadline
) -> dict[TopicPartition, PartitionResult]:
    """Send ElectLeaders version 3 for at most DESIGNATED_LIMIT partitions: each elects the named
    leader or nobody.

    No released Kafka speaks this version; it is sent only where it is advertised. Partitions over
    the node's limit are missing in the answer. Needs CLUSTER_ACTION on the cluster. Raises
    RequestFailed when the whole request is refused.
    """
    topics = [
        {
            "topic": topic,
            "partitions": [tp.partition for tp in tps],
            "designated_leaders": [leaders[tp] for tp in tps],
        }
        for topic, tps in by_topic(sorted(leaders))
    ]
    fields = {
        "election_type": DESIGNATED,
        "topic_partitions": topics,
        "timeout_ms": _TIMEOUT_MS,
    }
    message = Message(ELECT_LEADERS, fields)
    return _elected(await connection.request(message, deadline, version=_DESIGNATED_VERSION))


def _elected(answer: Mapping[str, Any]) -> dict[TopicPartition, PartitionResult]:
    if answer["error_code"]:
        raise RequestFailed("ElectLeaders", answer["error_code"])
    return {
        TopicPartition(topic["topic"], p["partition_id"]): PartitionResult(
            p["error_code"], p["error_message"]
        )
        for topic in answer["replica_election_results"]
        for p in topic["partition_result"]
    }


async def try_reordering(connection: Connection, deadline: Deadline) -> None:
    """Send AlterPartitionReassignments for no partition. Raises RequestFailed if refused."""
    await alter_replica_order(connection, {}, deadline)


async def try_electing(connection: Connection, method: ElectionMethod, deadline: Deadline) -> None:
    """Send ElectLeaders for a partition that can't exist. Raises RequestFailed when it is refused.

    The list is never empty: null stands for every partition there, and is one byte away.
    """
    if method is ElectionMethod.DESIGNATED:
        await elect_designated(connection, {NO_TOPIC: 0}, deadline)
    else:
        await elect_leaders(connection, PREFERRED, [NO_TOPIC], deadline)
