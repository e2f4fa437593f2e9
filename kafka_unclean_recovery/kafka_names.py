"""Kafka's own names, as its source and its documents have them: configs, features, topics, error
codes, and the releases by their levels of metadata.version."""

from __future__ import annotations

from bisect import bisect_left
from enum import IntEnum

MIN_INSYNC_REPLICAS = "min.insync.replicas"
UNCLEAN_LEADER_ELECTION_ENABLE = "unclean.leader.election.enable"
REMOTE_STORAGE_ENABLE = "remote.storage.enable"
"""The config of a topic, which no broker sets for others."""

METADATA_VERSION = "metadata.version"
ELR_VERSION = "eligible.leader.replicas.version"
TRANSACTION_VERSION = "transaction.version"

CLUSTER_METADATA_TOPIC = "__cluster_metadata"
CONSUMER_OFFSETS = "__consumer_offsets"
TRANSACTION_STATE = "__transaction_state"
COMPACTED_TOPICS = (CONSUMER_OFFSETS, TRANSACTION_STATE, "__share_group_state")
"""Those of Kafka's own topics that are compacted."""
REMOTE_LOG_METADATA = "__remote_log_metadata"
INTERNAL_TOPICS = (*COMPACTED_TOPICS, REMOTE_LOG_METADATA)
"""Kafka's own topics, without which groups, transactions, share groups and remote storage stand
still."""

LAST_LEVEL_OF_3_9 = 21
# These are the last metadata.version of each release from 3.3 on, read from the jars of 4.4.0.
_LAST_LEVELS = (
    (7, "3.3"),
    (8, "3.4"),
    (11, "3.5"),
    (14, "3.6"),
    (19, "3.7"),
    (20, "3.8"),
    (LAST_LEVEL_OF_3_9, "3.9"),
    (25, "4.0"),
    (27, "4.1"),
    (29, "4.2"),
    (30, "4.3"),
    (33, "4.4"),
)


def release_of(metadata_version: int) -> str:
    """Return the release, as "4.3", "before 3.3", or "after 4.4", of a broker by the highest
    metadata.version that it supports.

    A broker does not say its release, only that level, which is the last production version of its
    release (org.apache.kafka.server.common.MetadataVersion). Patch releases can't be told apart.
    """
    levels = [level for level, _ in _LAST_LEVELS]
    if metadata_version < levels[0]:
        return f"before {_LAST_LEVELS[0][1]}"
    if metadata_version > levels[-1]:
        return f"after {_LAST_LEVELS[-1][1]}"
    return _LAST_LEVELS[bisect_left(levels, metadata_version)][1]


class Errors(IntEnum):
    """Kafka's error codes that are told apart here (org.apache.kafka.common.protocol.Errors)."""

    UNKNOWN_SERVER_ERROR = -1
    NONE = 0
    OFFSET_OUT_OF_RANGE = 1
    CORRUPT_MESSAGE = 2
    UNKNOWN_TOPIC_OR_PARTITION = 3
    LEADER_NOT_AVAILABLE = 5
    NOT_LEADER_OR_FOLLOWER = 6
    REQUEST_TIMED_OUT = 7
    REPLICA_NOT_AVAILABLE = 9
    MESSAGE_TOO_LARGE = 10
    COORDINATOR_NOT_AVAILABLE = 15
    NOT_COORDINATOR = 16
    INVALID_TOPIC_EXCEPTION = 17
    NOT_ENOUGH_REPLICAS = 19
    INVALID_REQUIRED_ACKS = 21
    ILLEGAL_GENERATION = 22
    INCONSISTENT_GROUP_PROTOCOL = 23
    INVALID_GROUP_ID = 24
    UNKNOWN_MEMBER_ID = 25
    REBALANCE_IN_PROGRESS = 27
    TOPIC_AUTHORIZATION_FAILED = 29
    GROUP_AUTHORIZATION_FAILED = 30
    CLUSTER_AUTHORIZATION_FAILED = 31
    UNSUPPORTED_SASL_MECHANISM = 33
    ILLEGAL_SASL_STATE = 34
    UNSUPPORTED_VERSION = 35
    TOPIC_ALREADY_EXISTS = 36
    INVALID_PARTITIONS = 37
    INVALID_REPLICATION_FACTOR = 38
    INVALID_REPLICA_ASSIGNMENT = 39
    INVALID_CONFIG = 40
    NOT_CONTROLLER = 41
    INVALID_REQUEST = 42
    POLICY_VIOLATION = 44
    OUT_OF_ORDER_SEQUENCE_NUMBER = 45
    INVALID_PRODUCER_EPOCH = 47
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53
    KAFKA_STORAGE_ERROR = 56
    SASL_AUTHENTICATION_FAILED = 58
    NON_EMPTY_GROUP = 68
    GROUP_ID_NOT_FOUND = 69
    LISTENER_NOT_FOUND = 72
    FENCED_LEADER_EPOCH = 74
    UNKNOWN_LEADER_EPOCH = 76
    STALE_BROKER_EPOCH = 77
    OFFSET_NOT_AVAILABLE = 78
    MEMBER_ID_REQUIRED = 79
    PREFERRED_LEADER_NOT_AVAILABLE = 80
    ELIGIBLE_LEADERS_NOT_AVAILABLE = 83
    ELECTION_NOT_NEEDED = 84
    NO_REASSIGNMENT_IN_PROGRESS = 85
    INVALID_RECORD = 87
    INVALID_UPDATE_VERSION = 95
    UNKNOWN_TOPIC_ID = 100
    DUPLICATE_BROKER_REGISTRATION = 101
    BROKER_ID_NOT_REGISTERED = 102
    TRANSACTIONAL_ID_NOT_FOUND = 105
    INELIGIBLE_REPLICA = 107
    NEW_LEADER_ELECTED = 108
    MISMATCHED_ENDPOINT_TYPE = 114
    INVALID_REGISTRATION = 119
    REBOOTSTRAP_REQUIRED = 129
    REQUEST_LIMIT_REACHED = 1966
