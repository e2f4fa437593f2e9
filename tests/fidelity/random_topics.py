"""Random events of topics and configs."""

from __future__ import annotations

import uuid
from random import Random

from kafka_unclean_recovery.kafka_names import (
    ELR_VERSION,
    MIN_INSYNC_REPLICAS,
    UNCLEAN_LEADER_ELECTION_ENABLE,
)
from kafka_unclean_recovery.kraft_rules import events as ev
from kafka_unclean_recovery.log_dir.metadata.image import MetadataImage
from tests.fidelity.choosing import BROKERS, NO_TOPIC, STRANGER, any_topic

MOST_TOPICS = 6
MOST_PARTITIONS = 5
NO_ID = uuid.UUID(int=0)
"""The real controller gives a topic its id; the event carries it afterwards."""


def create(chance: Random, image: MetadataImage) -> ev.Event | None:
    """Create 1 to 3 partitions with as many replicas each, mostly on brokers that are there."""
    if len(image.topics) >= MOST_TOPICS:
        return None
    brokers = BROKERS if chance.random() < 0.1 else sorted(image.brokers)
    factor = min(chance.choices((1, 2, 3, 4), (1, 2, 6, 2))[0], len(brokers))
    assignment = {
        number: tuple(chance.sample(brokers, factor)) for number in range(chance.randint(1, 3))
    }
    configs = {}
    if chance.random() < 0.7:
        configs[MIN_INSYNC_REPLICAS] = str(chance.choice((1, 2, 2, 2, 3)))
    if chance.random() < 0.15:
        configs[UNCLEAN_LEADER_ELECTION_ENABLE] = "true"
    return ev.CreateTopic(f"t{chance.randrange(1_000)}", NO_ID, assignment, configs)


def create_wrongly(chance: Random, image: MetadataImage) -> ev.Event | None:
    name = any_topic(chance, image)
    if name is None:
        return None
    wrongs = (
        ev.CreateTopic(name, NO_ID, {0: (1, 2)}),
        ev.CreateTopic("a topic", NO_ID, {0: (1, 2)}),
        ev.CreateTopic("wrong", NO_ID, {0: (1, 1)}),
        ev.CreateTopic("wrong", NO_ID, {0: (1, 2), 1: (1,)}),
        ev.CreateTopic("wrong", NO_ID, {0: ()}),
        ev.CreateTopic("wrong", NO_ID, {1: (1,)}),
        ev.CreateTopic("wrong", NO_ID, {0: (STRANGER,)}),
        ev.CreateTopic("wrong", NO_ID, {0: (1,)}, {MIN_INSYNC_REPLICAS: "0"}),
    )
    return chance.choice(wrongs)


def create_partitions(chance: Random, image: MetadataImage) -> ev.Event | None:
    """Create one or two more; now and then not more, or with replicas that can't be."""
    topics = [
        (id_, found) for id_, found in image.partitions.items() if len(found) < MOST_PARTITIONS
    ]
    if not topics:
        return None
    topic_id, partitions = chance.choice(sorted(topics, key=lambda item: image.topics[item[0]]))
    count = len(partitions) + chance.choice((0, 1, 1, 1, 2))
    brokers = BROKERS if chance.random() < 0.2 else sorted(image.brokers)
    factor = len(partitions[0].replicas) + (chance.random() < 0.05)
    new = max(0, count - len(partitions) - (chance.random() < 0.05))
    replicas = tuple(tuple(chance.sample(brokers, min(factor, len(brokers)))) for _ in range(new))
    return ev.CreatePartitions(image.topics[topic_id], count, replicas)


def delete(chance: Random, image: MetadataImage) -> ev.Event | None:
    name = NO_TOPIC if chance.random() < 0.02 else any_topic(chance, image)
    return None if name is None else ev.DeleteTopic(name)


def alter_topic_config(chance: Random, image: MetadataImage) -> ev.Event | None:
    """Set a topic's config. The controller checks it, and the broker that is asked checks that of
    all brokers: only here are there wrong ones."""
    name = any_topic(chance, image)
    if name is None:
        return None
    key, value = _config(chance)
    return ev.AlterTopicConfig(name, key, "wrong" if chance.random() < 0.05 else value)


def alter_cluster_config(chance: Random, _: MetadataImage) -> ev.Event:
    return ev.AlterClusterConfig(*_config(chance))


def switch_elr_off(_: Random, image: MetadataImage) -> ev.Event | None:
    return ev.UpdateElrVersion(0, ev.SAFE_DOWNGRADE) if elr_version(image) else None


def switch_elr_on(_: Random, image: MetadataImage) -> ev.Event | None:
    return None if elr_version(image) else ev.UpdateElrVersion(1, ev.UPGRADE)


def switch_elr_somehow(chance: Random, _: MetadataImage) -> ev.Event:
    return ev.UpdateElrVersion(chance.choice((-1, 0, 1, 2)), chance.choice((0, 1, 2, 3, 9)))


def elr_version(image: MetadataImage) -> int:
    return image.features.get(ELR_VERSION, 0)


def _config(chance: Random) -> tuple[str, str | None]:
    if chance.random() < 0.6:
        return MIN_INSYNC_REPLICAS, chance.choice(("1", "2", "2", "3", "4", None))
    return UNCLEAN_LEADER_ELECTION_ENABLE, chance.choice(("true", "false", "false", None))
