"""What random events choose from: the brokers, topics and partitions that there are."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from random import Random

from kafka_unclean_recovery.log_dir.metadata.image import (
    BrokerRegistration,
    MetadataImage,
    PartitionRegistration,
)

BROKERS = (1, 2, 3, 4, 5)
STRANGER = 9
"""A broker that never registers."""
NO_TOPIC = "none"
"""A topic that nobody creates."""


@dataclass(frozen=True, slots=True)
class Place:
    """A partition as it is."""

    topic: str
    partition: int
    now: PartitionRegistration


def places(image: MetadataImage) -> Iterator[Place]:
    """Return every partition, by name and number."""
    for topic_id, name in sorted(image.topics.items(), key=lambda item: item[1]):
        for number, found in image.partitions[topic_id].items():
            yield Place(name, number, found)


def any_place(
    chance: Random,
    image: MetadataImage,
    wanted: Callable[[PartitionRegistration], bool] = lambda _: True,
) -> Place | None:
    found = [place for place in places(image) if wanted(place.now)]
    return chance.choice(found) if found else None


def any_topic(chance: Random, image: MetadataImage) -> str | None:
    return chance.choice(sorted(image.topics.values())) if image.topics else None


def any_broker(
    chance: Random,
    image: MetadataImage,
    wanted: Callable[[BrokerRegistration], bool] = lambda _: True,
) -> BrokerRegistration | None:
    """Return a broker that is registered."""
    found = [broker for _, broker in sorted(image.brokers.items()) if wanted(broker)]
    return chance.choice(found) if found else None


def active(image: MetadataImage, broker: int) -> bool:
    """Return the brokers that are registered, unfenced and not shutting down."""
    found = image.brokers.get(broker)
    return found is not None and not found.fenced and not found.in_controlled_shutdown


def log_dirs(broker: int) -> tuple[uuid.UUID, uuid.UUID]:
    """Return the directories that a broker has, at most."""
    return uuid.UUID(int=1_000 + broker), uuid.UUID(int=2_000 + broker)


def shuffled(chance: Random, brokers: Iterable[int]) -> list[int]:
    found = sorted(brokers)
    chance.shuffle(found)
    return found
