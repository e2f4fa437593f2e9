"""The state of a controller is made from an observation, and brokers are stopped in it; no I/O.

What becomes of a partition is decided by the reference controller (kraft_rules), whose
rules are held against those of real ones: there is no second copy of them here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace as with_field
from uuid import UUID

from kafka_unclean_recovery.documents.observation import (
    ObservationJson,
    ObservedBrokerJson,
    ObservedPartitionJson,
    ObservedTopicJson,
)
from kafka_unclean_recovery.kafka_names import MIN_INSYNC_REPLICAS, UNCLEAN_LEADER_ELECTION_ENABLE
from kafka_unclean_recovery.kraft_rules.events import (
    UNKNOWN_BROKER_EPOCH,
    Heartbeat,
    RegisterBroker,
    SessionExpired,
)
from kafka_unclean_recovery.kraft_rules.machine import step
from kafka_unclean_recovery.kraft_rules.partition import PartitionRegistration
from kafka_unclean_recovery.kraft_rules.records import (
    BrokerContact,
    PartitionChangeRecord,
    PartitionRecord,
    Record,
    RegisterBrokerRecord,
    TopicIdPartition,
    TopicRecord,
)
from kafka_unclean_recovery.kraft_rules.releases import (
    KAFKA_3_9_1,
    KAFKA_4_3_1,
    KAFKA_4_4_0,
    Release,
)
from kafka_unclean_recovery.kraft_rules.replay import replay
from kafka_unclean_recovery.kraft_rules.state import State
from kafka_unclean_recovery.model import TopicPartition

_RULES = {"3.9": KAFKA_3_9_1, "4.3": KAFKA_4_3_1, "4.4": KAFKA_4_4_0}
_FAILED_DIRECTORY = UUID(int=500)
_FIRST_DIRECTORY = 1000
_CAUGHT_UP = 2**62

Partitions = dict[TopicPartition, PartitionRegistration]
Chosen = Sequence[tuple[ObservedTopicJson, Sequence[ObservedPartitionJson]]]
"""Topics, each with those of its partitions that are rehearsed with."""


def tried(observation: ObservationJson) -> bool:
    """Return whether our controller was held against the controllers of this release."""
    return observation.release in _RULES


def _rules(observation: ObservationJson) -> Release:
    found = _RULES.get(observation.release, KAFKA_4_3_1)
    return with_field(found, elr=observation.elr)


class Rehearsal:
    """A controller that has some of the observed topics, and in which brokers are stopped."""

    def __init__(self, observation: ObservationJson, topics: Chosen) -> None:
        self._state = State(_rules(observation))
        self._ids: dict[str, UUID] = {}
        for record in _records(observation, topics):
            replay(self._state, record)
            if isinstance(record, TopicRecord):
                self._ids[record.name] = record.topic_id
        for topic, _ in topics:
            self._configure(topic)

    def _configure(self, topic: ObservedTopicJson) -> None:
        configs = self._state.topics[self._ids[topic.name]].configs
        configs[MIN_INSYNC_REPLICAS] = str(topic.min_isr)
        configs[UNCLEAN_LEADER_ELECTION_ENABLE] = str(topic.unclean).lower()

    def stop(self, brokers: Iterable[int]) -> None:
        """Shut the brokers down in order: each asks for it, and then its process ends."""
        for broker in self._running(brokers):
            epoch = self._state.brokers[broker].epoch
            step(self._state, Heartbeat(broker, epoch, _CAUGHT_UP, want_shut_down=True))
            step(self._state, SessionExpired(broker))

    def kill(self, brokers: Iterable[int]) -> None:
        """End the processes of the brokers, and then their sessions."""
        for broker in self._running(brokers):
            step(self._state, SessionExpired(broker))

    def restart_after_kill(self, brokers: Iterable[int]) -> None:
        """Register the brokers anew, without a file that says that they were shut down cleanly."""
        for broker in self._known(brokers):
            log_dirs = self._state.brokers[broker].log_dirs
            incarnation = UUID(int=_FIRST_DIRECTORY + broker)
            step(self._state, RegisterBroker(broker, incarnation, UNKNOWN_BROKER_EPOCH, log_dirs))

    def _known(self, brokers: Iterable[int]) -> list[int]:
        return [broker for broker in brokers if broker in self._state.brokers]

    def _running(self, brokers: Iterable[int]) -> list[int]:
        return [broker for broker in self._known(brokers) if self._state.active(broker)]

    def partitions(self) -> Partitions:
        """Return the partitions as they are now."""
        return {
            TopicPartition(topic.name, number): partition
            for topic in self._state.topics.values()
            for number, partition in topic.partitions.items()
        }

    def active(self, broker: int) -> bool:
        return self._state.active(broker)


def _records(observation: ObservationJson, topics: Chosen) -> Iterator[Record]:
    for broker in observation.brokers:
        yield from _registered(broker)
    live = frozenset(broker.id for broker in observation.brokers if not broker.fenced)
    for number, (topic, partitions) in enumerate(topics, start=1):
        # Clusters of long ago have topics without an id; only here all have one.
        topic_id = UUID(int=number)
        yield TopicRecord(topic.name, topic_id)
        for partition in partitions:
            yield from _created(TopicIdPartition(topic_id, partition.partition), partition, live)


def _registered(broker: ObservedBrokerJson) -> Iterator[Record]:
    # The epoch of a broker is the offset of its registration: no two have the same.
    epoch = broker.id + 1
    yield RegisterBrokerRecord(
        broker.id, UUID(int=broker.id + 1), epoch, (_directory(broker.id),), broker.fenced
    )
    if not broker.fenced:
        yield BrokerContact(broker.id, epoch)


def _directory(broker: int) -> UUID:
    return UUID(int=_FIRST_DIRECTORY + broker)


def _created(
    key: TopicIdPartition, partition: ObservedPartitionJson, live: frozenset[int]
) -> Iterator[Record]:
    directories = tuple(
        _FAILED_DIRECTORY
        if replica in partition.offline_replicas and replica in live
        else _directory(replica)
        for replica in partition.replicas
    )
    yield PartitionRecord(key, partition.replicas, directories, partition.isr, partition.leader)
    # Ours fails where it finds anybody else there; the prediction says that this was not tried.
    yield PartitionChangeRecord(
        key,
        elr=tuple(i for i in partition.elr if i in partition.replicas),
        last_known_elr=tuple(i for i in partition.last_known_elr if i in partition.replicas),
        adding_replicas=partition.adding_replicas,
        removing_replicas=partition.removing_replicas,
    )
