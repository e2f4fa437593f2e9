"""Two requests see the replicas of a leaderless partition on released brokers.

Both go to one broker that hosts the replicas, and neither moves records:

* ListOffsets with the debugging replica id (-2) answers the log end offset of a follower, past the
  high watermark too (kafka.server.ReplicaManager.fetchOffset).
* Fetch version 12 with the future-local-replica id (-3) and a last fetched epoch e, far past the
  end, answers the largest epoch <= e that the replica knows and its end offset: a line of the
  replica's leader-epoch-checkpoint (kafka.cluster.Partition.readRecords). The partition's header
  holds the high watermark and the log start offset.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from kafka_unclean_recovery.cluster.requests.asking import (
    Portion,
    Portioned,
    by_topic,
    until_answered,
)
from kafka_unclean_recovery.cluster.wire.api import Message
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.log_apis import FETCH, LIST_OFFSETS
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.model import TopicPartition

_DEBUGGING_REPLICA = -2
FUTURE_LOCAL_REPLICA = -3
_LATEST = -1
_EARLIEST = -2
_FAR_PAST_THE_END = 2**62
# From version 13 on topics are named by id, and from 15 on the replica id sits in ReplicaState.
FETCH_VERSION = 12
NO_EPOCH = -1
_NOT_DIVERGING = {"epoch": NO_EPOCH, "end_offset": NO_EPOCH}


class EndOffset(Struct, frozen=True):
    """The log end offset (exclusive) of one replica, or Kafka's error code."""

    error: int
    log_end_offset: int


class EpochEnd(Struct, frozen=True):
    """A replica's answer about one epoch. With an error the other fields say nothing.

    epoch: the largest epoch <= the one asked for that the replica knows, or the one asked for when
    the replica knows only newer ones; NO_EPOCH when the answer names none. end_offset is exclusive.
    """

    error: int
    epoch: int
    end_offset: int
    high_watermark: int
    log_start_offset: int


async def end_offsets(
    connection: Connection, wanted: Sequence[TopicPartition], deadline: Deadline
) -> Mapping[TopicPartition, EndOffset]:
    """Ask for the log end offsets of replicas; `wanted` is sorted by topic. Partitions that are not
    answered in time are missing. Needs DESCRIBE on the topics. Raises ConnectionFailed."""

    async def ask(batch: Sequence[TopicPartition], deadline: Deadline) -> Portioned[EndOffset]:
        return await _list_offsets(connection, batch, _LATEST, deadline)

    return await until_answered(wanted, ask, deadline, Portion())


async def start_offsets(
    connection: Connection, wanted: Sequence[TopicPartition], deadline: Deadline
) -> Mapping[TopicPartition, int]:
    """Ask for the log start offsets of replicas, as `end_offsets` does for the ends. Partitions
    that gave an error or no answer are missing."""

    async def ask(batch: Sequence[TopicPartition], deadline: Deadline) -> Portioned[EndOffset]:
        return await _list_offsets(connection, batch, _EARLIEST, deadline)

    found = await until_answered(wanted, ask, deadline, Portion())
    return {tp: told.log_end_offset for tp, told in found.items() if told.error == Errors.NONE}


async def epoch_ends(
    connection: Connection,
    wanted: Mapping[TopicPartition, int],
    deadline: Deadline,
    portion: Portion,
) -> Mapping[TopicPartition, EpochEnd]:
    """Ask where the replica's epochs up to the wanted ones end; needs READ on the topics.

    `wanted` is sorted by topic. With NO_EPOCH the answer is an error past the end, as no epoch is
    compared; `watermarks` asks for the header alone. Partitions that are not answered in time are
    missing. Raises ConnectionFailed.
    """
    fetch = {tp: (_FAR_PAST_THE_END, epoch) for tp, epoch in wanted.items()}
    return await _fetch_all(connection, fetch, deadline, portion)


async def watermarks(
    connection: Connection,
    log_end_offsets: Mapping[TopicPartition, int],
    deadline: Deadline,
    portion: Portion,
) -> Mapping[TopicPartition, EpochEnd]:
    """Ask for the high watermark and log start offset of replicas that know no epoch, by reading at
    their end. Partitions that are not answered in time are missing. Raises ConnectionFailed."""
    fetch = {tp: (end, NO_EPOCH) for tp, end in log_end_offsets.items()}
    return await _fetch_all(connection, fetch, deadline, portion)


async def _fetch_all(
    connection: Connection,
    wanted: Mapping[TopicPartition, tuple[int, int]],
    deadline: Deadline,
    portion: Portion,
) -> Mapping[TopicPartition, EpochEnd]:
    async def ask(batch: Sequence[TopicPartition], deadline: Deadline) -> Portioned[EpochEnd]:
        return await _fetch(connection, {tp: wanted[tp] for tp in batch}, deadline)

    return await until_answered(list(wanted), ask, deadline, portion)


async def _list_offsets(
    connection: Connection, wanted: Sequence[TopicPartition], timestamp: int, deadline: Deadline
) -> Portioned[EndOffset]:
    topics = [
        {
            "name": topic,
            "partitions": [
                {"partition_index": tp.partition, "timestamp": timestamp} for tp in of_topic
            ],
        }
        for topic, of_topic in by_topic(wanted)
    ]
    fields = {"replica_id": _DEBUGGING_REPLICA, "topics": topics}
    answer = await connection.request(Message(LIST_OFFSETS, fields), deadline)
    found = {
        TopicPartition(topic["name"], p["partition_index"]): EndOffset(p["error_code"], p["offset"])
        for topic in answer["topics"]
        for p in topic["partitions"]
    }
    return Portioned(found, _throttled(answer))


async def _fetch(
    connection: Connection, wanted: Mapping[TopicPartition, tuple[int, int]], deadline: Deadline
) -> Portioned[EpochEnd]:
    topics = [
        {
            "topic": topic,
            "partitions": [
                {
                    "partition": tp.partition,
                    "fetch_offset": wanted[tp][0],
                    "last_fetched_epoch": wanted[tp][1],
                    "partition_max_bytes": 1,
                }
                for tp in of_topic
            ],
        }
        for topic, of_topic in by_topic(wanted)
    ]
    fields = {
        "replica_id": FUTURE_LOCAL_REPLICA,
        "max_wait_ms": 0,
        "min_bytes": 0,
        "max_bytes": 1,
        "topics": topics,
    }
    answer = await connection.request(Message(FETCH, fields), deadline, version=FETCH_VERSION)
    error = answer["error_code"]
    if error and not answer["responses"]:
        refused = EpochEnd(error, NO_EPOCH, -1, -1, -1)
        return Portioned(dict.fromkeys(wanted, refused), _throttled(answer))
    found = {
        TopicPartition(topic["topic"], p["partition_index"]): _epoch_end(p, error)
        for topic in answer["responses"]
        for p in topic["partitions"]
    }
    return Portioned(found, _throttled(answer))


def _epoch_end(p: Mapping[str, Any], error: int) -> EpochEnd:
    diverging = p["diverging_epoch"] or _NOT_DIVERGING
    return EpochEnd(
        p["error_code"] or error,
        diverging["epoch"],
        diverging["end_offset"],
        p["high_watermark"],
        p["log_start_offset"],
    )


def _throttled(answer: Mapping[str, Any]) -> float:
    """Return the throttle time in seconds; the first versions do not tell it, and count as 0."""
    milliseconds: int = answer["throttle_time_ms"]
    return max(0, milliseconds) / 1000
