"""Metadata (3) lists live brokers, topics and leaders. It never creates the topics asked for."""

from __future__ import annotations

from typing import Any

from kafka.protocol.metadata.metadata import MetadataRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.partition_metadata import partition_fields
from kafka_unclean_recovery.emulator.security import rights
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.kraft_rules.state import Topic


async def answer(context: Context, request: Any) -> Fields:
    live = context.live()
    fields: Fields = {
        "brokers": [
            {"node_id": id_, "host": context.address(id_)[0], "port": context.address(id_)[1]}
            for id_ in live
        ],
        "cluster_id": context.emulation.cluster_id,
        # Brokers don't know of the controller's listener, and name one of themselves.
        "controller_id": live[0] if live else -1,
        "topics": _topics(context, request),
    }
    if 8 <= request.version <= 10 and request.include_cluster_authorized_operations:
        fields["authorized_operations"] = rights.CLUSTER
    return fields


def _topics(context: Context, request: Any) -> list[Fields]:
    every = request.topics is None or (request.version == 0 and not request.topics)
    if every:
        found = context.state.topics.values()
        return [_topic(context, request, topic) for topic in found]
    return [_named(context, request, wanted) for wanted in request.topics]


def _named(context: Context, request: Any, wanted: Any) -> Fields:
    topic_id = wanted.topic_id if request.version >= 10 else None
    topic = context.topic(wanted.name, topic_id)
    if topic is not None:
        return _topic(context, request, topic)
    by_id = {"topic_id": topic_id, "error_code": Errors.UNKNOWN_TOPIC_ID, "name": None}
    by_name = {"name": wanted.name, "error_code": Errors.UNKNOWN_TOPIC_OR_PARTITION}
    return {"partitions": []} | (by_name if wanted.name else by_id)


def _topic(context: Context, request: Any, topic: Topic) -> Fields:
    unlisted = context.emulation.faults.unlisted
    fields: Fields = {
        "name": topic.name,
        "topic_id": topic.topic_id,
        "partitions": [
            partition_fields(context.state, topic, number, unlisted) for number in topic.partitions
        ],
    }
    if request.version >= 8 and request.include_topic_authorized_operations:
        fields["authorized_operations"] = rights.TOPIC
    return fields


API = Api(MetadataRequest, 0, 13, answer)
