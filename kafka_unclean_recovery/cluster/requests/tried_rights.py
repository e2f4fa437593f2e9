"""The requests that change who leads, sent so that nothing can change: only the right is tried.

The active controller looks at the caller's rights before it looks at what is asked for
(kafka.server.ControllerApis). So an answer without CLUSTER_AUTHORIZATION_FAILED proves the right.
"""

from __future__ import annotations

from kafka_unclean_recovery.cluster.requests.controller_requests import (
    PREFERRED,
    alter_replica_order,
    elect_designated,
    elect_leaders,
)
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.mechanisms import ElectionMethod
from kafka_unclean_recovery.model import TopicPartition

# No topic can be called so: a slash is not allowed (org.apache.kafka.common.internals.Topic).
NO_TOPIC = TopicPartition("kafka-unclean-recovery/doctor", 0)


async def try_reordering(connection: Connection, deadline: Deadline) -> None:
    """AlterPartitionReassignments of no partition. Raises RequestFailed when it is refused."""
    await alter_replica_order(connection, {}, deadline)


async def try_electing(connection: Connection, method: ElectionMethod, deadline: Deadline) -> None:
    """ElectLeaders of a partition that can't exist. Raises RequestFailed when it is refused.

    Never of an empty list: null stands for every partition there, and is one byte away.
    """
    if method is ElectionMethod.DESIGNATED:
        await elect_designated(connection, {NO_TOPIC: 0}, deadline)
    else:
        await elect_leaders(connection, PREFERRED, [NO_TOPIC], deadline)
