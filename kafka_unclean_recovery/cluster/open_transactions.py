"""Transactions that a replica's log leaves open, from the broker that hosts it."""

from __future__ import annotations

from collections.abc import Mapping

from kafka.protocol.admin.transactions import DescribeProducersRequest

from kafka_unclean_recovery.cluster.connection import Connection
from kafka_unclean_recovery.cluster.describe import RequestFailed
from kafka_unclean_recovery.cluster.error_codes import NONE
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.model import TopicPartition

_NO_TRANSACTION = -1


async def open_transactions(
    connection: Connection, topic_partition: TopicPartition, deadline: Deadline
) -> Mapping[int, int]:
    """First offsets by producer id. A follower without a leader answers too; needs READ on the
    topic. Raises ConnectionFailed, RequestFailed."""
    request = DescribeProducersRequest
    topic = request.TopicRequest(
        name=topic_partition.topic, partition_indexes=[topic_partition.partition]
    )
    answer = await connection.request(request(topics=[topic]), deadline)
    (found,) = (partition for topic in answer.topics for partition in topic.partitions)
    if found.error_code != NONE:
        raise RequestFailed("DescribeProducers", found.error_code)
    return {
        producer.producer_id: producer.current_txn_start_offset
        for producer in found.active_producers
        if producer.current_txn_start_offset != _NO_TRANSACTION
    }
