"""Replay what registers brokers and controllers, and changes them (ClusterControlManager)."""

from __future__ import annotations

import uuid

from kafka_unclean_recovery.log_dir.metadata.loading.state import ABSENT, Fields, Refusal, State

_NOT_REGISTERED = "no broker is registered with this id and epoch"
_FENCING_CHANGES, _SHUTDOWN_CHANGES = (-1, 0, 1), (0, 1)


def register_broker(state: State, fields: Fields) -> Refusal:
    id_, directories = fields["broker_id"], tuple(fields.get("log_dirs", ()))
    state.features.supported(fields["features"])
    before = state.brokers.get(id_)
    why = _move(state, id_, () if before is None else before[1], directories)
    state.put(state.brokers, id_, (fields["broker_epoch"], directories))
    return why


def unregister_broker(state: State, fields: Fields) -> Refusal:
    id_ = fields["broker_id"]
    known = state.brokers.get(id_)
    if known is None or known[0] != fields["broker_epoch"]:
        return _NOT_REGISTERED
    state.put(state.brokers, id_, ABSENT)
    return _move(state, id_, known[1], ())


def change_broker(
    state: State, id_: int, epoch: int, directories: tuple[uuid.UUID, ...]
) -> Refusal:
    known = state.brokers.get(id_)
    if known is None or known[0] != epoch:
        return _NOT_REGISTERED
    after = directories or known[1]
    state.put(state.brokers, id_, (epoch, after))
    return _move(state, id_, known[1], after)


def change_registration(state: State, fields: Fields) -> Refusal:
    if fields["fenced"] not in _FENCING_CHANGES:
        return f"fenced is {fields['fenced']}"
    if fields.get("in_controlled_shutdown", 0) not in _SHUTDOWN_CHANGES:
        return f"in_controlled_shutdown is {fields['in_controlled_shutdown']}"
    return change_broker(
        state, fields["broker_id"], fields["broker_epoch"], tuple(fields.get("log_dirs", ()))
    )


def register_controller(state: State, fields: Fields) -> Refusal:
    state.features.supported(fields["features"])
    state.put(state.controllers, fields["controller_id"], None)
    return None


def unregister_controller(state: State, fields: Fields) -> Refusal:
    id_ = fields["controller_id"]
    if id_ not in state.controllers:
        return f"no controller is registered with id {id_}"
    state.put(state.controllers, id_, ABSENT)
    return None


def _move(
    state: State, broker: int, before: tuple[uuid.UUID, ...], after: tuple[uuid.UUID, ...]
) -> Refusal:
    for directory in before:
        if state.directories.get(directory) != broker:
            return f"log directory {directory} does not belong to broker {broker}"
        state.put(state.directories, directory, ABSENT)
    for directory in after:
        owner = state.directories.get(directory, broker)
        if owner != broker:
            return f"log directory {directory} belongs to broker {owner}"
        state.put(state.directories, directory, broker)
    return None
