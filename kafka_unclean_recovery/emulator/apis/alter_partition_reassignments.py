"""AlterPartitionReassignments (45) gives partitions other replicas or another order (KIP-455)."""

from __future__ import annotations

from typing import Any

from kafka.protocol.admin.topics import AlterPartitionReassignmentsRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.kraft_rules import events as ev


async def answer(context: Context, request: Any) -> Fields:
    allowed = request.version < 1 or request.allow_replication_factor_change
    responses = [
        {
            "name": topic.name,
            "partitions": [
                {
                    "partition_index": wanted.partition_index,
                    **_answer_of(_reassign(context, topic.name, wanted, allowed), context, wanted),
                }
                for wanted in topic.partitions
            ],
        }
        for topic in request.topics
    ]
    return {"error_message": None, "responses": responses}


def _answer_of(error: int, context: Context, wanted: Any) -> Fields:
    """Return the error with Kafka's message, which names a broker that is not registered."""
    known = context.emulation.state.brokers
    strange = [broker for broker in wanted.replicas or () if broker not in known]
    message = None
    if error == Errors.INVALID_REPLICA_ASSIGNMENT and strange:
        message = (
            f"The manual partition assignment includes broker {strange[0]}, but no such broker is"
            " registered."
        )
    return {"error_code": error, "error_message": message}


def _reassign(context: Context, name: str, wanted: Any, other_factor_allowed: bool) -> int:
    replicas = None if wanted.replicas is None else tuple(wanted.replicas)
    topic = context.topic(name, None)
    partition = None if topic is None else topic.partitions.get(wanted.partition_index)
    if partition is not None and replicas is not None and not other_factor_allowed:
        before = [r for r in partition.replicas if r not in partition.adding_replicas]
        if len(before) != len(replicas):
            return Errors.INVALID_REPLICATION_FACTOR
    response = context.emulation.happen(
        ev.AlterReassignment(name, wanted.partition_index, replicas)
    )
    return int(getattr(response, "error", Errors.NONE))


API = Api(AlterPartitionReassignmentsRequest, 0, 1, answer)
