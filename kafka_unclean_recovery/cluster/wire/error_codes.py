"""Kafka's error codes by name (org.apache.kafka.common.protocol.Errors), and groups of them that
mean the same to a caller."""

from __future__ import annotations

UNKNOWN_SERVER_ERROR = -1
NONE = 0
OFFSET_OUT_OF_RANGE = 1
UNKNOWN_TOPIC_OR_PARTITION = 3
LEADER_NOT_AVAILABLE = 5
NOT_LEADER_OR_FOLLOWER = 6
REQUEST_TIMED_OUT = 7
REPLICA_NOT_AVAILABLE = 9
NOT_COORDINATOR = 16
TOPIC_AUTHORIZATION_FAILED = 29
GROUP_AUTHORIZATION_FAILED = 30
CLUSTER_AUTHORIZATION_FAILED = 31
INVALID_REPLICA_ASSIGNMENT = 39
NOT_CONTROLLER = 41
INVALID_REQUEST = 42
POLICY_VIOLATION = 44
LISTENER_NOT_FOUND = 72
FENCED_LEADER_EPOCH = 74
ELECTION_NOT_NEEDED = 84
UNKNOWN_TOPIC_ID = 100
REBOOTSTRAP_REQUIRED = 129

UNAUTHORIZED = frozenset({TOPIC_AUTHORIZATION_FAILED, CLUSTER_AUTHORIZATION_FAILED})
"""These codes say that the caller lacks a right."""

PASSING = frozenset(
    {
        UNKNOWN_TOPIC_OR_PARTITION,
        NOT_LEADER_OR_FOLLOWER,
        REPLICA_NOT_AVAILABLE,
        UNKNOWN_TOPIC_ID,
    }
)
"""A broker that has just started, or whose metadata lags, answers with these codes for a while."""

UNSURE = frozenset({REQUEST_TIMED_OUT, NOT_CONTROLLER})
"""After these codes the request may still be carried out: the controller had it, or a broker keeps
it for later."""


def error_name(code: int) -> str:
    """Return Kafka's name of a code, e.g. `KAFKA_STORAGE_ERROR`."""
    return _name(code) if is_assigned(code) else f"error {code}"


def is_assigned(code: int) -> bool:
    """Return False for a number that is no error of Kafka's, as far as kafka-python knows."""
    return code == -1 or _name(code) != "UNKNOWN"


def _name(code: int) -> str:
    # Most runs name no error, and should not wait for the names.
    try:
        from kafka.errors import for_code
    except (ImportError, OSError):
        # No file descriptor is left, say: a number tells enough.
        return "UNKNOWN"
    name: str = getattr(for_code(code), "message", "UNKNOWN")  # type: ignore[no-untyped-call]
    return name
