"""The cluster as one of its brokers describes it, by an independent client."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._metadata import ClusterMetadata

from kafka_unclean_recovery.deadline import Deadline

NO_LEADER = -1
# The id of a bootstrap broker for librdkafka, until that has told its own.
NOT_YET_KNOWN = -1
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


def broker_view(broker: int, connection: Mapping[str, str], timeout: float = 5.0) -> ClusterView:
    """Return what this broker, which `connection` begins at, answers now; nothing when it does not.

    librdkafka asks any broker that it has come to know, and that one may be ahead of this one: it
    is asked anew until this one answered.
    """
    deadline = Deadline.after(timeout)
    while not deadline.expired:
        metadata = _metadata(connection, deadline.remaining())
        if metadata is None:
            break
        if metadata.orig_broker_id in (broker, NOT_YET_KNOWN):
            return _view(metadata)
    return NOTHING_SEEN


def cluster_view(connection: Mapping[str, str], timeout: float = 5.0) -> ClusterView:
    """Return what some live broker answers now; nothing when none does."""
    metadata = _metadata(connection, timeout)
    return NOTHING_SEEN if metadata is None else _view(metadata)


def _metadata(connection: Mapping[str, str], timeout: float) -> ClusterMetadata | None:
    """Ask by a new client: one that lived through a broker's death asks around for a while."""
    settings: dict[str, str | int | float | bool] = {**connection, **QUIETLY}
    client = AdminClient(settings, logger=SILENT)
    try:
        return client.list_topics(timeout=timeout)
    except KafkaException:
        return None


def _view(metadata: ClusterMetadata) -> ClusterView:
    topics = {
        name: {
            number: PartitionView(found.leader, tuple(found.replicas), tuple(found.isrs))
            for number, found in topic.partitions.items()
        }
        for name, topic in metadata.topics.items()
    }
    return ClusterView(frozenset(metadata.brokers), topics)
