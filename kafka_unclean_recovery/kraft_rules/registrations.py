"""This module registers, unregisters, fences and unfences brokers, and ends their sessions
(ClusterControlManager; KIP-631, KIP-966 "Detection of an unclean shutdown")."""

from __future__ import annotations

from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.kraft_rules.events import (
    NO_PREVIOUS_REGISTRATION,
    RegisterBroker,
    RegisterBrokerResponse,
    Response,
    SessionExpired,
    UnregisterBroker,
)
from kafka_unclean_recovery.kraft_rules.partition_updates import (
    broker_arrives,
    broker_leaves,
    broker_lost_data,
    leaderless,
)
from kafka_unclean_recovery.kraft_rules.records import (
    BrokerContact,
    BrokerRegistrationChangeRecord,
    Record,
    RegisterBrokerRecord,
    UnregisterBrokerRecord,
)
from kafka_unclean_recovery.kraft_rules.state import (
    RESERVED_DIRECTORIES,
    State,
)


def register(state: State, event: RegisterBroker) -> tuple[list[Record], RegisterBrokerResponse]:
    """Register a broker. A new incarnation begins fenced, in a new epoch; the same incarnation only
    amends its entry."""
    existing = state.brokers.get(event.broker)
    same = existing is not None and existing.incarnation_id == event.incarnation_id
    if not same and _has_session(state, event.broker):
        return [], RegisterBrokerResponse(Errors.DUPLICATE_BROKER_REGISTRATION)
    if not _directories_valid(state, event):
        return [], RegisterBrokerResponse(Errors.INVALID_REGISTRATION)
    if existing is not None and same:
        amended = RegisterBrokerRecord(
            event.broker,
            event.incarnation_id,
            existing.epoch,
            event.log_dirs,
            existing.fenced,
            existing.in_controlled_shutdown,
        )
        return [amended], RegisterBrokerResponse(broker_epoch=existing.epoch)
    # The registration comes last, so that a controller which dies half-way makes the broker
    # register again.
    epoch = state.end_offset
    new = RegisterBrokerRecord(event.broker, event.incarnation_id, epoch, event.log_dirs)
    return [*_former_incarnation_ends(state, event), new], RegisterBrokerResponse(
        broker_epoch=epoch
    )


def _former_incarnation_ends(state: State, event: RegisterBroker) -> list[Record]:
    """End the former incarnation's leaderships and ISR memberships. A shutdown was clean if the
    broker still knows its epoch."""
    broker, release = event.broker, state.release
    if not release.new_incarnation_is_fenced:
        return []
    existing = state.brokers.get(broker)
    epoch = NO_PREVIOUS_REGISTRATION if existing is None else existing.epoch
    if not release.elr or event.previous_broker_epoch == epoch:
        return broker_leaves(state, broker, state.isrs.of(broker))
    return [
        *broker_lost_data(state, broker, state.isrs.of(broker)),
        *broker_lost_data(state, broker, state.elrs.of(broker)),
    ]


def _has_session(state: State, broker: int) -> bool:
    existing = state.brokers.get(broker)
    if existing is None:
        return False
    if not state.release.session_outlives_fencing:
        return not state.heartbeats[broker].fenced
    return state.contacts.get(broker) == existing.epoch


def _directories_valid(state: State, event: RegisterBroker) -> bool:
    log_dirs = event.log_dirs
    taken = {
        log_dir
        for broker, registration in state.brokers.items()
        if broker != event.broker
        for log_dir in registration.log_dirs
    }
    return (
        bool(log_dirs)
        and len(set(log_dirs)) == len(log_dirs)
        and all(log_dir.int >= RESERVED_DIRECTORIES for log_dir in log_dirs)
        and taken.isdisjoint(log_dirs)
    )


def unregister(state: State, event: UnregisterBroker) -> tuple[list[Record], Response]:
    """Unregister a broker, with the same changes as fencing it. The partitions with the broker in
    the ELR are updated too, and keep it there."""
    existing = state.brokers.get(event.broker)
    if existing is None:
        return [], Response(Errors.BROKER_ID_NOT_REGISTERED)
    records = [
        *broker_leaves(state, event.broker, state.isrs.of(event.broker)),
        *broker_leaves(state, event.broker, state.elrs.of(event.broker)),
        UnregisterBrokerRecord(event.broker, existing.epoch),
    ]
    return records, Response()


def expire_session(state: State, event: SessionExpired) -> tuple[list[Record], Response]:
    if not _has_session(state, event.broker):
        return [], Response()
    return [BrokerContact(event.broker, None), *fence(state, event.broker)], Response()


def fence(state: State, broker: int) -> list[Record]:
    """Fence a broker: it leaves the ISRs (KIP-966, "The replica gets fenced")."""
    epoch = state.brokers[broker].epoch
    return [
        *broker_leaves(state, broker, state.isrs.of(broker)),
        BrokerRegistrationChangeRecord(broker, epoch, fenced=True),
    ]


def unfence(state: State, broker: int) -> list[Record]:
    """Unfence a broker: it may lead partitions without a leader (KIP-966, "The replica gets
    unfenced")."""
    epoch = state.brokers[broker].epoch
    return [
        BrokerRegistrationChangeRecord(broker, epoch, fenced=False),
        *broker_arrives(state, broker, leaderless(state)),
    ]


def begin_controlled_shutdown(state: State, broker: int) -> list[Record]:
    """Take the broker out of the ISRs while it still answers."""
    registration = state.brokers[broker]
    records: list[Record] = []
    if not registration.in_controlled_shutdown:
        records.append(
            BrokerRegistrationChangeRecord(broker, registration.epoch, in_controlled_shutdown=True)
        )
    return records + broker_leaves(state, broker, state.isrs.of(broker))
