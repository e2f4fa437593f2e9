"""CreatePartitions (37) adds partitions to topics. Their replicas are given, or spread in turns
over the live brokers."""

from __future__ import annotations

from typing import Any

from kafka.protocol.admin.topics import CreatePartitionsRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.placement import in_turns
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.kraft_rules import events as ev
from kafka_unclean_recovery.kraft_rules.records import Ids
from kafka_unclean_recovery.kraft_rules.state import Topic


async def answer(context: Context, request: Any) -> Fields:
    results = []
    for wanted in request.topics:
        topic = context.topic(wanted.name, None)
        error = _create(context, wanted, topic, request.validate_only)
        message = _message(wanted, topic) if error == Errors.INVALID_PARTITIONS and topic else None
        results.append({"name": wanted.name, "error_code": error, "error_message": message})
    return {"results": results}


def _create(context: Context, wanted: Any, topic: Topic | None, validate_only: bool) -> int:
    replicas = _replicas(context, wanted, topic)
    if replicas is None:
        return Errors.INVALID_REPLICATION_FACTOR
    ask = context.emulation.would_happen if validate_only else context.emulation.happen
    response = ask(ev.CreatePartitions(wanted.name, wanted.count, replicas))
    return int(getattr(response, "error", Errors.NONE))


def _replicas(context: Context, wanted: Any, topic: Topic | None) -> tuple[Ids, ...] | None:
    """Return the replicas of the new partitions, or None when there are too few brokers."""
    if wanted.assignments is not None:
        return tuple(tuple(each.broker_ids) for each in wanted.assignments)
    if topic is None or wanted.count <= len(topic.partitions):
        return ()  # The controller refuses the request for that.
    existing = len(topic.partitions)
    factor = len(topic.partitions[0].replicas)
    return in_turns(context.emulation.state, existing, wanted.count - existing, factor)


def _message(wanted: Any, topic: Topic) -> str:
    """Return Kafka's message for a count that is no increase."""
    existing = len(topic.partitions)
    if wanted.count == existing:
        return f"Topic already has {existing} partition(s)."
    return (
        f"The topic {topic.name} currently has {existing} partition(s); "
        f"{wanted.count} would not be an increase."
    )


API = Api(CreatePartitionsRequest, 0, 3, answer)
