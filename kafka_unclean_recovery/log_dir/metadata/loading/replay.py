"""Replay the metadata log as a controller does when it loads it, to know where it would die.

A controller ends its process at a record that contradicts what it has replayed before: its start
can't get past it, nor can that of another with the same log. It replays a record as soon as it is
read, so records within a transaction count too, whether the transaction ends, is aborted or stays
open (QuorumController, the control managers, OffsetControlManager; MetadataLoader and its deltas,
which a controller runs beside them; KRaftControlRecordStateMachine).

Only what decides whether a record can be replayed is kept. No I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kafka_unclean_recovery.log_dir.metadata import records as keys
from kafka_unclean_recovery.log_dir.metadata.loading import brokers, topics, users
from kafka_unclean_recovery.log_dir.metadata.loading.control import control_refusal
from kafka_unclean_recovery.log_dir.metadata.loading.state import Fields, Refusal, State
from kafka_unclean_recovery.log_dir.metadata.records import (
    ControlRecord,
    MetadataRecord,
    UnknownRecord,
)


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


@dataclass(slots=True)
class Loading:
    """What a controller has replayed so far. `fatal` is the first record that ends it."""

    fatal: Fatal | None = None
    _state: State = field(default_factory=State)

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
            why = control_refusal(record)
        elif record.api_key in _TRANSACTION:
            why = (
                "transactions don't belong into a checkpoint"
                if in_snapshot
                else _TRANSACTION[record.api_key](self._state)
            )
        else:
            apply = _REPLAY.get(record.api_key)
            why = None if apply is None else apply(self._state, record.fields)
            if record.api_key == keys.FEATURE_LEVEL:
                self._state.features.set(record.fields, offset, in_snapshot)
        if why is not None:
            self.fatal = Fatal(offset, record.name, why, in_snapshot)

    @property
    def first_fatal(self) -> Fatal | None:
        """Return the first record that ends a controller, once all is replayed: which levels of
        features it supports is told by those that registered, behind the levels."""
        found = [] if self.fatal is None else [self.fatal]
        if unsupported := self._state.features.unsupported():
            offset, in_snapshot, why = unsupported
            found.append(Fatal(offset, "FeatureLevelRecord", why, in_snapshot))
        return min(found, key=lambda each: (not each.in_snapshot, each.offset), default=None)


_TRANSACTION: Mapping[int, Callable[[State], Refusal]] = {
    keys.BEGIN_TRANSACTION: State.begin,
    keys.END_TRANSACTION: State.end,
    keys.ABORT_TRANSACTION: State.abort,
}
_REPLAY: Mapping[int, Callable[[State, Fields], Refusal]] = {
    keys.REGISTER_BROKER: brokers.register_broker,
    keys.UNREGISTER_BROKER: brokers.unregister_broker,
    keys.FENCE_BROKER: lambda at, f: brokers.change_broker(at, f["id"], f["epoch"], ()),
    keys.UNFENCE_BROKER: lambda at, f: brokers.change_broker(at, f["id"], f["epoch"], ()),
    keys.BROKER_REGISTRATION_CHANGE: brokers.change_registration,
    keys.TOPIC: topics.add_topic,
    keys.REMOVE_TOPIC: topics.remove_topic,
    keys.PARTITION: topics.add_partition,
    keys.PARTITION_CHANGE: topics.change_partition,
    keys.CLEAR_ELR: topics.clear_elr,
    keys.PRODUCER_IDS: users.hand_out_producer_ids,
    keys.ACCESS_CONTROL_ENTRY: users.add_acl,
    keys.REMOVE_ACCESS_CONTROL_ENTRY: users.remove_acl,
    keys.SCRAM_CREDENTIAL: users.set_scram,
    keys.REMOVE_SCRAM_CREDENTIAL: users.remove_scram,
    keys.DELEGATION_TOKEN: users.add_token,
    keys.REGISTER_CONTROLLER: brokers.register_controller,
    keys.UNREGISTER_CONTROLLER: brokers.unregister_controller,
}
