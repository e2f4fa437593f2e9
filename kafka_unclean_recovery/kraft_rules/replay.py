"""Replaying a record changes the state. Nothing is decided here, and nothing can be refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from kafka_unclean_recovery.kraft_rules import records as rec
from kafka_unclean_recovery.kraft_rules.partition import PartitionRegistration, merge
from kafka_unclean_recovery.kraft_rules.records import Record, TopicIdPartition
from kafka_unclean_recovery.kraft_rules.recovery import Recovery
from kafka_unclean_recovery.kraft_rules.state import (
    BrokerRegistration,
    HeartbeatState,
    State,
    Topic,
)


def replay(state: State, record: Record) -> None:
    """Change `state` by one record. The log grows by the record unless it is one of IN_MEMORY."""
    _REPLAY[type(record)](state, record)
    if not isinstance(record, rec.IN_MEMORY):
        state.end_offset += 1


def _register_broker(state: State, record: rec.RegisterBrokerRecord) -> None:
    state.brokers[record.broker] = BrokerRegistration(
        incarnation_id=record.incarnation_id,
        epoch=record.broker_epoch,
        log_dirs=record.log_dirs,
        fenced=record.fenced,
        in_controlled_shutdown=record.in_controlled_shutdown,
        registered_at=state.end_offset,
    )
    state.heartbeats[record.broker] = HeartbeatState(record.fenced)


def _unregister_broker(state: State, record: rec.UnregisterBrokerRecord) -> None:
    del state.brokers[record.broker]
    state.heartbeats.pop(record.broker, None)


def _change_registration(state: State, record: rec.BrokerRegistrationChangeRecord) -> None:
    old = state.brokers[record.broker]
    new = BrokerRegistration(
        old.incarnation_id,
        old.epoch,
        record.log_dirs or old.log_dirs,
        old.fenced if record.fenced is None else record.fenced,
        old.in_controlled_shutdown
        if record.in_controlled_shutdown is None
        else record.in_controlled_shutdown,
        old.registered_at,
    )
    state.brokers[record.broker] = new
    # BrokerHeartbeatManager.register forgets the offset: the next heartbeat says it again.
    _touch(state, rec.BrokerTouch(record.broker, new.fenced, -1))


def _touch(state: State, record: rec.BrokerTouch) -> None:
    old = state.heartbeats[record.broker]
    shutdown_offset = -1 if record.fenced else old.controlled_shutdown_offset
    state.heartbeats[record.broker] = HeartbeatState(
        record.fenced, record.metadata_offset, shutdown_offset
    )


def _shut_down(state: State, record: rec.ControlledShutdownOffset) -> None:
    old = state.heartbeats[record.broker]
    state.heartbeats[record.broker] = replace(old, controlled_shutdown_offset=record.offset)


def _contact(state: State, record: rec.BrokerContact) -> None:
    if record.broker_epoch is None:
        state.contacts.pop(record.broker, None)
    else:
        state.contacts[record.broker] = record.broker_epoch


def _topic(state: State, record: rec.TopicRecord) -> None:
    state.topic_ids[record.name] = record.topic_id
    state.topics[record.topic_id] = Topic(record.name, record.topic_id)


def _remove_topic(state: State, record: rec.RemoveTopicRecord) -> None:
    topic = state.topics.pop(record.topic_id)
    del state.topic_ids[topic.name]
    for number, partition in topic.partitions.items():
        key = TopicIdPartition(topic.topic_id, number)
        state.isrs.update(key, partition.isr, ())
        state.leaders.update(key, (partition.leader,), ())
        state.elrs.forget(topic.topic_id, partition.elr)
        if partition.isr or not state.release.leaderless_topic_stays_in_directories:
            state.directories.update(key, partition.directories, ())


def _partition(state: State, record: rec.PartitionRecord) -> None:
    partition = PartitionRegistration(
        record.replicas,
        record.directories,
        record.isr,
        record.leader,
        record.leader_epoch,
        record.partition_epoch,
    )
    state.topics[record.key.topic_id].partitions[record.key.partition] = partition
    state.isrs.update(record.key, (), partition.isr)
    state.leaders.update(record.key, (), (partition.leader,))
    state.directories.update(record.key, (), partition.directories)


def _change_partition(state: State, record: rec.PartitionChangeRecord) -> None:
    partitions = state.topics[record.key.topic_id].partitions
    old = partitions[record.key.partition]
    new = partitions[record.key.partition] = merge(old, record)
    state.isrs.update(record.key, old.isr, new.isr)
    state.leaders.update(record.key, (old.leader,), (new.leader,))
    state.elrs.update(record.key, old.elr, new.elr)
    state.directories.update(record.key, old.directories, new.directories)


def _config(state: State, record: rec.ConfigRecord) -> None:
    configs = _configs(state, record)
    if record.value is None:
        configs.pop(record.key, None)
    else:
        configs[record.key] = record.value


def _configs(state: State, record: rec.ConfigRecord) -> dict[str, str]:
    if record.topic is not None:
        return state.topics[state.topic_ids[record.topic]].configs
    if record.broker is not None:
        return state.broker_configs.setdefault(record.broker, {})
    return state.cluster_configs


def _clear_elr(state: State, record: rec.ClearElrRecord) -> None:
    """Clear ELRs but leave the index from brokers to ELRs as it is, which is a bug of 4.3.1 and of
    4.4.0. Later changes are made twice, and an unclean restart after the topic's deletion is the
    end of the controller."""
    topics = (
        state.topics.values()
        if record.topic is None
        else (state.topics[state.topic_ids[record.topic]],)
    )
    for topic in topics:
        for number, old in topic.partitions.items():
            if old.elr or old.last_known_elr:
                key = TopicIdPartition(topic.topic_id, number)
                change = rec.PartitionChangeRecord(key, elr=(), last_known_elr=())
                topic.partitions[number] = merge(old, change)


def _feature_level(state: State, record: rec.FeatureLevelRecord) -> None:
    """Switch the feature. The ELRs that exist stay until their partitions change."""
    state.release = replace(state.release, elr=record.level > 0)


def _recovery_started(state: State, record: rec.RecoveryStarted) -> None:
    state.recoveries[record.key] = Recovery(record.strategy, record.requested)


def _log_info_received(state: State, record: rec.ReplicaLogInfoReceived) -> None:
    old = state.recoveries[record.key]
    answers = {**old.answers, record.broker: record.info}
    state.recoveries[record.key] = replace(old, answers=answers)


def _recovery_timed_out(state: State, record: rec.RecoveryTimedOut) -> None:
    state.recoveries[record.key] = replace(state.recoveries[record.key], timed_out=True)


def _recovery_ended(state: State, record: rec.RecoveryEnded) -> None:
    del state.recoveries[record.key]
    state.recoveries_finished += record.elected


_REPLAY: dict[type[Record], Callable[[State, Any], None]] = {
    rec.PartitionChangeRecord: _change_partition,
    rec.RegisterBrokerRecord: _register_broker,
    rec.UnregisterBrokerRecord: _unregister_broker,
    rec.BrokerRegistrationChangeRecord: _change_registration,
    rec.TopicRecord: _topic,
    rec.RemoveTopicRecord: _remove_topic,
    rec.PartitionRecord: _partition,
    rec.ConfigRecord: _config,
    rec.ClearElrRecord: _clear_elr,
    rec.FeatureLevelRecord: _feature_level,
    rec.BrokerContact: _contact,
    rec.BrokerTouch: _touch,
    rec.ControlledShutdownOffset: _shut_down,
    rec.RecoveryStarted: _recovery_started,
    rec.ReplicaLogInfoReceived: _log_info_received,
    rec.RecoveryTimedOut: _recovery_timed_out,
    rec.RecoveryEnded: _recovery_ended,
}
