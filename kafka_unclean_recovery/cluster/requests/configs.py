"""Read configuration values by DescribeConfigs (KIP-133 and KIP-226): one key of many topics, and
which broker it is that answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from kafka_unclean_recovery.cluster.wire.api import Message
from kafka_unclean_recovery.cluster.wire.cluster_apis import DESCRIBE_CONFIGS
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.kafka_names import Errors

_TOPIC = 2
_BROKER = 4
# Each topic is only one short row of the answer, so a request may name many.
_TOPICS_A_REQUEST = 2000
# Here each is some thirty rows.
_WHOLE_TOPICS_A_REQUEST = 100


class ConfigSource(IntEnum):
    """The codes of org.apache.kafka.common.requests.DescribeConfigsResponse.ConfigSource."""

    UNKNOWN = 0
    TOPIC = 1
    ONE_BROKER = 2
    ALL_BROKERS = 3
    FILE = 4
    """The server.properties file of the broker that is asked."""
    DEFAULT = 5


@dataclass(frozen=True, slots=True)
class ConfigValue:
    """The value of one key of one topic. error: Kafka's code; with it nothing else is known."""

    error: int
    value: str | None = None
    source: ConfigSource = ConfigSource.UNKNOWN


_NUMBER = re.compile(r"[0-9]{1,19}")


def number(found: ConfigValue | None) -> int | None:
    """Return the config as a number; None where it is none, or was not told."""
    value = None if found is None or found.error != Errors.NONE else found.value
    return int(value) if value is not None and _NUMBER.fullmatch(value) else None


async def topic_configs(
    connection: Connection, topics: Sequence[str], key: str, deadline: Deadline
) -> Mapping[str, ConfigValue]:
    """Return the value of `key` for each topic, as the broker that is asked has it. Needs
    DESCRIBE_CONFIGS on the topics."""
    found: dict[str, ConfigValue] = {}
    for start in range(0, len(topics), _TOPICS_A_REQUEST):
        page = topics[start : start + _TOPICS_A_REQUEST]
        for result in await _described(connection, _TOPIC, page, key, deadline):
            found[result["resource_name"]] = _value(result, key)
    return found


@dataclass(frozen=True, slots=True)
class TopicConfigs:
    """What is set of a topic's configs, the defaults left out: value by key, None where the broker
    calls it sensitive. error: Kafka's code; with it nothing is known."""

    error: int
    configs: Mapping[str, str | None]


async def configs_set(
    connection: Connection, topics: Sequence[str], deadline: Deadline
) -> Mapping[str, TopicConfigs]:
    """Return the configs of each topic that are set on it, or for brokers. Needs DESCRIBE_CONFIGS
    on the topics."""
    found: dict[str, TopicConfigs] = {}
    for start in range(0, len(topics), _WHOLE_TOPICS_A_REQUEST):
        page = topics[start : start + _WHOLE_TOPICS_A_REQUEST]
        for result in await _described(connection, _TOPIC, page, None, deadline):
            configs = {
                config["name"]: None if config["is_sensitive"] else config["value"]
                for config in result["configs"]
                if _source(config["config_source"]) is not ConfigSource.DEFAULT
            }
            found[result["resource_name"]] = TopicConfigs(result["error_code"], configs)
    return found


async def broker_error(connection: Connection, broker: int, deadline: Deadline) -> int:
    """Return Kafka's error code for a question about this broker's own configuration, which no
    other broker answers: NONE from the broker itself, INVALID_REQUEST from another one, and
    CLUSTER_AUTHORIZATION_FAILED without DESCRIBE_CONFIGS on the cluster (ConfigHelper)."""
    results = await _described(connection, _BROKER, [str(broker)], "broker.id", deadline)
    return next((int(result["error_code"]) for result in results), _NOT_ANSWERED)


_NOT_ANSWERED = -1


async def _described(
    connection: Connection, kind: int, names: Iterable[str], key: str | None, deadline: Deadline
) -> list[Mapping[str, Any]]:
    keys = None if key is None else [key]
    resources = [
        {"resource_type": kind, "resource_name": name, "configuration_keys": keys} for name in names
    ]
    message = Message(DESCRIBE_CONFIGS, {"resources": resources})
    answer = await connection.request(message, deadline)
    results: list[Mapping[str, Any]] = answer["results"]
    return results


def _value(result: Mapping[str, Any], key: str) -> ConfigValue:
    error = result["error_code"]
    for config in result["configs"]:
        if config["name"] == key:
            return ConfigValue(error, config["value"], _source(config["config_source"]))
    return ConfigValue(error)


def _source(number: int) -> ConfigSource:
    """Return the source with this code, UNKNOWN for a code that only later releases know."""
    known = number in ConfigSource.__members__.values()
    return ConfigSource(number) if known else ConfigSource.UNKNOWN
