"""This module creates and deletes topics, and adds partitions to them."""

from __future__ import annotations

import re
from collections.abc import Collection

from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.kraft_rules.configs import clears_elr, valid_config
from kafka_unclean_recovery.kraft_rules.events import (
    CreatePartitions,
    CreateTopic,
    DeleteTopic,
    Response,
)
from kafka_unclean_recovery.kraft_rules.records import (
    ClearElrRecord,
    ConfigRecord,
    Ids,
    PartitionRecord,
    Record,
    RemoveTopicRecord,
    TopicIdPartition,
    TopicRecord,
)
from kafka_unclean_recovery.kraft_rules.state import State

# These are the constants of BaseHashTable.MAX_LOAD_FACTOR and findSlot.
_MAX_LOAD_FACTOR = 0.75
_FIBONACCI_HASH = -7046029254386353131
_NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}")


def create_topic(state: State, event: CreateTopic) -> tuple[list[Record], Response]:
    error = _refusal(state, event)
    if error is not Errors.NONE:
        return [], Response(error)
    configs: list[Record] = [
        ConfigRecord(event.name, key, value) for key, value in event.configs.items()
    ]
    if any(clears_elr(state, key) for key in event.configs):
        configs.append(ClearElrRecord(event.name))
    partitions: list[Record] = [
        _partition(state, TopicIdPartition(event.topic_id, number), replicas)
        for number, replicas in sorted(event.assignment.items())
    ]
    return [TopicRecord(event.name, event.topic_id), *configs, *partitions], Response()


def _partition(state: State, key: TopicIdPartition, replicas: Ids) -> PartitionRecord:
    """Return a new partition. Its first active replica leads it, and replicas that are not active
    begin outside the ISR."""
    isr = tuple(replica for replica in replicas if state.active(replica))
    directories = tuple(state.default_dir(replica) for replica in replicas)
    return PartitionRecord(key, replicas, directories, isr, isr[0])


def _refusal(state: State, event: CreateTopic) -> Errors:
    if event.name in state.topic_ids:
        return Errors.TOPIC_ALREADY_EXISTS
    if not _name_valid(state, event.name):
        return Errors.INVALID_TOPIC_EXCEPTION
    if not all(valid_config(key, value) for key, value in event.configs.items()):
        return Errors.INVALID_CONFIG
    factors = {len(replicas) for replicas in event.assignment.values()}
    consecutive = set(event.assignment) == set(range(len(event.assignment)))
    if len(factors) != 1 or not consecutive:
        return Errors.INVALID_REPLICA_ASSIGNMENT
    if not all(_can_begin(state, replicas) for replicas in event.assignment.values()):
        return Errors.INVALID_REPLICA_ASSIGNMENT
    return Errors.NONE


def _name_valid(state: State, name: str) -> bool:
    """Return whether the name is legal and no other topic's in metrics, where a period reads like
    an underscore (Topic)."""
    if not _NAME.fullmatch(name) or name in (".", ".."):
        return False
    alike = name.replace(".", "_")
    return "_" not in alike or all(alike != n.replace(".", "_") for n in state.topic_ids)


def create_partitions(state: State, event: CreatePartitions) -> tuple[list[Record], Response]:
    """Add partitions to an existing topic (ReplicationControlManager.createPartitions)."""
    topic_id = state.topic_ids.get(event.name)
    if topic_id is None:
        return [], Response(Errors.UNKNOWN_TOPIC_OR_PARTITION)
    existing = state.topics[topic_id].partitions
    if event.count <= len(existing):
        return [], Response(Errors.INVALID_PARTITIONS)
    factor = len(existing[_listed_first(len(existing))].replicas)
    if len(event.assignment) != event.count - len(existing) or not all(
        len(replicas) == factor and _can_begin(state, replicas) for replicas in event.assignment
    ):
        return [], Response(Errors.INVALID_REPLICA_ASSIGNMENT)
    return [
        _partition(state, TopicIdPartition(topic_id, number), replicas)
        for number, replicas in enumerate(event.assignment, len(existing))
    ], Response()


def _listed_first(partitions: int) -> int:
    """Return the number of the partition that Kafka takes as an example of its topic: the one that
    its hash table lists first (TimelineHashMap). Partition 0 is always in the first slot, and the
    last partition that came into a slot is listed first."""
    slots = 2
    while partitions * _MAX_LOAD_FACTOR > slots:
        slots *= 2
    shift = 65 - slots.bit_length()
    return max(n for n in range(partitions) if n * _FIBONACCI_HASH % 2**64 >> shift == 0)


def _can_begin(state: State, replicas: Collection[int]) -> bool:
    return assignment_valid(state, replicas) and any(map(state.active, replicas))


def assignment_valid(state: State, replicas: Collection[int]) -> bool:
    """Return whether the replicas are one or more registered brokers, each named once."""
    registered = all(replica in state.brokers for replica in replicas)
    return bool(replicas) and registered and len(set(replicas)) == len(replicas)


def delete_topic(state: State, event: DeleteTopic) -> tuple[list[Record], Response]:
    topic_id = state.topic_ids.get(event.name)
    if topic_id is None:
        return [], Response(Errors.UNKNOWN_TOPIC_OR_PARTITION)
    return [RemoveTopicRecord(topic_id)], Response()
