"""OffsetCommit (8) records how far a group has read, by topic id from version 10 on."""

from __future__ import annotations

import time
from typing import Any

from kafka.protocol.consumer.group import OffsetCommitRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.broker.coordination import group_of, refusal_here
from kafka_unclean_recovery.emulator.broker.groups import Committed, Group, commit_refusal
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.kraft_rules.records import TopicIdPartition


async def answer(context: Context, request: Any) -> Fields:
    refused = refusal_here(context, request.group_id)
    group = None if refused else group_of(context, request.group_id)
    if group is not None:
        refused = commit_refusal(group, request.member_id, request.generation_id_or_member_epoch)
        if member := group.members.get(request.member_id):
            member.heard_at = time.monotonic()
    return {"topics": [_topic(context, request, topic, group, refused) for topic in request.topics]}


def _topic(context: Context, request: Any, topic: Any, group: Group | None, refused: int) -> Fields:
    by_id = request.version >= 10
    named = {"topic_id": topic.topic_id} if by_id else {"name": topic.name}
    return {
        **named,
        "partitions": [
            {
                "partition_index": wanted.partition_index,
                "error_code": refused or _commit(context, request, topic, wanted, group),
            }
            for wanted in topic.partitions
        ],
    }


def _commit(context: Context, request: Any, topic: Any, wanted: Any, group: Group | None) -> int:
    by_id = request.version >= 10
    known = context.topic(None if by_id else topic.name, topic.topic_id if by_id else None)
    if known is None:
        return Errors.UNKNOWN_TOPIC_ID if by_id else Errors.UNKNOWN_TOPIC_OR_PARTITION
    if wanted.partition_index not in known.partitions or group is None:
        return Errors.UNKNOWN_TOPIC_OR_PARTITION
    key = TopicIdPartition(known.topic_id, wanted.partition_index)
    epoch = wanted.committed_leader_epoch if request.version >= 6 else -1
    group.offsets[key] = Committed(wanted.committed_offset, epoch, wanted.committed_metadata or "")
    return Errors.NONE


API = Api(OffsetCommitRequest, 2, 10, answer)
