"""This module finds records by time, and reads only the batches that may hold them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kafka.record import MemoryRecords

from kafka_unclean_recovery.emulator.broker.broker import Broker
from kafka_unclean_recovery.emulator.broker.log import Batch
from kafka_unclean_recovery.emulator.broker.replica import Reading, Replica


@dataclass(frozen=True, slots=True)
class Found:
    """A record's offset, time in ms and leader epoch."""

    offset: int
    timestamp: int
    epoch: int


def first_since(broker: Broker, replica: Replica, timestamp: int, end: int) -> Found | None:
    """Return the first record below `end` that is not older than `timestamp`, or None."""
    for batch in _below(replica, end):
        if batch.max_timestamp >= timestamp:
            for found in _records(broker, replica, batch):
                if found.timestamp >= timestamp:
                    return found
    return None


def latest(broker: Broker, replica: Replica, end: int) -> Found | None:
    """Return the first record with the greatest time below `end`, or None if there is no record."""
    newest = max(_below(replica, end), key=lambda batch: batch.max_timestamp, default=None)
    if newest is None:
        return None
    return max(_records(broker, replica, newest), key=lambda found: found.timestamp)


def _below(replica: Replica, end: int) -> Iterable[Batch]:
    return (batch for batch in replica.log.batches if batch.last_offset < end)


def _records(broker: Broker, replica: Replica, batch: Batch) -> list[Found]:
    data = broker.records(replica, Reading(piece=(batch.position, batch.length)))
    decoded: Any = MemoryRecords(data).next_batch()  # type: ignore[no-untyped-call]
    return [Found(record.offset, record.timestamp, batch.leader_epoch) for record in decoded]
