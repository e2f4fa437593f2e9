"""What has not come back of brokers that were stopped and started again; no I/O."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_unclean_recovery.documents.observation import (
    ObservationJson,
    ObservedPartitionJson,
    ObservedTopicJson,
)
from kafka_unclean_recovery.documents.ok_to_stop import BackAfterStopJson, MissingReplicaJson
from kafka_unclean_recovery.ok_to_stop.answer import untold_disks


def back(observation: ObservationJson, brokers: frozenset[int]) -> BackAfterStopJson:
    """Return whether these brokers, and each replica of theirs, are back."""
    up = {b.id for b in observation.brokers if b.up}
    missing = tuple(
        MissingReplicaJson(topic.name, partition.partition, broker, _why(partition, broker, up))
        for topic in observation.topics
        for partition in topic.partitions
        for broker in _missing(partition, brokers)
    )
    problems = (
        *observation.problems,
        *untold_disks(observation, brokers),
        # What is configured plays no part here.
        *(f"{t.name}: {t.problem}" for t in observation.topics if t.problem and not _whole(t)),
    )
    down = tuple(sorted(brokers - up))
    return BackAfterStopJson(
        cluster_id=observation.cluster_id,
        observed_at=observation.observed_at,
        brokers=tuple(sorted(brokers)),
        verdict="no" if down or missing else "unknown" if problems else "yes",
        down=down,
        missing=missing,
        not_leading=sum(
            partition.replicas[:1] != (partition.leader,)
            and not brokers.isdisjoint(partition.replicas[:1])
            for topic in observation.topics
            for partition in topic.partitions
        ),
        problems=problems,
    )


def _whole(topic: ObservedTopicJson) -> bool:
    """Return whether each partition of the topic was told: Kafka numbers them without a gap."""
    told = {partition.partition for partition in topic.partitions if partition.replicas}
    return bool(told) and told == set(range(len(topic.partitions)))


def _missing(partition: ObservedPartitionJson, brokers: frozenset[int]) -> Iterator[int]:
    """Yield the brokers that are not in the ISR; a replica that is added has never been there, and
    one that is removed need not be there again."""
    for broker in partition.replicas:
        leaves = broker in partition.adding_replicas or broker in partition.removing_replicas
        if broker in brokers and broker not in partition.isr and not leaves:
            yield broker


def _why(partition: ObservedPartitionJson, broker: int, up: set[int]) -> str:
    if broker not in up:
        return "broker_down"
    return "directory_failed" if broker in partition.offline_replicas else "catching_up"
