"""What is compared after each step: all that a controller says of partitions and brokers."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any, NamedTuple
from uuid import UUID

from kafka_unclean_recovery.kafka_names import ELR_VERSION, Errors
from kafka_unclean_recovery.kraft_rules import events as ev
from kafka_unclean_recovery.log_dir.metadata.image import MetadataImage

FAILED = ev.Response(Errors.UNKNOWN_SERVER_ERROR)
"""The answer of a controller that met with a bug of its own; what it says then does not count."""


class PartitionView(NamedTuple):
    """A partition; the order of every list counts."""

    leader: int
    leader_epoch: int
    partition_epoch: int
    isr: tuple[int, ...]
    elr: tuple[int, ...]
    last_known_elr: tuple[int, ...]
    leader_recovery_state: int
    replicas: tuple[int, ...]
    adding_replicas: tuple[int, ...]
    removing_replicas: tuple[int, ...]
    directories: tuple[UUID, ...]


class BrokerView(NamedTuple):
    epoch: int
    fenced: bool
    in_controlled_shutdown: bool


class ClusterState(NamedTuple):
    """`partitions` by (topic, partition), `brokers` by id; the offset says how much was written.
    `elr_version` is the level of eligible.leader.replicas.version."""

    partitions: Mapping[tuple[str, int], PartitionView]
    brokers: Mapping[int, BrokerView]
    end_offset: int
    elr_version: int


_PARTITION, _BROKER = (attrgetter(*view._fields) for view in (PartitionView, BrokerView))


def partition_view(found: Any) -> PartitionView:
    """Return the view of a real controller's image or of ours, which name the fields alike."""
    return PartitionView._make(_PARTITION(found))


def broker_view(found: Any) -> BrokerView:
    return BrokerView._make(_BROKER(found))


def state_of(image: MetadataImage, end_offset: int) -> ClusterState:
    return ClusterState(
        {
            (name, number): partition_view(found)
            for topic_id, name in image.topics.items()
            for number, found in image.partitions[topic_id].items()
        },
        {broker: broker_view(found) for broker, found in image.brokers.items()},
        end_offset,
        image.features.get(ELR_VERSION, 0),
    )
