"""OffsetForLeaderEpoch (23) tells where a leader epoch ends in the leader's log (KIP-101, KIP-320).

Only the leader answers, whatever client asks: followers are probed by Fetch. An epoch that the
leader does not know is answered by -1 and -1, without an error.
"""

from __future__ import annotations

from typing import Any

from kafka.protocol.consumer.offsets import OffsetForLeaderEpochRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.broker.replica import epoch_error
from kafka_unclean_recovery.kafka_names import Errors


async def answer(context: Context, request: Any) -> Fields:
    topics = [
        {
            "topic": topic.topic,
            "partitions": [
                {"partition": wanted.partition} | _partition(context, topic.topic, wanted)
                for wanted in topic.partitions
            ],
        }
        for topic in request.topics
    ]
    return {"topics": topics}


def _partition(context: Context, name: str, wanted: Any) -> Fields:
    topic = context.topic(name, None)
    if topic is None or wanted.partition not in topic.partitions:
        return {"error_code": Errors.UNKNOWN_TOPIC_OR_PARTITION}
    replica = context.replica(topic, wanted.partition)
    if replica is None:
        return {
            "error_code": context.no_replica(topic, wanted.partition, Errors.NOT_LEADER_OR_FOLLOWER)
        }
    if error := epoch_error(replica, wanted.current_leader_epoch):
        return {"error_code": error}
    if not replica.leads:
        return {"error_code": Errors.NOT_LEADER_OR_FOLLOWER}
    found = replica.log.end_of_epoch(wanted.leader_epoch)
    if found is None:
        return {}
    return {"leader_epoch": found.epoch, "end_offset": found.end_offset}


API = Api(OffsetForLeaderEpochRequest, 2, 4, answer)
