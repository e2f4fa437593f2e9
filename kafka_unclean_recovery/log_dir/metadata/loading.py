"""Replay the metadata log as a controller does when it loads it, to know where it would die.

A controller ends its process at a record that contradicts what it has replayed before: its start
can't get past it, nor can that of another with the same log. It replays a record as soon as it is
read, so records within a transaction count too, whether the transaction ends, is aborted or stays
open (QuorumController, the control managers, OffsetControlManager; MetadataLoader and its deltas,
which a controller runs beside them; KRaftControlRecordStateMachine).

Only what decides whether a record can be replayed is kept. No I/O.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from kafka_unclean_recovery.log_dir.metadata import feature_levels
from kafka_unclean_recovery.log_dir.metadata import records as keys
from kafka_unclean_recovery.log_dir.metadata.feature_levels import FeatureLevels
from kafka_unclean_recovery.log_dir.metadata.records import (
    ControlRecord,
    MetadataRecord,
    UnknownRecord,
)

Fields = Mapping[str, Any]
Refusal = str | None
_ABSENT = object()
_NEXT_PRODUCER_ID = "next producer id"

_MIGRATING = uuid.UUID(int=0)
_NOT_REGISTERED = "no broker is registered with this id and epoch"
_NO_TOPIC = "no topic has this id"
_RECOVERY_STATES = (0, 1)
_FENCING_CHANGES, _SHUTDOWN_CHANGES = (-1, 0, 1), (0, 1)


@dataclass(frozen=True, slots=True)
class Fatal:
    """The record at which a controller dies. offset: of the record, or the end of the snapshot that
    holds it."""

    offset: int
    record: str
    why: str
    in_snapshot: bool = False

    def __str__(self) -> str:
        where = "in the checkpoint of offset" if self.in_snapshot else "at offset"
        return f"{self.record} {where} {self.offset}: {self.why}"


class _Partition(NamedTuple):
    """How many replicas it has, and in how many directories they are told to be; directories is
    None where the controller makes them up anew with each change."""

    replicas: int
    directories: int | None


@cache
def _shaped(replicas: int, directories: int | None) -> _Partition:
    """There may be a million of few shapes."""
    return _Partition(replicas, directories)


@dataclass(slots=True)
class Loading:
    """What a controller has replayed so far. `fatal` is the first record that ends it."""

    fatal: Fatal | None = None
    _brokers: dict[int, tuple[int, tuple[uuid.UUID, ...]]] = field(default_factory=dict)
    """The epoch and the log directories of each broker."""
    _directories: dict[uuid.UUID, int] = field(default_factory=dict)
    """The broker that each log directory belongs to."""
    _topics: dict[uuid.UUID, str] = field(default_factory=dict)
    _names: dict[str, uuid.UUID] = field(default_factory=dict)
    _partitions: dict[uuid.UUID, dict[int, _Partition]] = field(default_factory=dict)
    _acls: dict[uuid.UUID, None] = field(default_factory=dict)
    _scram: dict[tuple[str, int], None] = field(default_factory=dict)
    _numbers: dict[str, int] = field(default_factory=dict)
    _features: FeatureLevels = field(default_factory=FeatureLevels)
    _undo: list[tuple[dict[Any, Any], Any, Any]] | None = None
    """What the transaction has changed so far, as (where, key, value before); None outside of
    one."""

    def replay(
        self,
        record: MetadataRecord | ControlRecord | UnknownRecord,
        offset: int,
        *,
        in_snapshot: bool = False,
    ) -> None:
        """Replay one record. Nothing is replayed behind a fatal one."""
        if self.fatal is not None or isinstance(record, UnknownRecord):
            return
        if isinstance(record, ControlRecord):
            why = _control(record)
        elif record.api_key in _TRANSACTION:
            why = (
                "transactions don't belong into a checkpoint"
                if in_snapshot
                else _TRANSACTION[record.api_key](self)
            )
        else:
            apply = _REPLAY.get(record.api_key)
            why = None if apply is None else apply(self, record.fields)
            if record.api_key == keys.FEATURE_LEVEL:
                self._features.set(record.fields, offset, in_snapshot)
        if why is not None:
            self.fatal = Fatal(offset, record.name, why, in_snapshot)

    @property
    def first_fatal(self) -> Fatal | None:
        """Return the first record that ends a controller, once all is replayed: which levels of
        features it supports is told by those that registered, behind the levels."""
        found = [] if self.fatal is None else [self.fatal]
        if unsupported := self._features.unsupported():
            offset, in_snapshot, why = unsupported
            found.append(Fatal(offset, "FeatureLevelRecord", why, in_snapshot))
        return min(found, key=lambda each: (not each.in_snapshot, each.offset), default=None)

    def _put(self, where: dict[Any, Any], key: Any, value: Any) -> None:
        if self._undo is not None:
            self._undo.append((where, key, where.get(key, _ABSENT)))
        if value is _ABSENT:
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
            self._put(where, key, before)
        return None

    def register_broker(self, fields: Fields) -> Refusal:
        id_, directories = fields["broker_id"], tuple(fields.get("log_dirs", ()))
        self._features.supported(fields["features"])
        before = self._brokers.get(id_)
        why = self._move(id_, () if before is None else before[1], directories)
        self._put(self._brokers, id_, (fields["broker_epoch"], directories))
        return why

    def unregister_broker(self, fields: Fields) -> Refusal:
        id_ = fields["broker_id"]
        known = self._brokers.get(id_)
        if known is None or known[0] != fields["broker_epoch"]:
            return _NOT_REGISTERED
        self._put(self._brokers, id_, _ABSENT)
        return self._move(id_, known[1], ())

    def change_broker(self, id_: int, epoch: int, directories: tuple[uuid.UUID, ...]) -> Refusal:
        known = self._brokers.get(id_)
        if known is None or known[0] != epoch:
            return _NOT_REGISTERED
        after = directories or known[1]
        self._put(self._brokers, id_, (epoch, after))
        return self._move(id_, known[1], after)

    def change_registration(self, fields: Fields) -> Refusal:
        if fields["fenced"] not in _FENCING_CHANGES:
            return f"fenced is {fields['fenced']}"
        if fields.get("in_controlled_shutdown", 0) not in _SHUTDOWN_CHANGES:
            return f"in_controlled_shutdown is {fields['in_controlled_shutdown']}"
        return self.change_broker(
            fields["broker_id"], fields["broker_epoch"], tuple(fields.get("log_dirs", ()))
        )

    def _move(
        self, broker: int, before: tuple[uuid.UUID, ...], after: tuple[uuid.UUID, ...]
    ) -> Refusal:
        for directory in before:
            if self._directories.get(directory) != broker:
                return f"log directory {directory} does not belong to broker {broker}"
            self._put(self._directories, directory, _ABSENT)
        for directory in after:
            owner = self._directories.get(directory, broker)
            if owner != broker:
                return f"log directory {directory} belongs to broker {owner}"
            self._put(self._directories, directory, broker)
        return None

    def add_topic(self, fields: Fields) -> Refusal:
        name, id_ = fields["name"], fields["topic_id"]
        if name in self._names:
            return f"topic {name} is there, with id {self._names[name]}"
        self._put(self._names, name, id_)
        self._put(self._topics, id_, name)
        self._put(self._partitions, id_, {})
        return None

    def remove_topic(self, fields: Fields) -> Refusal:
        id_ = fields["topic_id"]
        name = self._topics.get(id_)
        if name is None:
            return f"{_NO_TOPIC}: {id_}"
        self._put(self._topics, id_, _ABSENT)
        self._put(self._names, name, _ABSENT)
        self._put(self._partitions, id_, _ABSENT)
        return None

    def add_partition(self, fields: Fields) -> Refusal:
        id_, number = fields["topic_id"], fields["partition_id"]
        if id_ not in self._topics:
            return f"{_NO_TOPIC}: {id_}"
        if fields["leader_recovery_state"] not in _RECOVERY_STATES:
            return f"leader_recovery_state is {fields['leader_recovery_state']}"
        replicas = len(fields["replicas"])
        directories = _told(fields.get("directories"))
        if directories not in (None, replicas):
            return f"{replicas} replicas are in {directories} directories"
        self._put(self._partitions[id_], number, _shaped(replicas, directories))
        return None

    def change_partition(self, fields: Fields) -> Refusal:
        id_, number = fields["topic_id"], fields["partition_id"]
        if id_ not in self._topics:
            return f"{_NO_TOPIC}: {id_}"
        known = self._partitions[id_].get(number)
        if known is None:
            return f"topic {self._topics[id_]} has no partition {number}"
        if fields["leader_recovery_state"] not in (keys.NO_RECOVERY_CHANGE, *_RECOVERY_STATES):
            return f"leader_recovery_state is {fields['leader_recovery_state']}"
        replicas, directories = fields["replicas"], fields.get("directories")
        if replicas is None and directories is None:
            return None
        count = known.replicas if replicas is None else len(replicas)
        told = known.directories if directories is None else _told(directories)
        if told not in (None, count):
            return f"{count} replicas are in {told} directories"
        self._put(self._partitions[id_], number, _shaped(count, told))
        return None

    def clear_elr(self, fields: Fields) -> Refusal:
        name = fields["topic_name"]
        return f"no topic is named {name}" if name and name not in self._names else None

    def hand_out_producer_ids(self, fields: Fields) -> Refusal:
        following = fields["next_producer_id"]
        before = self._numbers.get(_NEXT_PRODUCER_ID)
        if before is not None and following <= before:
            return f"producer ids go back from {before} to {following}"
        self._put(self._numbers, _NEXT_PRODUCER_ID, following)
        return None

    def add_acl(self, fields: Fields) -> Refusal:
        self._put(self._acls, fields["id"], None)
        return None

    def remove_acl(self, fields: Fields) -> Refusal:
        if fields["id"] not in self._acls:
            return f"no ACL has id {fields['id']}"
        self._put(self._acls, fields["id"], _ABSENT)
        return None

    def set_scram(self, fields: Fields) -> Refusal:
        self._put(self._scram, (fields["name"], fields["mechanism"]), None)
        return None

    def remove_scram(self, fields: Fields) -> Refusal:
        credential = fields["name"], fields["mechanism"]
        if credential not in self._scram:
            return f"user {fields['name']} has no credential of mechanism {fields['mechanism']}"
        self._put(self._scram, credential, _ABSENT)
        return None

    def register_controller(self, fields: Fields) -> Refusal:
        self._features.supported(fields["features"])
        return None


def _told(directories: tuple[uuid.UUID, ...] | None) -> int | None:
    """Return how many directories are told; None where the controller takes them for none."""
    if not directories or all(each == _MIGRATING for each in directories):
        return None
    return len(directories)


def _token(_: Loading, fields: Fields) -> Refusal:
    for principal in (fields["owner"], fields["requester"], *fields["renewers"]):
        if ":" not in principal and principal:
            return f"{principal} is no principal, which is type:name"
    return None


def _control(record: ControlRecord) -> Refusal:
    if record.type == keys.LEADER_CHANGE and record.version != 0:
        return f"version {record.version}, where a controller reads version 0"
    if record.type == keys.KRAFT_VERSION and record.fields["k_raft_version"] not in (
        feature_levels.KRAFT_VERSIONS
    ):
        return f"kraft.version {record.fields['k_raft_version']} is not known"
    if record.type == keys.KRAFT_VOTERS:
        return _voters(record.fields["voters"])
    return None


def _voters(voters: tuple[Fields, ...]) -> Refusal:
    if not voters:
        return "it names no voter"
    for voter in voters:
        range_ = voter["k_raft_version_feature"]
        least, most = range_["min_supported_version"], range_["max_supported_version"]
        if not 0 <= least <= most:
            return f"voter {voter['voter_id']} supports kraft.version from {least} to {most}"
    return None


_TRANSACTION: Mapping[int, Callable[[Loading], Refusal]] = {
    keys.BEGIN_TRANSACTION: Loading.begin,
    keys.END_TRANSACTION: Loading.end,
    keys.ABORT_TRANSACTION: Loading.abort,
}
_REPLAY: Mapping[int, Callable[[Loading, Fields], Refusal]] = {
    keys.REGISTER_BROKER: Loading.register_broker,
    keys.UNREGISTER_BROKER: Loading.unregister_broker,
    keys.FENCE_BROKER: lambda at, f: at.change_broker(f["id"], f["epoch"], ()),
    keys.UNFENCE_BROKER: lambda at, f: at.change_broker(f["id"], f["epoch"], ()),
    keys.BROKER_REGISTRATION_CHANGE: Loading.change_registration,
    keys.TOPIC: Loading.add_topic,
    keys.REMOVE_TOPIC: Loading.remove_topic,
    keys.PARTITION: Loading.add_partition,
    keys.PARTITION_CHANGE: Loading.change_partition,
    keys.CLEAR_ELR: Loading.clear_elr,
    keys.PRODUCER_IDS: Loading.hand_out_producer_ids,
    keys.ACCESS_CONTROL_ENTRY: Loading.add_acl,
    keys.REMOVE_ACCESS_CONTROL_ENTRY: Loading.remove_acl,
    keys.SCRAM_CREDENTIAL: Loading.set_scram,
    keys.REMOVE_SCRAM_CREDENTIAL: Loading.remove_scram,
    keys.DELEGATION_TOKEN: _token,
    keys.REGISTER_CONTROLLER: Loading.register_controller,
}
