"""This module tracks which log directory a replica is in, and which have failed (KIP-858)."""

from __future__ import annotations

from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.kraft_rules.events import AssignReplicaToDir, Heartbeat, Response
from kafka_unclean_recovery.kraft_rules.partition_change import Proposal
from kafka_unclean_recovery.kraft_rules.partition_updates import broker_leaves, proposed
from kafka_unclean_recovery.kraft_rules.records import (
    BrokerRegistrationChangeRecord,
    Record,
    TopicIdPartition,
)
from kafka_unclean_recovery.kraft_rules.state import State


def assign_replica(state: State, event: AssignReplicaToDir) -> tuple[list[Record], Response]:
    """Record the directory of a replica. A replica that is put into a failed directory leaves the
    ISR at once."""
    registration = state.brokers.get(event.broker)
    if registration is None or registration.epoch != event.broker_epoch:
        return [], Response(Errors.STALE_BROKER_EPOCH)
    topic = state.topic(event.topic)
    if topic is None:
        return [], Response(Errors.UNKNOWN_TOPIC_ID)
    partition = topic.partitions.get(event.partition)
    if partition is None:
        return [], Response(Errors.UNKNOWN_TOPIC_OR_PARTITION)
    if event.broker not in partition.replicas:
        return [], Response(Errors.NOT_LEADER_OR_FOLLOWER)
    key = TopicIdPartition(topic.topic_id, event.partition)
    change = proposed(state, topic, key, Proposal(log_dir=(event.broker, event.log_dir)))
    records: list[Record] = [] if change is None else [change]
    if not state.has_online_dir(event.broker, event.log_dir):
        records += broker_leaves(state, event.broker, [key])
    return records, Response()


def directories_offline(state: State, event: Heartbeat) -> list[Record]:
    """Take replicas in newly failed directories out of their ISRs, as those of a fenced broker."""
    registration = state.brokers[event.broker]
    failed = [d for d in registration.log_dirs if d in event.offline_log_dirs]
    if not failed:
        return []
    records: list[Record] = []
    for log_dir in failed:
        records += broker_leaves(state, event.broker, state.directories.of(log_dir))
    left = tuple(d for d in registration.log_dirs if d not in failed)
    change = BrokerRegistrationChangeRecord(event.broker, registration.epoch, log_dirs=left)
    return [*records, change]
