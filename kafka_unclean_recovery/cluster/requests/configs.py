"""Read one configuration key of many topics (DescribeConfigs, KIP-133 and KIP-226)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from kafka.protocol.admin.configs import DescribeConfigsRequest

from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.deadline import Deadline

_TOPIC = 2
# Each topic is only one short row of the answer, so a request may name many.
_TOPICS_A_REQUEST = 2000


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


async def topic_configs(
    connection: Connection, topics: Sequence[str], key: str, deadline: Deadline
) -> Mapping[str, ConfigValue]:
    """Return the value of `key` for each topic, as the broker that is asked has it. Needs
    DESCRIBE_CONFIGS on the topics."""
    found: dict[str, ConfigValue] = {}
    for start in range(0, len(topics), _TOPICS_A_REQUEST):
        found |= await _page(connection, topics[start : start + _TOPICS_A_REQUEST], key, deadline)
    return found


async def _page(
    connection: Connection, topics: Sequence[str], key: str, deadline: Deadline
) -> dict[str, ConfigValue]:
    request = DescribeConfigsRequest
    version = connection.version_for(request)
    resource = request.DescribeConfigsResource
    message = request(
        version=version,
        resources=[
            resource(
                version=version,
                resource_type=_TOPIC,
                resource_name=name,
                configuration_keys=[key],
            )
            for name in topics
        ],
        include_synonyms=False,
        include_documentation=False,
    )
    answer = await connection.request(message, deadline, version=version)
    return {
        result.resource_name: next(
            (
                ConfigValue(result.error_code, config.value, _source(config.config_source))
                for config in result.configs
                if config.name == key
            ),
            ConfigValue(result.error_code),
        )
        for result in answer.results
    }


def _source(number: int) -> ConfigSource:
    """Return the source with this code, UNKNOWN for a code that only later releases know."""
    known = number in ConfigSource.__members__.values()
    return ConfigSource(number) if known else ConfigSource.UNKNOWN
