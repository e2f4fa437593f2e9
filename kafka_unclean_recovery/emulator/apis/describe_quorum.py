"""DescribeQuorum (55): one controller, always up to date, and every live broker behind it."""

from __future__ import annotations

import time
from typing import Any

from kafka.protocol.admin.cluster import DescribeQuorumRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.error_codes import UNKNOWN_TOPIC_OR_PARTITION
from kafka_unclean_recovery.emulator.metadata_replicas import CONTROLLER_ID, EPOCH

_TOPIC = "__cluster_metadata"


async def answer(context: Context, request: Any) -> Fields:
    topics = [
        {
            "topic_name": topic.topic_name,
            "partitions": [
                _partition(context, topic.topic_name, wanted.partition_index)
                for wanted in topic.partitions
            ],
        }
        for topic in request.topics
    ]
    return {"error_message": None, "topics": topics, "nodes": []}


def _partition(context: Context, topic: str, number: int) -> Fields:
    fields: Fields = {"partition_index": number, "error_message": None}
    if (topic, number) != (_TOPIC, 0):
        return fields | {"error_code": UNKNOWN_TOPIC_OR_PARTITION}
    brokers = context.emulation.brokers.values()
    return fields | {
        "leader_id": CONTROLLER_ID,
        "leader_epoch": EPOCH,
        "high_watermark": context.emulation.state.end_offset,
        "current_voters": [_state(context, CONTROLLER_ID)],
        "observers": [_state(context, broker.id) for broker in brokers if broker.running],
    }


def _state(context: Context, id_: int) -> Fields:
    now = int(time.time() * 1000)
    return {
        "replica_id": id_,
        "log_end_offset": context.emulation.state.end_offset,
        "last_fetch_timestamp": now,
        "last_caught_up_timestamp": now,
    }


API = Api(DescribeQuorumRequest, 0, 2, answer)
