"""Fetch the records of a replica of a leaderless partition from the broker that hosts the replica.

Fetch version 12 as the future local replica (-3) reads a follower up to its log end, past its high
watermark (kafka.server.ReplicaManager.fetchMessages: a reader that is neither a follower nor a
consumer needs no leader). The request takes READ on the topic, as a consumer does.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka.protocol.consumer.fetch import FetchRequest

from kafka_unclean_recovery.cluster.requests.replica_probe import (
    FETCH_VERSION,
    FUTURE_LOCAL_REPLICA,
)
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.model import TopicPartition

_NO_EPOCH = -1


@dataclass(frozen=True, slots=True)
class Fetched:
    """The answer of one Fetch. records: whole batches, the first of which holds the offset asked
    for or the next one there is; the last may be cut short. It is empty at the log end, and with an
    error."""

    error: int
    records: bytes


async def fetch_records(
    connection: Connection,
    topic_partition: TopicPartition,
    offset: int,
    max_bytes: int,
    deadline: Deadline,
) -> Fetched | None:
    """Fetch about `max_bytes` of records, and at least one batch. Return None when the broker
    answers nothing because of a quota.

    Raises ConnectionFailed.
    """
    request = FetchRequest
    topic_class = request.FetchTopic
    message = request(
        version=FETCH_VERSION,
        replica_id=FUTURE_LOCAL_REPLICA,
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=max_bytes,
        isolation_level=0,
        topics=[
            topic_class(
                version=FETCH_VERSION,
                topic=topic_partition.topic,
                partitions=[
                    topic_class.FetchPartition(
                        version=FETCH_VERSION,
                        partition=topic_partition.partition,
                        fetch_offset=offset,
                        last_fetched_epoch=_NO_EPOCH,
                        partition_max_bytes=max_bytes,
                    )
                ],
            )
        ],
        forgotten_topics_data=[],
        rack_id="",
    )
    answer = await connection.request(message, deadline, version=FETCH_VERSION)
    for topic in answer.responses:
        for partition in topic.partitions:
            if (topic.topic, partition.partition_index) == (
                topic_partition.topic,
                topic_partition.partition,
            ):
                error = partition.error_code or answer.error_code
                return Fetched(error, bytes(partition.records or b""))
    return Fetched(answer.error_code, b"") if answer.error_code else None
