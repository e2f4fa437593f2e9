"""ListPartitionReassignments (46) lists the reassignments in progress."""

from __future__ import annotations

from typing import Any

from kafka.protocol.admin.topics import ListPartitionReassignmentsRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.kraft_rules.state import Topic


async def answer(context: Context, request: Any) -> Fields:
    state = context.emulation.state
    if request.topics is None:
        wanted = [(topic, list(topic.partitions)) for topic in state.topics.values()]
    else:
        named = [(state.topic(each.name), each.partition_indexes) for each in request.topics]
        wanted = [(topic, list(numbers)) for topic, numbers in named if topic is not None]
    topics = [_topic(topic, numbers) for topic, numbers in wanted]
    return {"error_message": None, "topics": [topic for topic in topics if topic["partitions"]]}


def _topic(topic: Topic, numbers: list[int]) -> Fields:
    found = [(number, topic.partitions.get(number)) for number in numbers]
    return {
        "name": topic.name,
        "partitions": [
            {
                "partition_index": number,
                "replicas": partition.replicas,
                "adding_replicas": partition.adding_replicas,
                "removing_replicas": partition.removing_replicas,
            }
            for number, partition in found
            if partition is not None and partition.reassigning
        ],
    }


API = Api(ListPartitionReassignmentsRequest, 0, 0, answer)
