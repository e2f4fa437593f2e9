"""CreateTopics (19) creates topics; replicas are given, or spread in turns over live brokers."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from kafka.protocol.admin.topics import CreateTopicsRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.apis.describe_configs import of_new_topic
from kafka_unclean_recovery.emulator.placement import in_turns
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.kraft_rules import events as ev
from kafka_unclean_recovery.kraft_rules.configs import config_problem

# These are the defaults of num.partitions and default.replication.factor.
_DEFAULT_PARTITIONS, _DEFAULT_REPLICAS = 1, 1
_DEFAULT = -1
# This is ReplicationControlManager.MAX_PARTITIONS_PER_BATCH.
_MOST_PARTITIONS = 10_000
_TOO_MANY = "Excessively large number of partitions per request."


async def answer(context: Context, request: Any) -> Fields:
    topics = []
    if sum(map(_partitions, request.topics)) > _MOST_PARTITIONS:
        refused = {"error_code": Errors.POLICY_VIOLATION, "error_message": _TOO_MANY}
        return {"topics": [{"name": wanted.name} | refused for wanted in request.topics]}
    for wanted in request.topics:
        result = _create(context, wanted, request.validate_only)
        topics.append({"name": wanted.name, "error_message": None} | result)
    return {"topics": topics}


def _partitions(wanted: Any) -> int:
    asked = _or_default(wanted.num_partitions, _DEFAULT_PARTITIONS)
    return len(wanted.assignments) or max(0, asked)


def _create(context: Context, wanted: Any, validate_only: bool) -> Fields:
    assignment = _assignment(context, wanted)
    if isinstance(assignment, int):
        return {"error_code": assignment}
    configs = {config.name: config.value for config in wanted.configs if config.value is not None}
    event = ev.CreateTopic(wanted.name, uuid4(), assignment, configs)
    ask = context.emulation.would_happen if validate_only else context.emulation.happen
    response = ask(event)
    if error := getattr(response, "error", 0):
        return {"error_code": error, "error_message": _message(error, event)}
    return {
        "topic_id": event.topic_id,
        "num_partitions": len(assignment),
        "replication_factor": len(assignment[0]),
        "configs": of_new_topic(context.emulation.state, configs),
    }


def _message(error: int, event: ev.CreateTopic) -> str | None:
    """Return Kafka's message for the error, or None."""
    if error == Errors.TOPIC_ALREADY_EXISTS:
        return f"Topic '{event.name}' already exists."
    if error == Errors.INVALID_CONFIG:
        return next(filter(None, map(config_problem, event.configs, event.configs.values())))
    return None


def _assignment(context: Context, wanted: Any) -> dict[int, tuple[int, ...]] | int:
    """Return the replicas by partition, or an error code."""
    if wanted.assignments:
        if (wanted.num_partitions, wanted.replication_factor) != (_DEFAULT, _DEFAULT):
            return Errors.INVALID_REQUEST
        return {each.partition_index: tuple(each.broker_ids) for each in wanted.assignments}
    partitions = _or_default(wanted.num_partitions, _DEFAULT_PARTITIONS)
    factor = _or_default(wanted.replication_factor, _DEFAULT_REPLICAS)
    if partitions < 1:
        return Errors.INVALID_PARTITIONS
    replicas = in_turns(context.emulation.state, 0, partitions, factor)
    return Errors.INVALID_REPLICATION_FACTOR if replicas is None else dict(enumerate(replicas))


def _or_default(value: int, default: int) -> int:
    return default if value == _DEFAULT else value


API = Api(CreateTopicsRequest, 2, 7, answer)
