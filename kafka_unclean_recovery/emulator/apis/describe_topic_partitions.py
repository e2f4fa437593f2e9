"""DescribeTopicPartitions (75) lists partitions with their ELR, page by page (KIP-966)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kafka.protocol.admin.topics import DescribeTopicPartitionsRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.listener.request_limits import partition_limit
from kafka_unclean_recovery.emulator.partition_metadata import partition_fields
from kafka_unclean_recovery.emulator.security import rights
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.kraft_rules.state import Topic


async def answer(context: Context, request: Any) -> Fields:
    """Return topics by name and partitions by number, from the cursor on: as many partitions as the
    limit at most, and a cursor to the rest."""
    if not _sound(request):
        return {"topics": [_failed(t.name, Errors.INVALID_REQUEST) for t in request.topics]}
    limit = request.response_partition_limit
    left = partition_limit(context.emulation.state, context.broker.id, limit)
    topics: list[Fields] = []
    for name, first in _from_cursor(context, request):
        if not left:
            # The cursor may be to a topic that does not exist, as in Kafka.
            return {"topics": topics, "next_cursor": _cursor(name, first)}
        topic = context.topic(name, None)
        if topic is None:
            topics.append(_failed(name, Errors.UNKNOWN_TOPIC_OR_PARTITION))
            continue
        numbers = [number for number in sorted(topic.partitions) if number >= first]
        topics.append(_topic(context, topic, numbers[:left]))
        if len(numbers) > left:
            return {"topics": topics, "next_cursor": _cursor(name, numbers[left])}
        left -= len(numbers)
    return {"topics": topics, "next_cursor": None}


def _sound(request: Any) -> bool:
    """Return whether the cursor is at a partition of a topic that the request names."""
    cursor = request.cursor
    if cursor is None:
        return True
    named = not request.topics or cursor.topic_name in {topic.name for topic in request.topics}
    return named and cursor.partition_index >= 0


def _failed(name: str, error: int) -> Fields:
    return {"name": name, "error_code": error, "partitions": []}


def _from_cursor(context: Context, request: Any) -> Iterator[tuple[str, int]]:
    """Yield each topic from the cursor on with its first partition, as (topic, first partition)."""
    wanted = {topic.name for topic in request.topics} or set(context.state.topic_ids)
    cursor = request.cursor
    for name in sorted(wanted):
        if cursor is None or name > cursor.topic_name:
            yield name, 0
        elif name == cursor.topic_name:
            yield name, cursor.partition_index


def _cursor(name: str, partition: int) -> Fields:
    return {"topic_name": name, "partition_index": partition}


def _topic(context: Context, topic: Topic, numbers: list[int]) -> Fields:
    return {
        "name": topic.name,
        "topic_id": topic.topic_id,
        "partitions": [_partition(context, topic, number) for number in numbers],
        "topic_authorized_operations": rights.bits(rights.TOPIC),
    }


def _partition(context: Context, topic: Topic, number: int) -> Fields:
    partition = topic.partitions[number]
    elr = {
        "eligible_leader_replicas": partition.elr,
        "last_known_elr": partition.last_known_elr,
    }
    fields = partition_fields(context.state, topic, number, context.emulation.faults.unlisted)
    if fields["error_code"] == Errors.LISTENER_NOT_FOUND:
        # This request alone gives no error for a leader that clients can't see.
        fields["error_code"] = Errors.NONE
    return fields | elr


API = Api(DescribeTopicPartitionsRequest, 0, 0, answer)
