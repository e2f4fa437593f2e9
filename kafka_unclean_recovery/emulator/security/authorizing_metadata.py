"""These rules hide the parts of the cluster and its topics that a client may not describe."""

from __future__ import annotations

from kafka_unclean_recovery.emulator.apis.api import Fields
from kafka_unclean_recovery.emulator.security.asked import Asked, Named
from kafka_unclean_recovery.emulator.security.rights import UNKNOWN, Operation, Resource, bits
from kafka_unclean_recovery.kafka_names import Errors


async def describe_cluster(asked: Asked) -> Fields | None:
    fields = await asked.answered()
    return fields and _with_cluster_operations(asked, fields)


async def metadata(asked: Asked) -> Fields | None:
    """Answer Metadata. If all topics are asked for, those that the client may not describe are left
    out, without an error."""
    request = asked.request
    every = request.topics is None or (request.version == 0 and not request.topics)
    fields = await asked.answered()
    assert fields is not None
    topics: list[Fields] = []
    for topic in fields["topics"]:
        name = topic["name"]
        if name is None or asked.rights.may(Operation.DESCRIBE, Resource.TOPIC, name):
            topics.append(_with_topic_operations(asked, topic, "authorized_operations"))
        elif not every:
            topics.append(_hidden(topic, any(each.topic_id for each in request.topics)))
    return _with_cluster_operations(asked, fields) | {"topics": topics}


def _hidden(topic: Fields, by_id: bool) -> Fields:
    """Return the refusal of a hidden topic, with only the name or id that the request has."""
    known = {"topic_id": topic["topic_id"], "name": None} if by_id else {"name": topic["name"]}
    return {"error_code": Errors.TOPIC_AUTHORIZATION_FAILED, "partitions": []} | known


async def describe_topic_partitions(asked: Asked) -> Fields | None:
    """Answer DescribeTopicPartitions. Hidden topics are in no page and in no cursor."""
    request = asked.request
    every = not request.topics
    names = sorted(asked.context.state.topic_ids) if every else []
    wanted = [type(request).TopicRequest(name=name) for name in names] or request.topics
    first = "" if request.cursor is None else request.cursor.topic_name
    if every and request.cursor is not None and not asked.may(Operation.DESCRIBE, Named(first)):
        request.cursor = None
    request.topics = [
        topic
        for topic in wanted
        if (not every or topic.name >= first) and asked.may(Operation.DESCRIBE, topic)
    ]
    refused = [topic for topic in wanted if not asked.may(Operation.DESCRIBE, topic)]
    fields: Fields = {"topics": [], "next_cursor": None}
    if request.topics:
        fields = await asked.answered() or fields
    operations = "topic_authorized_operations"
    topics = [_with_topic_operations(asked, topic, operations) for topic in fields["topics"]]
    hidden = [] if every else [_hidden({"name": topic.name}, False) for topic in refused]
    return fields | {"topics": [*topics, *hidden]}


def _with_cluster_operations(asked: Asked, fields: Fields) -> Fields:
    if "authorized_operations" not in fields:
        return fields
    known = asked.rights.operations(Resource.CLUSTER)
    return fields | {"authorized_operations": known if Operation.DESCRIBE in known else frozenset()}


def _with_topic_operations(asked: Asked, topic: Fields, key: str) -> Fields:
    """Return the topic with the operations that the client may do. The codec takes a set for one of
    the two messages, and a number for the other."""
    if topic.get(key) in (None, UNKNOWN):
        return topic
    known = asked.rights.operations(Resource.TOPIC, topic["name"])
    return topic | {key: bits(known) if isinstance(topic[key], int) else known}
