"""This module changes configs of a topic, a broker or all brokers, for each request that can ask
for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_unclean_recovery.emulator.apis.api import Context, Fields
from kafka_unclean_recovery.emulator.apis.describe_configs import (
    ALL_BROKERS,
    BROKER,
    TOPIC,
    broker_named,
)
from kafka_unclean_recovery.emulator.listener.request_limits import (
    PARTITION_LIMIT,
    is_partition_limit,
)
from kafka_unclean_recovery.kafka_names import MIN_INSYNC_REPLICAS, Errors
from kafka_unclean_recovery.kraft_rules import events as ev
from kafka_unclean_recovery.kraft_rules.configs import config_problem, valid_cluster_config
from kafka_unclean_recovery.kraft_rules.state import DEFAULTS

Changes = Mapping[str, str | None]
"""The changes are values by key; None removes a key."""

Altering = ev.AlterTopicConfig | ev.AlterClusterConfig | ev.AlterBrokerConfig


def change_configs(
    context: Context, resource: Any, changes: Changes, *, validate_only: bool
) -> Fields:
    """Make all changes or none, and return the answer's entry for this resource."""
    events = [_event(resource, key, value) for key, value in changes.items()]
    refusals = (_refusal(context, event) for event in events)
    answer = answer_of(resource) | next(filter(None, refusals), {})
    if not answer["error_code"] and not validate_only:
        for event in events:
            assert event is not None
            context.emulation.happen(event)
    return answer


def answer_of(resource: Any, error: int = Errors.NONE, message: str | None = None) -> Fields:
    return {
        "error_code": error,
        "error_message": message,
        "resource_type": resource.resource_type,
        "resource_name": resource.resource_name,
    }


def _event(resource: Any, key: str, value: str | None) -> Altering | None:
    if resource.resource_type == TOPIC:
        return ev.AlterTopicConfig(resource.resource_name, key, value)
    if resource.resource_type != BROKER:
        return None
    if resource.resource_name == ALL_BROKERS:
        return ev.AlterClusterConfig(key, value)
    broker = broker_named(resource.resource_name)
    return None if broker is None else ev.AlterBrokerConfig(broker, key, value)


def _refusal(context: Context, event: Altering | None) -> Fields:
    """Return the fields of a refusal, or no fields if the change is allowed."""
    if event is None:
        return {"error_code": Errors.INVALID_REQUEST}
    problem = _problem(event)
    if problem is not None:
        return {"error_code": Errors.INVALID_CONFIG, "error_message": problem}
    error = int(getattr(context.emulation.would_happen(event), "error", Errors.NONE))
    message = _of_elr(event) if error == Errors.INVALID_CONFIG else None
    return {"error_code": error, "error_message": message} if error else {}


def _problem(event: Altering) -> str | None:
    """Return what is wrong with the value, or None. The controller validates only topics' values,
    and would fail on an invalid value for all brokers: the broker that gets the request must refuse
    it."""
    if event.value is None:
        return None
    if isinstance(event, ev.AlterTopicConfig):
        return config_problem(event.key, event.value)
    if _valid_of_brokers(event.key, event.value):
        return None
    known = event.key in DEFAULTS
    said = config_problem(event.key, event.value) if known else None
    return said or f"Invalid value {event.value} for configuration {event.key}"


def _valid_of_brokers(key: str, value: str) -> bool:
    if key == PARTITION_LIMIT:
        return is_partition_limit(value)
    return valid_cluster_config(key, value)


def _of_elr(event: Altering) -> str:
    """Return Kafka's message for a change that ELR forbids."""
    one = isinstance(event, ev.AlterBrokerConfig)
    subject, verb = ("Broker", "altered") if one else ("Cluster", "removed")
    return f"{subject}-level {MIN_INSYNC_REPLICAS} cannot be {verb} while ELR is enabled."
