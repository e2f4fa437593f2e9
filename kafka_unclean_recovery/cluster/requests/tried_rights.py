"""Send the requests that change who leads in a form that can change nothing, to try the caller's
rights.

The active controller checks the caller's rights before it looks at what is asked for
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

# No topic can have this name: a slash is not allowed (org.apache.kafka.common.internals.Topic).
NO_TOPIC = TopicPartition("kafka-unclean-recovery/doctor", 0)


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
