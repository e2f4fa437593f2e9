"""AlterConfigs (33) sets all keys of topics and brokers at once, and removes keys not named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka.protocol.admin.configs import AlterConfigsRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.apis.describe_configs import BROKER, TOPIC, broker_named
from kafka_unclean_recovery.emulator.config_changes import change_configs
from kafka_unclean_recovery.kraft_rules.state import State


async def answer(context: Context, request: Any) -> Fields:
    return {
        "responses": [
            _alter(context, resource, request.validate_only) for resource in request.resources
        ]
    }


def _alter(context: Context, resource: Any, validate_only: bool) -> Fields:
    known = _set_so_far(context.state, resource.resource_type, resource.resource_name)
    wanted = {config.name: config.value or "" for config in resource.configs}
    changes = dict.fromkeys(known) | wanted
    return change_configs(context, resource, changes, validate_only=validate_only)


def _set_so_far(state: State, kind: int, name: str) -> Mapping[str, str]:
    if kind == TOPIC:
        topic = state.topic(name)
        return {} if topic is None else topic.configs
    if kind != BROKER:
        return {}
    broker = broker_named(name)
    return state.cluster_configs if broker is None else state.broker_configs.get(broker, {})


API = Api(AlterConfigsRequest, 0, 2, answer)
