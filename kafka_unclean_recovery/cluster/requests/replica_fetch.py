"""Fetch the records of a replica of a leaderless partition from the broker that hosts the replica.

Fetch version 12 as the future local replica (-3) reads a follower up to its log end, past its high
watermark (kafka.server.ReplicaManager.fetchMessages: a reader that is neither a follower nor a
consumer needs no leader). The request takes READ on the topic, as a consumer does.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_unclean_recovery.cluster.requests.replica_probe import (
    FETCH_VERSION,
    FUTURE_LOCAL_REPLICA,
)
from kafka_unclean_recovery.cluster.wire.api import Message
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.log_apis import FETCH
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
    fields = {
        "replica_id": FUTURE_LOCAL_REPLICA,
        "max_wait_ms": 0,
        "min_bytes": 0,
        "max_bytes": max_bytes,
        "topics": [
            {
                "topic": topic_partition.topic,
                "partitions": [
                    {
                        "partition": topic_partition.partition,
                        "fetch_offset": offset,
                        "last_fetched_epoch": _NO_EPOCH,
                        "partition_max_bytes": max_bytes,
                    }
                ],
            }
        ],
    }
    answer = await connection.request(Message(FETCH, fields), deadline, version=FETCH_VERSION)
    for topic in answer["responses"]:
        for partition in topic["partitions"]:
            if topic_partition == (topic["topic"], partition["partition_index"]):
                error = partition["error_code"] or answer["error_code"]
                return Fetched(error, partition["records"] or b"")
    return Fetched(answer["error_code"], b"") if answer["error_code"] else None
