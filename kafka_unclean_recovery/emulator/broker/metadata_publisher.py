"""The metadata publisher tells brokers what the controller has decided about their partitions, and
notes which partitions have to settle next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from kafka_unclean_recovery.emulator.broker.broker import Broker
from kafka_unclean_recovery.emulator.election_counts import ElectionCounts
from kafka_unclean_recovery.kraft_rules import records as rec
from kafka_unclean_recovery.kraft_rules.partition import PartitionRegistration
from kafka_unclean_recovery.kraft_rules.records import Ids, Record, TopicIdPartition
from kafka_unclean_recovery.kraft_rules.replay import replay
from kafka_unclean_recovery.kraft_rules.state import State


@dataclass(slots=True)
class MetadataPublisher:
    """Kafka's BrokerMetadataPublisher, one for all brokers.

    `stale`: the metadata that brokers go by while nothing new reaches them. `now`: in seconds.

    `unsettled`: partitions whose followers may have something to fetch, in order. `elsewhere`: by
    broker and partition, the directory of each replica that the controller believes to be in
    another directory.
    """

    state: State
    brokers: Mapping[int, Broker]
    stale: Mapping[int, State]
    now: Callable[[], float]
    elections: ElectionCounts
    unsettled: dict[TopicIdPartition, None] = field(default_factory=dict)
    elsewhere: dict[tuple[int, TopicIdPartition], UUID] = field(default_factory=dict)

    def publish(self, record: Record) -> None:
        if isinstance(record, rec.RemoveTopicRecord):
            self._remove(self.state.topics[record.topic_id].partitions, record)
        had: Ids = ()
        if isinstance(record, rec.PartitionChangeRecord):
            before = self.state.partition(record.key)
            self.elections.count(before, record)
            had = before.replicas
        replay(self.state, record)
        if isinstance(record, rec.PartitionRecord | rec.PartitionChangeRecord):
            # Of a hundred brokers it concerns few.
            has = self.state.partition(record.key).replicas
            for id_ in sorted({*had, *has} & self.brokers.keys()):
                self._tell(self.brokers[id_], record.key)
            self.unsettled[record.key] = None
        elif isinstance(record, rec.BrokerRegistrationChangeRecord):
            # A broker that is unfenced may join ISRs.
            self.unsettled |= dict.fromkeys(self.brokers[record.broker].replicas)
        elif isinstance(record, rec.ConfigRecord):
            # min.insync.replicas bounds the high watermark.
            self.unsettled |= dict.fromkeys(self.partitions(record.topic))

    def _remove(self, partitions: Iterable[int], record: rec.RemoveTopicRecord) -> None:
        keys = [TopicIdPartition(record.topic_id, number) for number in partitions]
        for broker in self.brokers.values():
            if broker.running and broker.id not in self.stale:
                broker.forget(keys)

    def partitions(self, topic: str | None) -> list[TopicIdPartition]:
        return [
            TopicIdPartition(found.topic_id, number)
            for found in self.state.topics.values()
            if topic in (None, found.name)
            for number in found.partitions
        ]

    def _tell(self, broker: Broker, key: TopicIdPartition) -> None:
        topic = self.state.topics[key.topic_id]
        partition = topic.partitions[key.partition]
        if not broker.running or broker.id in self.stale:
            return
        if broker.id in partition.replicas or key in broker.replicas:
            broker.take(key, topic.name, partition, self.now())
            self._compare_directory(broker, key, partition)

    def _compare_directory(
        self, broker: Broker, key: TopicIdPartition, partition: PartitionRegistration
    ) -> None:
        """Note a replica that is not where the controller has it (AssignmentsManager)."""
        replica = broker.replicas.get(key)
        if replica is None:
            return
        found = broker.log_directory_of(replica).id
        if (
            found is not None
            and found != partition.directories[partition.replicas.index(broker.id)]
        ):
            self.elsewhere[broker.id, key] = found

    def catch_up(self, broker: Broker) -> None:
        """Let a broker apply all metadata that it has missed."""
        broker.forget([key for key in broker.replicas if key.topic_id not in self.state.topics])
        for key in self.partitions(None):
            self._tell(broker, key)
        self.unsettled |= dict.fromkeys(broker.replicas)
