"""What the metadata log tells of later elections: configs, and brokers that are not fenced yet. No
I/O."""

from __future__ import annotations

import re

from kafka_unclean_recovery.kafka_names import (
    ELR_VERSION,
    LAST_LEVEL_OF_3_9,
    MIN_INSYNC_REPLICAS,
    UNCLEAN_LEADER_ELECTION_ENABLE,
)
from kafka_unclean_recovery.log_dir.metadata.image import (
    BROKER_RESOURCE,
    TOPIC_RESOURCE,
    MetadataImage,
)
from kafka_unclean_recovery.model import Fencing, Unfenced

_ALL_BROKERS = (BROKER_RESOURCE, "")
# More replicas than that there are nowhere, and a damaged log may have any number.
_NUMBER = re.compile("[0-9]{1,9}")


def unclean_topics(image: MetadataImage) -> tuple[str, ...]:
    """Return the topics for which the log says that unclean.leader.election.enable is true: by
    their own configs, or by the cluster's default. What the controllers' files say is not there."""
    default = _config(image, _ALL_BROKERS, UNCLEAN_LEADER_ELECTION_ENABLE) or "false"
    found = _of_topics(image, UNCLEAN_LEADER_ELECTION_ENABLE)
    return tuple(sorted(t for t in image.topics.values() if found.get(t, default) == "true"))


def fencing(image: MetadataImage) -> Fencing:
    """Return what decides who may lead once all brokers are fenced."""
    brokers = (image.brokers[broker] for broker in image.registered)
    return Fencing(
        unfenced=tuple(
            Unfenced(each.id, each.epoch, in_controlled_shutdown=each.in_controlled_shutdown)
            for each in brokers
            if not each.fenced and each.epoch >= 0 <= each.id
        ),
        elr=image.features.get(ELR_VERSION, 0) > 0,
        by_hash=_by_hash(image),
        min_isr=_number(_config(image, _ALL_BROKERS, MIN_INSYNC_REPLICAS)),
        min_isr_of_topics={
            topic: found
            for topic, value in sorted(_of_topics(image, MIN_INSYNC_REPLICAS).items())
            if (found := _number(value)) is not None
        },
    )


def _by_hash(image: MetadataImage) -> bool | None:
    """Return whether the controllers are of 4.0 or later; None where that is not known of all."""
    levels = image.controller_levels.values()
    if not levels or 0 in levels or min(levels) <= LAST_LEVEL_OF_3_9 < max(levels):
        return None
    return min(levels) > LAST_LEVEL_OF_3_9


def _config(image: MetadataImage, resource: tuple[int, str], name: str) -> str | None:
    return image.configs.get(resource, {}).get(name)


def _of_topics(image: MetadataImage, name: str) -> dict[str, str]:
    """Return the values of a config by topic, of those that have one of their own."""
    found = {t: _config(image, (TOPIC_RESOURCE, t), name) for t in image.topics.values()}
    return {topic: value for topic, value in found.items() if value is not None}


def _number(value: str | None) -> int | None:
    return int(value) if value is not None and _NUMBER.fullmatch(value) else None
