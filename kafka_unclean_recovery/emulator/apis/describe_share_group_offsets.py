"""DescribeShareGroupOffsets (90) tells where share groups begin to read (KIP-932)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from kafka_unclean_recovery.emulator.apis.api import NO_TOPIC_ID, Api, Context, Fields
from kafka_unclean_recovery.emulator.broker.coordination import refusal_here
from kafka_unclean_recovery.emulator.broker.share_groups import (
    NOWHERE,
    ShareGroup,
    ShareState,
)
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.kraft_rules.records import TopicIdPartition
from kafka_unclean_recovery.kraft_rules.state import Topic
from kafka_unclean_recovery.messages.share_groups import DescribeShareGroupOffsetsRequest

_NOTHING = ShareState(NOWHERE)


async def answer(context: Context, request: Any) -> Fields:
    return {"groups": [_group(context, wanted) for wanted in request.groups]}


def _group(context: Context, wanted: Any) -> Fields:
    fields: Fields = {"group_id": wanted.group_id, "topics": [], "error_message": None}
    # Where topics are named, each broker asks the coordinators of the states, and answers.
    if wanted.topics is None and (error := refusal_here(context, wanted.group_id)):
        return fields | {"error_code": error}
    group = context.emulation.share_groups.get(wanted.group_id, ShareGroup(wanted.group_id))
    if wanted.topics is None:
        topics = list(_every(context, group))
    else:
        topics = [_named(context, group, topic) for topic in wanted.topics]
    return fields | {"topics": topics, "error_code": Errors.NONE}


def _every(context: Context, group: ShareGroup) -> Iterable[Fields]:
    """Yield the states in topics that still exist."""
    topics = context.state.topics
    present = sorted(key for key in group.states if key.topic_id in topics)
    for topic_id, keys in groupby(present, key=lambda key: key.topic_id):
        yield _topic(topics[topic_id], [key.partition for key in keys], group)


def _named(context: Context, group: ShareGroup, wanted: Any) -> Fields:
    known = context.topic(wanted.topic_name, None)
    if known is not None:
        return _topic(known, wanted.partitions, group)
    partitions = [_partition(number, _NOTHING) for number in wanted.partitions]
    return {"topic_name": wanted.topic_name, "topic_id": NO_TOPIC_ID, "partitions": partitions}


def _topic(topic: Topic, numbers: Iterable[int], group: ShareGroup) -> Fields:
    states = ((n, group.states.get(TopicIdPartition(topic.topic_id, n))) for n in numbers)
    partitions = [_partition(number, state or _NOTHING) for number, state in states]
    return {"topic_name": topic.name, "topic_id": topic.topic_id, "partitions": partitions}


def _partition(number: int, state: ShareState) -> Fields:
    return {
        "partition_index": number,
        "start_offset": state.start_offset,
        "leader_epoch": state.leader_epoch,
        "lag": -1,
        "error_code": Errors.NONE,
        "error_message": None,
    }


API = Api(DescribeShareGroupOffsetsRequest, 0, 1, answer)
