"""IncrementalAlterConfigs (44): keys of topics and of all brokers, set and deleted (KIP-339)."""

from __future__ import annotations

from typing import Any

from kafka.protocol.admin.configs import IncrementalAlterConfigsRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.apis.describe_configs import BROKER, TOPIC
from kafka_unclean_recovery.emulator.controller import events as ev
from kafka_unclean_recovery.emulator.controller.configs import valid_cluster_config
from kafka_unclean_recovery.emulator.error_codes import INVALID_CONFIG, INVALID_REQUEST, NONE
from kafka_unclean_recovery.emulator.request_limits import PARTITION_LIMIT, is_partition_limit

_SET, _DELETE = 0, 1
_ALL_BROKERS = ""


async def answer(context: Context, request: Any) -> Fields:
    responses = []
    for resource in request.resources:
        error = _alter(context, resource, request.validate_only)
        responses.append(
            {
                "error_code": error,
                "error_message": None,
                "resource_type": resource.resource_type,
                "resource_name": resource.resource_name,
            }
        )
    return {"responses": responses}


def _alter(context: Context, resource: Any, validate_only: bool) -> int:
    """All keys of a resource, or none."""
    if any(config.config_operation not in (_SET, _DELETE) for config in resource.configs):
        return INVALID_CONFIG
    if not all(_valid(resource, config) for config in resource.configs):
        return INVALID_CONFIG
    events = [_event(resource, config) for config in resource.configs]
    for event in events:
        if event is None:
            return INVALID_REQUEST
        response = context.emulation.would_happen(event)
        if error := getattr(response, "error", NONE):
            return int(error)
    for event in () if validate_only else events:
        assert event is not None
        context.emulation.happen(event)
    return NONE


def _valid(resource: Any, config: Any) -> bool:
    """What brokers look at themselves; the controller looks at the rest."""
    if resource.resource_type != BROKER or config.config_operation == _DELETE:
        return True
    if config.name == PARTITION_LIMIT:
        return is_partition_limit(config.value or "")
    return valid_cluster_config(config.name, config.value or "")


def _event(resource: Any, config: Any) -> ev.Event | None:
    value = None if config.config_operation == _DELETE else config.value or ""
    if resource.resource_type == TOPIC:
        return ev.AlterTopicConfig(resource.resource_name, config.name, value)
    if resource.resource_type == BROKER and resource.resource_name == _ALL_BROKERS:
        return ev.AlterClusterConfig(config.name, value)
    return None


API = Api(IncrementalAlterConfigsRequest, 0, 1, answer)
