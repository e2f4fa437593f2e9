"""Replay what makes topics and partitions, and changes them (ReplicationControlManager,
PartitionRegistration)."""

from __future__ import annotations

import uuid

from kafka_unclean_recovery.log_dir.metadata.loading.state import (
    ABSENT,
    Fields,
    Refusal,
    State,
    shaped,
)
from kafka_unclean_recovery.log_dir.metadata.records import NO_RECOVERY_CHANGE

_MIGRATING = uuid.UUID(int=0)
_NO_TOPIC = "no topic has this id"
_RECOVERY_STATES = (0, 1)
_RECOVERY_CHANGES = (NO_RECOVERY_CHANGE, *_RECOVERY_STATES)


def add_topic(state: State, fields: Fields) -> Refusal:
    name, id_ = fields["name"], fields["topic_id"]
    if name in state.names:
        return f"topic {name} is there, with id {state.names[name]}"
    state.put(state.names, name, id_)
    state.put(state.topics, id_, name)
    state.put(state.partitions, id_, {})
    return None


def remove_topic(state: State, fields: Fields) -> Refusal:
    id_ = fields["topic_id"]
    name = state.topics.get(id_)
    if name is None:
        return f"{_NO_TOPIC}: {id_}"
    state.put(state.topics, id_, ABSENT)
    state.put(state.names, name, ABSENT)
    state.put(state.partitions, id_, ABSENT)
    return None


def add_partition(state: State, fields: Fields) -> Refusal:
    id_, number = fields["topic_id"], fields["partition_id"]
    if id_ not in state.topics:
        return f"{_NO_TOPIC}: {id_}"
    if fields["leader_recovery_state"] not in _RECOVERY_STATES:
        return f"leader_recovery_state is {fields['leader_recovery_state']}"
    replicas = len(fields["replicas"])
    directories = _told(fields.get("directories"))
    if directories not in (None, replicas):
        return f"{replicas} replicas are in {directories} directories"
    state.put(state.partitions[id_], number, shaped(replicas, directories))
    return None


def change_partition(state: State, fields: Fields) -> Refusal:
    id_, number = fields["topic_id"], fields["partition_id"]
    partitions = state.partitions.get(id_)
    if partitions is None:
        return f"{_NO_TOPIC}: {id_}"
    known = partitions.get(number)
    if known is None:
        return f"topic {state.topics[id_]} has no partition {number}"
    if fields["leader_recovery_state"] not in _RECOVERY_CHANGES:
        return f"leader_recovery_state is {fields['leader_recovery_state']}"
    replicas, directories = fields["replicas"], fields.get("directories")
    if replicas is None and directories is None:
        return None
    count = known.replicas if replicas is None else len(replicas)
    told = known.directories if directories is None else _told(directories)
    if told not in (None, count):
        return f"{count} replicas are in {told} directories"
    state.put(partitions, number, shaped(count, told))
    return None


def clear_elr(state: State, fields: Fields) -> Refusal:
    name = fields["topic_name"]
    return f"no topic is named {name}" if name and name not in state.names else None


def _told(directories: tuple[uuid.UUID, ...] | None) -> int | None:
    """Return how many directories are told; None where the controller takes them for none."""
    if not directories or all(each == _MIGRATING for each in directories):
        return None
    return len(directories)
