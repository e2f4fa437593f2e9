"""AclOperation codes that a cluster without an authorizer allows everyone (AclEntry)."""

from __future__ import annotations

_READ, _WRITE, _CREATE, _DELETE, _ALTER, _DESCRIBE = range(3, 9)
_CLUSTER_ACTION, _DESCRIBE_CONFIGS, _ALTER_CONFIGS, _IDEMPOTENT_WRITE = range(9, 13)

CLUSTER = frozenset(
    {
        _CREATE,
        _ALTER,
        _DESCRIBE,
        _CLUSTER_ACTION,
        _DESCRIBE_CONFIGS,
        _ALTER_CONFIGS,
        _IDEMPOTENT_WRITE,
    }
)
TOPIC = frozenset(
    {_READ, _WRITE, _CREATE, _DELETE, _ALTER, _DESCRIBE, _DESCRIBE_CONFIGS, _ALTER_CONFIGS}
)
UNKNOWN = -(2**31)


def bits(operations: frozenset[int]) -> int:
    return sum(1 << code for code in operations)
