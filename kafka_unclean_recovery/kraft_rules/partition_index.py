"""The indexes find partitions by leader, by member of the ISR or ELR, and by log directory."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from uuid import UUID

from kafka_unclean_recovery.kraft_rules.records import Ids, TopicIdPartition

Place = TypeVar("Place", bound=Hashable)


@dataclass(slots=True)
class PartitionIndex(Generic[Place]):
    """An index from brokers, NO_LEADER being one too, or from directories to sets of partitions."""

    members: dict[Place, dict[TopicIdPartition, None]] = field(default_factory=dict)

    def of(self, place: Place) -> Iterable[TopicIdPartition]:
        return self.members.get(place, ())

    def update(self, key: TopicIdPartition, old: tuple[Place, ...], new: tuple[Place, ...]) -> None:
        if old == new:
            return
        for place in old:
            if place not in new:
                self.members[place].pop(key, None)
        for place in new:
            if place not in old:
                self.members.setdefault(place, {})[key] = None


@dataclass(slots=True)
class BrokersToElrs:
    """An index from brokers to the partitions with them in the ELR, with lists for sets as in
    Kafka's BrokersToElrs.

    A list is a set as long as each entry is added once and removed once. Where ELRs are cleared
    without the index, entries stay or come twice, and removing one of two leaves a partition 0.
    """

    members: dict[int, dict[UUID, list[int]]] = field(default_factory=dict)

    def of(self, broker: int) -> Iterator[TopicIdPartition]:
        for topic_id, partitions in self.members.get(broker, {}).items():
            for partition in partitions:
                yield TopicIdPartition(topic_id, partition)

    def update(self, key: TopicIdPartition, old: Ids, new: Ids) -> None:
        if old == new:
            return
        for broker in old:
            if broker not in new:
                self._remove(broker, key)
        for broker in new:
            if broker not in old:
                self.members.setdefault(broker, {}).setdefault(key.topic_id, []).append(
                    key.partition
                )

    def _remove(self, broker: int, key: TopicIdPartition) -> None:
        topics = self.members[broker]
        partitions = topics[key.topic_id]
        left = [p for p in partitions if p != key.partition]
        # Kafka copies the other entries into an array that is one shorter, whatever number it
        # leaves out.
        left += [0] * (len(partitions) - 1 - len(left))
        if left:
            topics[key.topic_id] = left
        else:
            del topics[key.topic_id]

    def forget(self, topic_id: UUID, brokers: Ids) -> None:
        """Remove a deleted topic, in whose ELRs these brokers were."""
        for broker in brokers:
            self.members.get(broker, {}).pop(topic_id, None)
