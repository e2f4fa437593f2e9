"""The file of KIP-1275, which names no kind and no version."""

from __future__ import annotations

from msgspec import field

from kafka_unclean_recovery.documents.values import Entry, Int32, TopicName


class ElectionJson(Entry, frozen=True):
    """One election.

    topic: Name of the topic.
    partition: Partition number.
    designated_leader: Broker id of the replica to elect.
    """

    topic: TopicName
    partition: Int32
    designated_leader: Int32 = field(name="designatedLeader")


class ManualRecoveryJson(Entry, frozen=True):
    """Partitions and their designated leaders, for kafka-elect-leaders --election-type designated.
    May be edited.

    partitions: By topic and partition.
    """

    partitions: tuple[ElectionJson, ...]
