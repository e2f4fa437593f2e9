"""This module changes configs (ConfigurationControlManager), and removes ELRs that a new
min.insync.replicas makes unnecessary.

The controller validates a topic's values. A broker validates the values for all brokers before it
forwards them, so a controller accepts an invalid one that is sent to it directly, and fails on it
later.
"""

from __future__ import annotations

from kafka_unclean_recovery.kafka_names import (
    MIN_INSYNC_REPLICAS,
    UNCLEAN_LEADER_ELECTION_ENABLE,
    Errors,
)
from kafka_unclean_recovery.kraft_rules.events import (
    AlterBrokerConfig,
    AlterClusterConfig,
    AlterTopicConfig,
    Response,
)
from kafka_unclean_recovery.kraft_rules.records import (
    ClearElrRecord,
    ConfigRecord,
    PartitionChangeRecord,
    Record,
    TopicIdPartition,
)
from kafka_unclean_recovery.kraft_rules.recovery import Strategy, strategy_named
from kafka_unclean_recovery.kraft_rules.state import (
    DEFAULTS,
    UNCLEAN_RECOVERY_MANAGER_ENABLED,
    UNCLEAN_RECOVERY_STRATEGY,
    UNCLEAN_RECOVERY_TIMEOUT_MS,
    State,
    Topic,
    number,
)
from kafka_unclean_recovery.kraft_rules.topic_configs import (
    KIP_966_TOPIC_CONFIGS,
    TOPIC_CONFIGS,
)

_INT_MAX = 2**31 - 1
_MOST_DIGITS = 20


def valid_config(key: str, value: str) -> bool:
    """Return whether a topic may have this config."""
    return config_problem(key, value) is None


def config_problem(key: str, value: str) -> str | None:
    """Return what is wrong with a topic's config, in the words of Kafka's ConfigDef, or None. The
    values of configs that the controller does not act upon are not checked."""
    invalid = f"Invalid value {value} for configuration {key}"
    if key == MIN_INSYNC_REPLICAS:
        if not _is_int(value):
            return f"{invalid}: Not a number of type INT"
        return None if int(value) >= 1 else f"{invalid}: Value must be at least 1"
    if key == UNCLEAN_LEADER_ELECTION_ENABLE:
        boolean = value.lower() in ("true", "false")
        return None if boolean else f"{invalid}: Expected value to be either true or false"
    if key == UNCLEAN_RECOVERY_STRATEGY:
        strategies = ", ".join(strategy.value for strategy in Strategy)
        known = strategy_named(value) is not None
        return None if known else f"{invalid}: String must be one of: {strategies}"
    known = key in TOPIC_CONFIGS or key in KIP_966_TOPIC_CONFIGS
    return None if known else f"Unknown topic config name: {key}"


def valid_cluster_config(key: str, value: str) -> bool:
    """Return whether a config for all brokers passes the check that a broker makes before it
    forwards the config to the controller."""
    if key == UNCLEAN_RECOVERY_MANAGER_ENABLED:
        return value.lower() in ("true", "false")
    if key == UNCLEAN_RECOVERY_TIMEOUT_MS:
        return _is_int(value) and int(value) >= 0
    acted_upon = (MIN_INSYNC_REPLICAS, UNCLEAN_LEADER_ELECTION_ENABLE, UNCLEAN_RECOVERY_STRATEGY)
    return key not in acted_upon or valid_config(key, value)


def _is_int(value: str) -> bool:
    digits = value.removeprefix("-")
    # Python refuses to convert thousands of digits.
    fits = len(digits) <= _MOST_DIGITS
    return digits.isascii() and digits.isdigit() and fits and abs(int(value)) <= _INT_MAX


def clears_elr(state: State, key: str) -> bool:
    """Return whether a change of `key` clears every ELR that it may concern, as in 4.3."""
    release = state.release
    return key == MIN_INSYNC_REPLICAS and release.elr and release.min_isr_change_clears_elr


def alter_topic_config(state: State, event: AlterTopicConfig) -> tuple[list[Record], Response]:
    """Change a topic's config. A value that the topic already has is not written again."""
    if event.value is not None and not valid_config(event.key, event.value):
        return [], Response(Errors.INVALID_CONFIG)
    topic = state.topic(event.name)
    if topic is None:
        return [], Response(Errors.UNKNOWN_TOPIC_OR_PARTITION)
    if topic.configs.get(event.key) == event.value:
        return [], Response()
    records: list[Record] = [ConfigRecord(event.name, event.key, event.value)]
    if clears_elr(state, event.key):
        records.append(ClearElrRecord(event.name))
    elif event.key == MIN_INSYNC_REPLICAS and state.release.elr:
        default = DEFAULTS[MIN_INSYNC_REPLICAS]
        inherited = state.cluster_configs.get(MIN_INSYNC_REPLICAS, default)
        records += _elrs_not_needed(topic, number(event.value or inherited))
    return records, Response()


def alter_cluster_config(state: State, event: AlterClusterConfig) -> tuple[list[Record], Response]:
    """Change a config of all brokers. The record is written even when the value stays the same,
    because brokers then reload what they read by the value (KAFKA-14136)."""
    release = state.release
    removes_min_isr = event.key == MIN_INSYNC_REPLICAS and event.value is None
    if removes_min_isr and release.elr and release.cluster_min_isr_stays:
        return [], Response(Errors.INVALID_CONFIG)
    records: list[Record] = [ConfigRecord(None, event.key, event.value)]
    if clears_elr(state, event.key):
        records.append(ClearElrRecord(None))
    elif event.key == MIN_INSYNC_REPLICAS and release.elr:
        for topic in state.topics.values():
            if MIN_INSYNC_REPLICAS not in topic.configs:
                new = number(event.value or DEFAULTS[MIN_INSYNC_REPLICAS])
                records += _elrs_not_needed(topic, new)
    return records, Response()


def alter_broker_config(state: State, event: AlterBrokerConfig) -> tuple[list[Record], Response]:
    """Write a config of one broker. No controller acts upon it, because a controller goes by the
    configs of all brokers. With ELR, brokers can't differ in min.insync.replicas."""
    if event.key == MIN_INSYNC_REPLICAS and state.release.elr:
        return [], Response(Errors.INVALID_CONFIG)
    return [ConfigRecord(None, event.key, event.value, event.broker)], Response()


def _elrs_not_needed(topic: Topic, min_isr: int) -> list[Record]:
    """Remove the ELR of each partition whose ISR is at least the new min ISR (KIP-966, "When
    updating the config min.insync.replicas"), and its last known ELR, as always when the ISR
    reaches min ISR."""
    return [
        PartitionChangeRecord(TopicIdPartition(topic.topic_id, index), elr=(), last_known_elr=())
        for index, partition in topic.partitions.items()
        if (partition.elr or partition.last_known_elr) and min_isr <= len(partition.isr)
    ]
