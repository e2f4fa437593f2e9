"""Random events from a seed: mostly what brokers and admins do, some stale or wrong on purpose.

Weights make the interesting states common: several brokers down at once, partitions without a
leader, eligible leader replicas, reassignments that stop half way. Epochs are relative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from kafka_unclean_recovery.kafka_names import MIN_INSYNC_REPLICAS
from kafka_unclean_recovery.kraft_rules import events as ev
from kafka_unclean_recovery.log_dir.metadata.image import TOPIC_RESOURCE, MetadataImage
from tests.fidelity import random_brokers, random_partitions, random_topics
from tests.fidelity.choosing import places

Make = Callable[[Random, MetadataImage], ev.Event | None]

WEIGHTS: Sequence[tuple[float, Make]] = (
    (60, random_brokers.register),
    (4, random_brokers.register_again),
    (1, random_brokers.register_wrongly),
    (10, random_brokers.unregister),
    (34, random_brokers.unfence),
    (24, random_brokers.fence),
    (6, random_brokers.beat),
    (5, random_brokers.shut_down),
    (1, random_brokers.lose_log_dir),
    (1, random_brokers.beat_stale),
    (4, random_brokers.assign_to_dir),
    (60, random_partitions.alter_partition),
    (8, random_partitions.alter_partitions),
    (10, random_partitions.elect),
    (10, random_partitions.reassign),
    (4, random_partitions.cancel),
    (10, random_topics.create),
    (1, random_topics.create_wrongly),
    (1, random_topics.create_partitions),
    (3, random_topics.delete),
    (2, random_topics.alter_topic_config),
    (1, random_topics.alter_cluster_config),
    (1, random_topics.switch_elr_off),
    (6, random_topics.switch_elr_on),
    (0.2, random_topics.switch_elr_somehow),
)
_WEIGHTS, _MAKES = zip(*WEIGHTS, strict=True)


@dataclass(slots=True)
class Generator:
    """Events for a controller in the state that it is in, around three bugs of 4.3.1.

    Where an ELR was cleared by a change of min.insync.replicas and the topic is deleted, the next
    unclean registration, or unregistration, of a former ELR member makes the controller resign,
    and again ever after: such a topic is not deleted.

    A partition that has no ISR when its topic is deleted stays in the index from log directories
    to partitions. The loss of its directory makes the controller resign, and again ever after:
    odd seeds delete no such topic, and even ones lose no directory from then on.

    A reassignment that completes while a removed replica is in the ELR leaves it there, against
    KIP-966 ("Other behaviors", 4). The next election of that partition fails on a replica that
    "is not assigned to this partition": such an ELR goes at once, with its topic or by a change
    of min.insync.replicas.
    """

    seed: int
    _chance: Random = field(init=False)
    _elr_cleared: set[str] = field(default_factory=set)
    _deleted_without_isr: bool = False

    def __post_init__(self) -> None:
        self._chance = Random(self.seed)

    def next(self, image: MetadataImage) -> ev.Event:
        """Return the next event; what the generator knows of the present is in the image."""
        event = self._needed(image)
        while event is None or self._dangerous(event, image):
            event = self._chance.choices(_MAKES, _WEIGHTS)[0](self._chance, image)
        self.remember(event, image)
        return event

    def remember(self, event: ev.Event, image: MetadataImage) -> None:
        """Note what this event makes dangerous from now on."""
        if isinstance(event, ev.DeleteTopic):
            self._deleted_without_isr |= event.name in _without_isr(image)
        if isinstance(event, ev.AlterTopicConfig | ev.AlterClusterConfig):
            one = event.name if isinstance(event, ev.AlterTopicConfig) else None
            if event.key == MIN_INSYNC_REPLICAS:
                self._elr_cleared |= {
                    place.topic
                    for place in places(image)
                    if one in (None, place.topic) and place.now.elr
                }

    def _dangerous(self, event: ev.Event, image: MetadataImage) -> bool:
        if isinstance(event, ev.Heartbeat):
            return bool(event.offline_log_dirs) and self._deleted_without_isr
        if isinstance(event, ev.DeleteTopic):
            spared = _without_isr(image) if self.seed % 2 else set()
            return event.name in self._elr_cleared | spared
        return False

    def _needed(self, image: MetadataImage) -> ev.Event | None:
        """Return what takes a stranger out of an ELR."""
        for place in places(image):
            if not {*place.now.elr, *place.now.last_known_elr} <= {*place.now.replicas}:
                deletion = ev.DeleteTopic(place.topic)
                if not self._dangerous(deletion, image):
                    return deletion
                if not random_topics.elr_version(image):
                    return ev.UpdateElrVersion(1, ev.UPGRADE)
                # Only a value that is another one clears.
                now = image.configs.get((TOPIC_RESOURCE, place.topic), {}).get(MIN_INSYNC_REPLICAS)
                value = "1" if now == "2" else "2"
                return ev.AlterTopicConfig(place.topic, MIN_INSYNC_REPLICAS, value)
        return None


def _without_isr(image: MetadataImage) -> set[str]:
    """Return the topics with a partition that has no ISR."""
    return {place.topic for place in places(image) if not place.now.isr}
