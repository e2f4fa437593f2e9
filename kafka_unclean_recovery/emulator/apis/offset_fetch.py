"""OffsetFetch (9) tells how far groups have read: several groups at once from version 8 on
(KIP-709), by topic id from version 10 on."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from kafka.protocol.consumer.group import OffsetFetchRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.broker.coordination import known_group, refusal_here
from kafka_unclean_recovery.emulator.broker.groups import Committed
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.kraft_rules.records import TopicIdPartition

_NOTHING = Committed(-1, -1, "")
Offsets = dict[TopicIdPartition, Committed]


async def answer(context: Context, request: Any) -> Fields:
    if request.version >= 8:
        groups = [_group(context, request, wanted) for wanted in request.groups]
        return {"groups": groups}
    found = _group(context, request, request)
    error = found["error_code"]
    if request.version >= 2 or not error:
        return {"topics": found["topics"], "error_code": error}
    # Version 1 has room for errors of partitions alone.
    return {
        "topics": [
            {
                "name": topic.name,
                "partitions": [_partition(n, _NOTHING, error) for n in topic.partition_indexes],
            }
            for topic in request.topics
        ]
    }


def _group(context: Context, request: Any, wanted: Any) -> Fields:
    fields: Fields = {"group_id": wanted.group_id, "topics": []}
    if error := refusal_here(context, wanted.group_id):
        return fields | {"error_code": error}
    group = known_group(context, wanted.group_id)
    offsets = {} if group is None else group.offsets
    if wanted.topics is None:
        topics = _every(context, request, offsets)
    else:
        topics = [_topic(context, request, topic, offsets) for topic in wanted.topics]
    return fields | {"topics": topics, "error_code": Errors.NONE}


def _every(context: Context, request: Any, offsets: Offsets) -> list[Fields]:
    """Return all committed offsets of topics that still exist."""
    topics = context.state.topics
    present = sorted(key for key in offsets if key.topic_id in topics)
    return [
        _named(request, topics[topic_id].name, topic_id)
        | {"partitions": _partitions(topic_id, (key.partition for key in keys), offsets)}
        for topic_id, keys in groupby(present, key=lambda key: key.topic_id)
    ]


def _topic(context: Context, request: Any, topic: Any, offsets: Offsets) -> Fields:
    by_id = request.version >= 10
    known = context.topic(None if by_id else topic.name, topic.topic_id if by_id else None)
    name, topic_id = (None, topic.topic_id) if by_id else (topic.name, None)
    named = _named(request, name, topic_id)
    if known is None:
        error = Errors.UNKNOWN_TOPIC_ID if by_id else Errors.NONE
        found = [_partition(number, _NOTHING, error) for number in topic.partition_indexes]
        return named | {"partitions": found}
    return named | {"partitions": _partitions(known.topic_id, topic.partition_indexes, offsets)}


def _named(request: Any, name: str | None, topic_id: Any) -> Fields:
    return {"topic_id": topic_id} if request.version >= 10 else {"name": name}


def _partitions(topic_id: Any, numbers: Iterable[int], offsets: Offsets) -> list[Fields]:
    return [
        _partition(number, offsets.get(TopicIdPartition(topic_id, number), _NOTHING), Errors.NONE)
        for number in numbers
    ]


def _partition(number: int, committed: Committed, error: int) -> Fields:
    return {
        "partition_index": number,
        "committed_offset": committed.offset,
        "committed_leader_epoch": committed.leader_epoch,
        "metadata": committed.metadata,
        "error_code": error,
    }


API = Api(OffsetFetchRequest, 1, 10, answer)
