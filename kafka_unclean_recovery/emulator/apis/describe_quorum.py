"""DescribeQuorum (55) lists the one controller, and as its observers all brokers that ever ran.

A broker that is dead, hangs or is cut off stays listed, with the time when it last fetched. This
time is the first sign that the broker is gone.
"""

from __future__ import annotations

import time
from typing import Any
from uuid import UUID

from kafka.protocol.admin.cluster import DescribeQuorumRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.disks.metadata_replicas import CONTROLLER_ID, EPOCH
from kafka_unclean_recovery.kafka_names import CLUSTER_METADATA_TOPIC, Errors

# A voter of a static quorum has this directory id (DirectoryId.UNASSIGNED).
_NO_DIRECTORY = UUID(int=0)


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
    if (topic, number) != (CLUSTER_METADATA_TOPIC, 0):
        return fields | {"error_code": Errors.UNKNOWN_TOPIC_OR_PARTITION}
    return fields | {
        "leader_id": CONTROLLER_ID,
        "leader_epoch": EPOCH,
        "high_watermark": context.emulation.state.end_offset,
        "current_voters": [_up_to_date(context, CONTROLLER_ID, _NO_DIRECTORY)],
        "observers": [_observer(context, id_) for id_ in sorted(context.emulation.fetched)],
    }


def _observer(context: Context, id_: int) -> Fields:
    emulation = context.emulation
    # The first directory holds the metadata log.
    directory = emulation.brokers[id_].directories[0].id or _NO_DIRECTORY
    current = emulation.seen_by(id_) is emulation.state or id_ in emulation.faults.applies_late
    if emulation.brokers[id_].running and current:
        return _up_to_date(context, id_, directory)
    fetched, end_offset = emulation.fetched[id_]
    return _state(id_, directory, end_offset, emulation.now - fetched)


def _up_to_date(context: Context, id_: int, directory: UUID) -> Fields:
    return _state(id_, directory, context.emulation.state.end_offset, 0.0)


def _state(id_: int, directory: UUID, end_offset: int, seconds_ago: float) -> Fields:
    fetched = int((time.time() - seconds_ago) * 1000)
    return {
        "replica_id": id_,
        "replica_directory_id": directory,
        "log_end_offset": end_offset,
        "last_fetch_timestamp": fetched,
        "last_caught_up_timestamp": fetched,
    }


API = Api(DescribeQuorumRequest, 0, 2, answer)
