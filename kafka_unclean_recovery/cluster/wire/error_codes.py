"""Kafka's error codes by name (org.apache.kafka.common.protocol.Errors), and groups of them that
mean the same to a caller."""

from __future__ import annotations

from kafka_unclean_recovery.kafka_names import Errors

UNAUTHORIZED = frozenset({Errors.TOPIC_AUTHORIZATION_FAILED, Errors.CLUSTER_AUTHORIZATION_FAILED})
"""These codes say that the caller lacks a right."""

PASSING = frozenset(
    {
        Errors.UNKNOWN_TOPIC_OR_PARTITION,
        Errors.NOT_LEADER_OR_FOLLOWER,
        Errors.REPLICA_NOT_AVAILABLE,
        Errors.UNKNOWN_TOPIC_ID,
    }
)
"""A broker that has just started, or whose metadata lags, answers with these codes for a while."""

UNSURE = frozenset({Errors.REQUEST_TIMED_OUT, Errors.NOT_CONTROLLER})
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
