"""Which partitions a broker leads, or is in the ISR or the ELR of; which a directory holds."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from uuid import UUID

from kafka_unclean_recovery.emulator.controller.records import Ids, TopicIdPartition

Place = TypeVar("Place", bound=Hashable)


@dataclass(slots=True)
class PartitionIndex(Generic[Place]):
    """Sets of partitions by broker, NO_LEADER being a broker too, or by directory."""

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
    """The same of ELRs, with lists for sets as in Kafka's BrokersToElrs.

    As long as each entry is added once and removed once it is a set. Where ELRs are cleared
    behind its back, entries stay, come twice, and to remove one of two leaves a partition 0.
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
        # The array that Kafka copies the others into is one shorter, whatever it leaves out.
        left += [0] * (len(partitions) - 1 - len(left))
        if left:
            topics[key.topic_id] = left
        else:
            del topics[key.topic_id]

    def forget(self, topic_id: UUID, brokers: Ids) -> None:
        """A topic is gone, of which these brokers were in ELRs."""
        for broker in brokers:
            self.members.get(broker, {}).pop(topic_id, None)
