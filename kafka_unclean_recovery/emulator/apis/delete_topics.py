"""DeleteTopics (20) deletes topics by name, or from version 6 on by id. Replicas go at once."""

from __future__ import annotations

from typing import Any

from kafka.protocol.admin.topics import DeleteTopicsRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.kraft_rules import events as ev


async def answer(context: Context, request: Any) -> Fields:
    if request.version >= 6:
        wanted = [(topic.name, topic.topic_id) for topic in request.topics]
    else:
        wanted = [(name, None) for name in request.topic_names]
    return {"responses": [_delete(context, name, topic_id) for name, topic_id in wanted]}


def _delete(context: Context, name: str | None, topic_id: Any) -> Fields:
    topic = context.topic(name, topic_id)
    if topic is None:
        error = Errors.UNKNOWN_TOPIC_OR_PARTITION if name else Errors.UNKNOWN_TOPIC_ID
        return {"name": name, "topic_id": topic_id, "error_code": error}
    context.emulation.happen(ev.DeleteTopic(topic.name))
    return {"name": topic.name, "topic_id": topic.topic_id, "error_code": Errors.NONE}


API = Api(DeleteTopicsRequest, 1, 6, answer)
