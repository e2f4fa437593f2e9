"""Events whose epochs count from the present, so that they mean the same after other events.

A generated event says 0 for the epoch of now, -1 for one before it. What a shrunk sequence leaves
out changes epochs; such an event stays what it was, a valid one or one that is late by one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from kafka_unclean_recovery.kraft_rules import events as ev

NOW = 0
UNCHECKED = -(1 << 20)
"""The broker epoch of an ISR member that its leader does not know; -1 in the request."""
OWN = -(1 << 21)
"""The previous broker epoch of a broker that is still registered with it; -1 if it is not."""
CAUGHT_UP, AT_REGISTRATION, BEHIND_REGISTRATION = 0, 1, 2
"""How far a heartbeat's broker has read the metadata: all, its own registration, less."""

NOBODY = -1


class Present(Protocol):
    """What epochs are counted from; None for what does not exist."""

    @property
    def last_offset(self) -> int: ...
    def broker_epoch(self, broker: int) -> int | None: ...
    def partition_epochs(self, topic: str, partition: int) -> tuple[int, int] | None: ...


def absolute(event: ev.Event, now: Present) -> ev.Event:
    """Return the event with the epochs and offsets of now."""
    if isinstance(event, ev.RegisterBroker) and event.previous_broker_epoch == OWN:
        return replace(event, previous_broker_epoch=_registered_epoch(event.broker, now))
    if isinstance(event, ev.Heartbeat):
        return _heartbeat(event, now)
    if isinstance(event, ev.AlterPartition):
        return _alter_partition(event, now)
    if isinstance(event, ev.AlterPartitions):
        return replace(event, changes=tuple(_alter_partition(e, now) for e in event.changes))
    if isinstance(event, ev.AssignReplicaToDir):
        return replace(event, broker_epoch=_epoch(event.broker, event.broker_epoch, now))
    return event


def _registered_epoch(broker: int, now: Present) -> int:
    found = now.broker_epoch(broker)
    return NOBODY if found is None else found


def _heartbeat(event: ev.Heartbeat, now: Present) -> ev.Heartbeat:
    registered = now.broker_epoch(event.broker) or 0
    offsets = {
        CAUGHT_UP: now.last_offset,
        AT_REGISTRATION: registered,
        BEHIND_REGISTRATION: registered - 1,
    }
    return replace(
        event,
        broker_epoch=_epoch(event.broker, event.broker_epoch, now),
        current_metadata_offset=offsets[event.current_metadata_offset],
    )


def _alter_partition(event: ev.AlterPartition, now: Present) -> ev.AlterPartition:
    leader_epoch, partition_epoch = now.partition_epochs(event.topic, event.partition) or (0, 0)
    return replace(
        event,
        broker_epoch=_epoch(event.broker, event.broker_epoch, now),
        leader_epoch=leader_epoch + event.leader_epoch,
        partition_epoch=partition_epoch + event.partition_epoch,
        new_isr=tuple((broker, _epoch(broker, epoch, now)) for broker, epoch in event.new_isr),
    )


def _epoch(broker: int, relative: int, now: Present) -> int:
    if relative == UNCHECKED:
        return NOBODY
    return (now.broker_epoch(broker) or 0) + relative
