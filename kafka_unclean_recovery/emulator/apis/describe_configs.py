"""DescribeConfigs (32) lists a topic's configs with their defaults, and the keys that were set for
one broker or for all.

Each value comes with its source. Synonyms are those that the emulator has itself: the value of all
brokers stands behind that of a topic or of one broker. Documentation is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from kafka.protocol.admin.configs import DescribeConfigsRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.kafka_names import MIN_INSYNC_REPLICAS, Errors
from kafka_unclean_recovery.kraft_rules.state import DEFAULTS, State
from kafka_unclean_recovery.kraft_rules.topic_configs import (
    TOPIC_CONFIGS,
    config_type,
)

TOPIC, BROKER = 2, 4
ALL_BROKERS = ""
# These are values of DescribeConfigsResponse.ConfigSource.
_TOPIC_CONFIG, _ONE_BROKER, _ALL_BROKERS, _DEFAULT = 1, 2, 3, 5


class Value(NamedTuple):
    """A key's value from one source."""

    value: str
    source: int


Values = dict[str, list[Value]]
"""These are the values by key, the effective one first."""


async def answer(context: Context, request: Any) -> Fields:
    results = [_resource(context, resource) for resource in request.resources]
    if not request.include_synonyms:
        for result in results:
            for config in result["configs"]:
                config["synonyms"] = []
    return {"results": results}


def _resource(context: Context, resource: Any) -> Fields:
    fields: Fields = {
        "resource_type": resource.resource_type,
        "resource_name": resource.resource_name,
        "error_message": None,
        "configs": [],
    }
    state, name = context.state, resource.resource_name
    if resource.resource_type == BROKER:
        broker = broker_named(name)
        if broker != context.broker.id and name != ALL_BROKERS:
            return fields | {
                "error_code": Errors.INVALID_REQUEST,
                "error_message": _not_me(context, name),
            }
        return fields | {"configs": _wanted(resource, _of_broker(state, broker))}
    if resource.resource_type != TOPIC:
        return fields | {"error_code": Errors.INVALID_REQUEST}
    topic = context.topic(name, None)
    if topic is None:
        return fields | {"error_code": Errors.UNKNOWN_TOPIC_OR_PARTITION}
    return fields | {"configs": _wanted(resource, _of_topic(state, topic.configs))}


def _not_me(context: Context, name: str) -> str:
    """Return why a broker does not tell the configs of another one (ConfigHelper)."""
    return f"this is broker {context.broker.id}, which does not tell the configs of {name!r}"


def broker_named(name: str) -> int | None:
    return int(name) if name.isascii() and name.isdigit() else None


def _wanted(resource: Any, configs: Values) -> list[Fields]:
    keys = resource.configuration_keys
    return [
        {
            **_effective(name, values),
            "synonyms": [{"name": name, "value": v.value, "source": v.source} for v in values],
            "config_type": config_type(name),
            "documentation": None,
        }
        for name, values in sorted(configs.items())
        if not keys or name in keys
    ]


def _of_all_brokers(state: State) -> dict[str, str]:
    """Return the configs of all brokers. Where a release forbids to remove min.insync.replicas of
    all brokers, it has a value from the start."""
    release = state.release
    first = (MIN_INSYNC_REPLICAS,) if release.elr and release.cluster_min_isr_stays else ()
    return {key: DEFAULTS[key] for key in first} | state.cluster_configs


def _of_broker(state: State, broker: int | None) -> Values:
    """Return the values of one broker's configs, or of all brokers' if `broker` is None."""
    own = {} if broker is None else state.broker_configs.get(broker, {})
    layers = [(own, _ONE_BROKER), (_of_all_brokers(state), _ALL_BROKERS)]
    if broker is not None:
        layers.append((DEFAULTS, _DEFAULT))
    return _layered({**layers[0][0], **layers[1][0]}, layers)


def of_new_topic(state: State, configs: Mapping[str, str]) -> list[Fields]:
    """Return a new topic's configs as the answer to its creation holds them."""
    return [_effective(*config) for config in sorted(_of_topic(state, configs).items())]


def _effective(name: str, values: list[Value]) -> Fields:
    return {
        "name": name,
        "value": values[0].value,
        "read_only": False,
        "config_source": values[0].source,
        "is_sensitive": False,
    }


def _of_topic(state: State, configs: Mapping[str, str]) -> Values:
    """Return the values of a topic's configs. A topic inherits from brokers only the configs that a
    controller acts upon."""
    inherited = {k: v for k, v in _of_all_brokers(state).items() if k in DEFAULTS}
    defaults = {**TOPIC_CONFIGS, **DEFAULTS}
    layers = [(configs, _TOPIC_CONFIG), (inherited, _ALL_BROKERS), (defaults, _DEFAULT)]
    return _layered({**defaults, **configs}, layers)


def _layered(keys: Iterable[str], layers: list[tuple[Any, int]]) -> Values:
    return {
        key: [Value(layer[key], source) for layer, source in layers if key in layer] for key in keys
    }


API = Api(DescribeConfigsRequest, 1, 4, answer)
