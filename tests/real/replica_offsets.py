"""Where the replicas of one broker start and end by its own word, leader or not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kio.schema.list_offsets.v7.request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from kio.schema.list_offsets.v7.response import ListOffsetsResponse
from kio.schema.types import BrokerId, TopicName
from kio.static.primitive import i8, i32, i64

from kafka_unclean_recovery.deadline import Deadline
from tests.real.one_request import answer

# A replica answers to this one past its high watermark, without a leader too.
DEBUGGING = BrokerId(-2)
EARLIEST, LATEST = i64(-2), i64(-1)
TIMEOUT = 10.0


@dataclass(frozen=True, slots=True)
class Offsets:
    """error: Kafka's name of it, None where both offsets are told."""

    error: str | None
    start: int
    end: int


def replica_offsets(address: str, topics: Iterable[str]) -> dict[str, Offsets]:
    """Return the offsets of partition 0 of each topic. Raises OSError."""
    wanted = sorted(topics)
    starts, ends = (_asked(address, wanted, which) for which in (EARLIEST, LATEST))
    return {
        topic: Offsets(starts[topic][0] or ends[topic][0], starts[topic][1], ends[topic][1])
        for topic in wanted
    }


def _asked(address: str, topics: Iterable[str], which: i64) -> Mapping[str, tuple[str | None, int]]:
    partition = ListOffsetsPartition(partition_index=i32(0), timestamp=which)
    request = ListOffsetsRequest(
        replica_id=DEBUGGING,
        isolation_level=i8(0),
        topics=tuple(
            ListOffsetsTopic(name=TopicName(topic), partitions=(partition,)) for topic in topics
        ),
    )
    deadline = Deadline.after(TIMEOUT)
    told: ListOffsetsResponse = answer(address, request, ListOffsetsResponse, deadline)
    return {
        str(topic.name): (found.error_code.name if found.error_code.value else None, found.offset)
        for topic in told.topics
        for found in topic.partitions
    }
