"""A heartbeat moves its broker between the states of BrokerControlState and gets an answer about
them (BrokerHeartbeatManager; KIP-631, KIP-841)."""

from __future__ import annotations

from enum import Enum

from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.kraft_rules.events import Heartbeat, HeartbeatResponse
from kafka_unclean_recovery.kraft_rules.log_dirs import directories_offline
from kafka_unclean_recovery.kraft_rules.records import (
    IN_MEMORY,
    BrokerContact,
    BrokerTouch,
    ControlledShutdownOffset,
    Record,
)
from kafka_unclean_recovery.kraft_rules.registrations import (
    begin_controlled_shutdown,
    fence,
    unfence,
)
from kafka_unclean_recovery.kraft_rules.state import HeartbeatState, State


class BrokerControlState(Enum):
    FENCED = "fenced"
    UNFENCED = "unfenced"
    CONTROLLED_SHUTDOWN = "controlled shutdown"
    SHUTDOWN_NOW = "shutdown now"


_FENCED = (BrokerControlState.FENCED, BrokerControlState.SHUTDOWN_NOW)


def heartbeat(state: State, event: Heartbeat) -> tuple[list[Record], HeartbeatResponse]:
    registration = state.brokers.get(event.broker)
    if registration is None or registration.epoch != event.broker_epoch:
        return [], HeartbeatResponse(Errors.STALE_BROKER_EPOCH)
    caught_up = event.current_metadata_offset >= registration.registered_at
    old = _control_state(state.heartbeats[event.broker])
    new = _next(state, event, old, caught_up)
    touch = BrokerTouch(event.broker, new in _FENCED, event.current_metadata_offset)
    records = [
        *_contact(state, event),
        *_touch(state, touch),
        *(_transition(state, event.broker, new) if new is not old else []),
        *directories_offline(state, event),
    ]
    if new is BrokerControlState.CONTROLLED_SHUTDOWN:
        records += _shutdown_offset(state, event.broker, records)
    shut_down = new is BrokerControlState.SHUTDOWN_NOW
    return records, HeartbeatResponse(
        is_caught_up=caught_up, is_fenced=new in _FENCED, should_shut_down=shut_down
    )


def _control_state(broker: HeartbeatState) -> BrokerControlState:
    if broker.shutting_down:
        return BrokerControlState.CONTROLLED_SHUTDOWN
    return BrokerControlState.FENCED if broker.fenced else BrokerControlState.UNFENCED


def _next(
    state: State, event: Heartbeat, old: BrokerControlState, caught_up: bool
) -> BrokerControlState:
    if old is BrokerControlState.FENCED:
        if event.want_shut_down:
            return BrokerControlState.SHUTDOWN_NOW
        stays = event.want_fence or not caught_up
        return BrokerControlState.FENCED if stays else BrokerControlState.UNFENCED
    if old is BrokerControlState.UNFENCED:
        return _next_of_unfenced(state, event)
    # A broker in controlled shutdown leads nothing, because begin_controlled_shutdown has moved all
    # its leaders away.
    if _others_caught_up(state, event.broker):
        return BrokerControlState.SHUTDOWN_NOW
    return BrokerControlState.CONTROLLED_SHUTDOWN


def _next_of_unfenced(state: State, event: Heartbeat) -> BrokerControlState:
    if not event.want_shut_down:
        return BrokerControlState.FENCED if event.want_fence else BrokerControlState.UNFENCED
    if event.want_fence or not any(state.leaders.of(event.broker)):
        return BrokerControlState.SHUTDOWN_NOW
    return BrokerControlState.CONTROLLED_SHUTDOWN


def _others_caught_up(state: State, broker: int) -> bool:
    """Return whether every active broker has applied the records that moved the leaders away."""
    shutdown_offset = state.heartbeats[broker].controlled_shutdown_offset
    return all(
        shutdown_offset <= other.metadata_offset
        for other in state.heartbeats.values()
        if other.active
    )


def _transition(state: State, broker: int, new: BrokerControlState) -> list[Record]:
    if new is BrokerControlState.UNFENCED:
        return unfence(state, broker)
    if new is BrokerControlState.CONTROLLED_SHUTDOWN:
        return begin_controlled_shutdown(state, broker)
    return fence(state, broker)


def _contact(state: State, event: Heartbeat) -> list[Record]:
    if state.contacts.get(event.broker) == event.broker_epoch:
        return []
    return [BrokerContact(event.broker, event.broker_epoch)]


def _touch(state: State, touch: BrokerTouch) -> list[Record]:
    """Return no record when the controller already remembers just the same."""
    old = state.heartbeats[touch.broker]
    same = old.fenced == touch.fenced and old.metadata_offset == touch.metadata_offset
    return [] if same else [touch]


def _shutdown_offset(state: State, broker: int, records: list[Record]) -> list[Record]:
    """Return the offset that the other brokers must reach, if the shutdown begins now: that of the
    last record of this heartbeat."""
    if state.heartbeats[broker].shutting_down:
        return []
    written = sum(not isinstance(record, IN_MEMORY) for record in records)
    return [ControlledShutdownOffset(broker, state.end_offset + written - 1)]
