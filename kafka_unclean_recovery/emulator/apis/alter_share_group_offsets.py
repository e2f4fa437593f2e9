"""AlterShareGroupOffsets (91) sets where a share group without consumers begins to read, and makes
a group that is not there (KIP-932)."""

from __future__ import annotations

from typing import Any

from kafka_unclean_recovery.emulator.apis.api import NO_TOPIC_ID, Api, Context, Fields
from kafka_unclean_recovery.emulator.broker.coordination import refusal_here
from kafka_unclean_recovery.emulator.broker.share_groups import ShareGroup, ShareState
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.kraft_rules.records import TopicIdPartition
from kafka_unclean_recovery.messages.share_groups import AlterShareGroupOffsetsRequest


async def answer(context: Context, request: Any) -> Fields:
    if error := refusal_here(context, request.group_id):
        return {"error_code": error, "error_message": None, "responses": []}
    groups = context.emulation.share_groups
    group = groups.setdefault(request.group_id, ShareGroup(request.group_id))
    topics = [_topic(context, group, topic) for topic in request.topics]
    return {"error_code": Errors.NONE, "error_message": None, "responses": topics}


def _topic(context: Context, group: ShareGroup, wanted: Any) -> Fields:
    known = context.topic(wanted.topic_name, None)
    partitions = []
    for each in wanted.partitions:
        error = Errors.UNKNOWN_TOPIC_OR_PARTITION
        if known is not None and each.partition_index in known.partitions:
            _set(group, TopicIdPartition(known.topic_id, each.partition_index), each.start_offset)
            error = Errors.NONE
        fields = {"partition_index": each.partition_index, "error_code": error}
        partitions.append(fields | {"error_message": None})
    topic_id = NO_TOPIC_ID if known is None else known.topic_id
    return {"topic_name": wanted.topic_name, "topic_id": topic_id, "partitions": partitions}


def _set(group: ShareGroup, key: TopicIdPartition, offset: int) -> None:
    before = group.states.get(key)
    if before is None:
        group.states[key] = ShareState(offset)
        return
    epoch, newest = before.state_epoch + 1, before.newest_epoch
    group.states[key] = ShareState(offset, state_epoch=epoch, newest_epoch=newest)


API = Api(AlterShareGroupOffsetsRequest, 0, 0, answer)
