"""IncrementalAlterConfigs (44) sets and deletes keys of topics and brokers (KIP-339)."""

from __future__ import annotations

from typing import Any

from kafka.protocol.admin.configs import IncrementalAlterConfigsRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.config_changes import answer_of, change_configs
from kafka_unclean_recovery.kafka_names import Errors

_SET, _DELETE = 0, 1


async def answer(context: Context, request: Any) -> Fields:
    return {
        "responses": [
            _alter(context, resource, request.validate_only) for resource in request.resources
        ]
    }


def _alter(context: Context, resource: Any, validate_only: bool) -> Fields:
    if any(config.config_operation not in (_SET, _DELETE) for config in resource.configs):
        return answer_of(resource, Errors.INVALID_CONFIG)
    changes = {
        config.name: None if config.config_operation == _DELETE else config.value or ""
        for config in resource.configs
    }
    return change_configs(context, resource, changes, validate_only=validate_only)


API = Api(IncrementalAlterConfigsRequest, 0, 1, answer)
