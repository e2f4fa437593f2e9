"""Read the transactions that a replica's log leaves open from the broker that hosts the replica."""

from __future__ import annotations

from collections.abc import Mapping

from kafka_unclean_recovery.cluster.requests.describe import RequestFailed
from kafka_unclean_recovery.cluster.requests.transactions import describe_producers
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.error_codes import NONE
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.model import TopicPartition


async def open_transactions(
    connection: Connection, topic_partition: TopicPartition, deadline: Deadline
) -> Mapping[int, int]:
    """Return the first offset of each open transaction by producer id. A follower without a leader
    answers too; needs READ on the topic. Raises ConnectionFailed, RequestFailed."""
    found = (await describe_producers(connection, [topic_partition], deadline))[topic_partition]
    if found.error != NONE:
        raise RequestFailed("DescribeProducers", found.error)
    return {each.producer_id: each.start_offset for each in found.open}
