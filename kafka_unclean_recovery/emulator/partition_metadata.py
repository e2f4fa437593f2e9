"""This module describes a partition as every metadata answer does, whichever API is asked."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.kraft_rules.records import NO_LEADER, Ids
from kafka_unclean_recovery.kraft_rules.state import State, Topic


def partition_fields(
    state: State, topic: Topic, number: int, unlisted: Collection[int] = ()
) -> dict[str, Any]:
    """Return a partition's fields. An unknown or fenced leader is none, and so is one without the
    listener of who asks, whose brokers are `unlisted` (KRaftMetadataCache)."""
    partition = topic.partitions[number]
    offline = offline_replicas(state, topic, number, unlisted)
    leader = NO_LEADER if partition.leader in offline else partition.leader
    hidden = partition.leader in unlisted and partition.leader not in offline_replicas(
        state, topic, number
    )
    no_leader = Errors.LISTENER_NOT_FOUND if hidden else Errors.LEADER_NOT_AVAILABLE
    return {
        "error_code": no_leader if leader == NO_LEADER else Errors.NONE,
        "partition_index": number,
        "leader_id": leader,
        "leader_epoch": partition.leader_epoch,
        "replica_nodes": partition.replicas,
        "isr_nodes": partition.isr,
        "offline_replicas": offline,
    }


def offline_replicas(
    state: State, topic: Topic, number: int, unlisted: Collection[int] = ()
) -> Ids:
    """Return replicas on brokers that are fenced, unknown or unlisted, or on failed disks."""
    partition = topic.partitions[number]
    places = zip(partition.replicas, partition.directories, strict=True)
    return tuple(
        replica
        for replica, directory in places
        if replica not in state.brokers
        or replica in unlisted
        or state.brokers[replica].fenced
        or not state.has_online_dir(replica, directory)
    )
