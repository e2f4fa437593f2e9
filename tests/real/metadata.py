"""The cluster as one of its brokers describes it, by an independent client."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

NO_LEADER = -1
# Dead brokers are the normal case here: what librdkafka says of them goes nowhere.
SILENT = logging.Logger("librdkafka of the tests", level=logging.CRITICAL + 1)
QUIETLY: Mapping[str, str] = {
    "broker.address.family": "v4",
    "allow.auto.create.topics": "false",
    "log_level": "0",
}


@dataclass(frozen=True, slots=True)
class PartitionView:
    leader: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]

    @property
    def offline(self) -> bool:
        return self.leader == NO_LEADER


@dataclass(frozen=True, slots=True)
class ClusterView:
    """Listed brokers are unfenced; a dead one and a fenced one look alike: absent."""

    brokers: frozenset[int]
    topics: Mapping[str, Mapping[int, PartitionView]]


NOTHING_SEEN = ClusterView(frozenset(), {})


def cluster_view(connection: Mapping[str, str], timeout: float = 5.0) -> ClusterView:
    """What the bootstrap broker answers now; nothing when it does not answer.

    A new client each time: one that lived through a broker's death asks around for a while.
    """
    settings: dict[str, str | int | float | bool] = {**connection, **QUIETLY}
    client = AdminClient(settings, logger=SILENT)
    try:
        metadata = client.list_topics(timeout=timeout)
    except KafkaException:
        return NOTHING_SEEN
    topics = {
        name: {
            number: PartitionView(found.leader, tuple(found.replicas), tuple(found.isrs))
            for number, found in topic.partitions.items()
        }
        for name, topic in metadata.topics.items()
    }
    return ClusterView(frozenset(metadata.brokers), topics)
