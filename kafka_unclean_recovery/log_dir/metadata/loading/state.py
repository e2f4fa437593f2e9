"""What of a controller's state decides whether it can replay a record. No I/O."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from kafka_unclean_recovery.log_dir.metadata.loading.feature_levels import FeatureLevels

Fields = Mapping[str, Any]
Refusal = str | None
"""Why a controller can't replay a record; None where it can."""
Acl = tuple[Any, ...]
ABSENT = object()


class Partition(NamedTuple):
    """How many replicas it has, and in how many directories they are told to be; directories is
    None where the controller makes them up anew with each change."""

    replicas: int
    directories: int | None


@cache
def shaped(replicas: int, directories: int | None) -> Partition:
    """Return the one Partition of this shape: there may be a million partitions of few shapes."""
    return Partition(replicas, directories)


@dataclass(slots=True)
class State:
    """brokers: the epoch and the log directories of each. directories: the broker that each log
    directory belongs to. acls_there: what ACLs there are, whatever their ids."""

    brokers: dict[int, tuple[int, tuple[uuid.UUID, ...]]] = field(default_factory=dict)
    directories: dict[uuid.UUID, int] = field(default_factory=dict)
    controllers: dict[int, None] = field(default_factory=dict)
    topics: dict[uuid.UUID, str] = field(default_factory=dict)
    names: dict[str, uuid.UUID] = field(default_factory=dict)
    partitions: dict[uuid.UUID, dict[int, Partition]] = field(default_factory=dict)
    acls: dict[uuid.UUID, Acl] = field(default_factory=dict)
    acls_there: dict[Acl, None] = field(default_factory=dict)
    scram: dict[tuple[str, int], None] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    features: FeatureLevels = field(default_factory=FeatureLevels)
    _undo: list[tuple[dict[Any, Any], Any, Any]] | None = None
    """What the transaction has changed so far, as (where, key, value before); None outside of
    one."""

    def put(self, where: dict[Any, Any], key: Any, value: Any) -> None:
        """Set a value, or take it away with ABSENT; a transaction that is aborted takes it back."""
        if self._undo is not None:
            self._undo.append((where, key, where.get(key, ABSENT)))
        if value is ABSENT:
            where.pop(key, None)
        else:
            where[key] = value

    def begin(self) -> Refusal:
        if self._undo is not None:
            return "a transaction is open already"
        self._undo = []
        return None

    def end(self) -> Refusal:
        if self._undo is None:
            return "no transaction is open"
        self._undo = None
        return None

    def abort(self) -> Refusal:
        if self._undo is None:
            return "no transaction is open"
        changed, self._undo = self._undo, None
        for where, key, before in reversed(changed):
            self.put(where, key, before)
        return None
