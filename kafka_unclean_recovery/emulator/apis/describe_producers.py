"""DescribeProducers (61) lists the producers with an id that a replica knows, leader or not
(KIP-664).

The producers are only idempotent ones: no transaction is ever open.
"""

from __future__ import annotations

from typing import Any

from kafka.protocol.admin.transactions import DescribeProducersRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.broker.producers import last_sequence
from kafka_unclean_recovery.emulator.broker.replica import Replica
from kafka_unclean_recovery.kafka_names import Errors

_NO_COORDINATOR, _NO_TRANSACTION = -1, -1


async def answer(context: Context, request: Any) -> Fields:
    topics = [
        {
            "name": topic.name,
            "partitions": [
                {"partition_index": number, "error_message": None}
                | _partition(context, topic.name, number)
                for number in topic.partition_indexes
            ],
        }
        for topic in request.topics
    ]
    return {"topics": topics}


def _partition(context: Context, name: str, number: int) -> Fields:
    topic = context.topic(name, None)
    if topic is None or number not in topic.partitions:
        return {"error_code": Errors.UNKNOWN_TOPIC_OR_PARTITION}
    replica = context.replica(topic, number)
    if replica is None:
        return {"error_code": context.no_replica(topic, number, Errors.NOT_LEADER_OR_FOLLOWER)}
    return {"error_code": Errors.NONE, "active_producers": _producers(replica)}


def _producers(replica: Replica) -> list[Fields]:
    return [
        {
            "producer_id": batch.producer_id,
            "producer_epoch": batch.producer_epoch,
            "last_sequence": last_sequence(batch),
            "last_timestamp": batch.max_timestamp,
            "coordinator_epoch": _NO_COORDINATOR,
            "current_txn_start_offset": _NO_TRANSACTION,
        }
        for batch in replica.producers.newest(replica.log)
    ]


API = Api(DescribeProducersRequest, 0, 0, answer)
