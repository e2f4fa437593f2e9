"""Which topics may be led again by whoever comes first: unclean.leader.election.enable is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kafka_unclean_recovery.cluster.requests.configs import ConfigValue, topic_configs
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.error_codes import error_name
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.kafka_names import UNCLEAN_LEADER_ELECTION_ENABLE, Errors
from kafka_unclean_recovery.survey.answer import answered
from kafka_unclean_recovery.survey.reading import Reader

_NOT_ALLOWED = error_name(Errors.TOPIC_AUTHORIZATION_FAILED)


@dataclass(frozen=True, slots=True)
class UncleanElections:
    """The topics' unclean.leader.election.enable, as far as it was told. untold: by topic, why it
    is not known, to follow its name."""

    enabled: Mapping[str, bool] = field(default_factory=dict)
    untold: Mapping[str, str] = field(default_factory=dict)


async def unclean_elections(reader: Reader, topics: Sequence[str]) -> UncleanElections:
    """Ask for the effective value of each topic. What a broker or a right keeps back is untold."""
    if not topics:
        return UncleanElections()

    async def read(connection: Connection, deadline: Deadline) -> Mapping[str, ConfigValue]:
        return await topic_configs(connection, topics, UNCLEAN_LEADER_ELECTION_ENABLE, deadline)

    told = await answered(reader.aside(read))
    if told.value is None:
        return UncleanElections({}, dict.fromkeys(topics, f"is not known: {told.problem}"))
    enabled: dict[str, bool] = {}
    untold: dict[str, str] = {}
    for topic in topics:
        found = told.value.get(topic)
        if found is not None and found.error == Errors.NONE and found.value is not None:
            enabled[topic] = found.value == "true"
        elif found is not None and found.error == Errors.TOPIC_AUTHORIZATION_FAILED:
            untold[topic] = f"is not known: {_NOT_ALLOWED}; grant Topic({topic}):DESCRIBE_CONFIGS"
    return UncleanElections(enabled, untold)
