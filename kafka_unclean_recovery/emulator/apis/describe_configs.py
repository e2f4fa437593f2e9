"""DescribeConfigs (32): of topics and of all brokers, the keys that were set and those with rules.

Where a value comes from is named; synonyms and documentation are left out.
"""

from __future__ import annotations

from typing import Any

from kafka.protocol.admin.configs import DescribeConfigsRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.controller.state import (
    MIN_INSYNC_REPLICAS,
    UNCLEAN_LEADER_ELECTION_ENABLE,
    State,
    Topic,
)
from kafka_unclean_recovery.emulator.error_codes import INVALID_REQUEST, UNKNOWN_TOPIC_OR_PARTITION

TOPIC, BROKER = 2, 4
# DescribeConfigsResponse.ConfigSource
_TOPIC_CONFIG, _ALL_BROKERS, _DEFAULT = 1, 3, 5
_WITH_RULES = (MIN_INSYNC_REPLICAS, UNCLEAN_LEADER_ELECTION_ENABLE)


async def answer(context: Context, request: Any) -> Fields:
    return {"results": [_resource(context, resource) for resource in request.resources]}


def _resource(context: Context, resource: Any) -> Fields:
    fields: Fields = {
        "resource_type": resource.resource_type,
        "resource_name": resource.resource_name,
        "error_message": None,
        "configs": [],
    }
    state = context.state
    if resource.resource_type == BROKER:
        return fields | {"configs": _wanted(resource, _of_brokers(state))}
    if resource.resource_type != TOPIC:
        return fields | {"error_code": INVALID_REQUEST}
    topic = context.topic(resource.resource_name, None)
    if topic is None:
        return fields | {"error_code": UNKNOWN_TOPIC_OR_PARTITION}
    return fields | {"configs": _wanted(resource, _of_topic(state, topic))}


def _wanted(resource: Any, configs: dict[str, tuple[str, int]]) -> list[Fields]:
    keys = resource.configuration_keys
    return [
        {
            "name": name,
            "value": value,
            "read_only": False,
            "config_source": source,
            "is_sensitive": False,
            "synonyms": [],
            "documentation": None,
        }
        for name, (value, source) in sorted(configs.items())
        if not keys or name in keys
    ]


def _of_brokers(state: State) -> dict[str, tuple[str, int]]:
    return {key: (value, _ALL_BROKERS) for key, value in state.cluster_configs.items()}


def _of_topic(state: State, topic: Topic) -> dict[str, tuple[str, int]]:
    found = {key: (state.config(topic, key), _DEFAULT) for key in _WITH_RULES}
    found |= {key: each for key, each in _of_brokers(state).items() if key in _WITH_RULES}
    return found | {key: (value, _TOPIC_CONFIG) for key, value in topic.configs.items()}


API = Api(DescribeConfigsRequest, 1, 4, answer)
