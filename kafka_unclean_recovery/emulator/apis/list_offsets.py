"""ListOffsets (2) finds offsets of a replica by time or by name (KIP-79, KIP-320, KIP-734).

The leader answers a consumer, up to the high watermark; any replica answers the debugging replica
(-2), up to its log end. Of records by time only the batches are read that may hold them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kafka.protocol.consumer.offsets import ListOffsetsRequest
from kafka.record import MemoryRecords

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.broker.broker import Broker
from kafka_unclean_recovery.emulator.broker.log import Batch
from kafka_unclean_recovery.emulator.broker.replica import Reading, Replica, epoch_error
from kafka_unclean_recovery.kafka_names import Errors

_DEBUGGING_REPLICA = -2
_LATEST, _EARLIEST, _MAX_TIMESTAMP, _EARLIEST_LOCAL, _LATEST_TIERED = -1, -2, -3, -4, -5
_EARLIEST_PENDING_UPLOAD = -6
# These are the versions of KafkaApis.timestampMinSupportedVersion.
_SINCE_VERSION = {
    _LATEST: 1,
    _EARLIEST: 1,
    _MAX_TIMESTAMP: 7,
    _EARLIEST_LOCAL: 8,
    _LATEST_TIERED: 9,
    _EARLIEST_PENDING_UPLOAD: 11,
}


_NEVER = 1 << 15


async def answer(context: Context, request: Any) -> Fields:
    topics = [
        {
            "name": topic.name,
            "partitions": [
                {"partition_index": wanted.partition_index}
                | _partition(context, request, topic.name, wanted)
                for wanted in topic.partitions
            ],
        }
        for topic in request.topics
    ]
    return {"topics": topics}


def _partition(context: Context, request: Any, name: str, wanted: Any) -> Fields:
    if wanted.timestamp < 0 and request.version < _SINCE_VERSION.get(wanted.timestamp, _NEVER):
        return {"error_code": Errors.UNSUPPORTED_VERSION}
    topic = context.topic(name, None)
    replica = None if topic is None else context.replica(topic, wanted.partition_index)
    if topic is None:
        return {"error_code": Errors.UNKNOWN_TOPIC_OR_PARTITION}
    if replica is None:
        unknown = Errors.UNKNOWN_TOPIC_OR_PARTITION
        return {"error_code": context.no_replica(topic, wanted.partition_index, unknown)}
    epoch = wanted.current_leader_epoch if request.version >= 4 else -1
    if error := epoch_error(replica, epoch):
        return {"error_code": error}
    if request.replica_id == _DEBUGGING_REPLICA:
        return _offset(context, replica, wanted.timestamp, replica.log.end_offset)
    if replica.epoch_start is None:
        return {"error_code": Errors.NOT_LEADER_OR_FOLLOWER}
    if wanted.timestamp == _LATEST and replica.epoch_start > replica.high_watermark:
        # A new leader does not know yet what is committed.
        known = request.version >= 5
        return {"error_code": Errors.OFFSET_NOT_AVAILABLE if known else Errors.LEADER_NOT_AVAILABLE}
    return _offset(context, replica, wanted.timestamp, replica.high_watermark)


def _offset(context: Context, replica: Replica, timestamp: int, end: int) -> Fields:
    """Return the offset of a time or name. LATEST comes with the leader epoch that the broker
    knows, whatever epoch the last record has."""
    if timestamp == _LATEST:
        return {"offset": end, "leader_epoch": replica.leader_epoch}
    if timestamp in (_EARLIEST, _EARLIEST_LOCAL):
        epochs = replica.log.epochs
        return {"offset": 0, "leader_epoch": epochs[0][0] if epochs else -1}
    if timestamp in (_LATEST_TIERED, _EARLIEST_PENDING_UPLOAD):
        # Nothing is ever uploaded to remote storage.
        return {"offset": -1}
    if timestamp == _MAX_TIMESTAMP:
        found = latest(context.broker, replica, end)
    else:
        found = first_since(context.broker, replica, timestamp, end)
    if found is None:
        return {"offset": -1, "timestamp": -1}
    return {"offset": found.offset, "timestamp": found.timestamp, "leader_epoch": found.epoch}


API = Api(ListOffsetsRequest, 1, 11, answer)


@dataclass(frozen=True, slots=True)
class FoundRecord:
    """A record's offset, time in ms and leader epoch."""

    offset: int
    timestamp: int
    epoch: int


def first_since(broker: Broker, replica: Replica, timestamp: int, end: int) -> FoundRecord | None:
    """Return the first record below `end` that is not older than `timestamp`, or None."""
    for batch in _below(replica, end):
        if batch.max_timestamp >= timestamp:
            for found in _records(broker, replica, batch):
                if found.timestamp >= timestamp:
                    return found
    return None


def latest(broker: Broker, replica: Replica, end: int) -> FoundRecord | None:
    """Return the first record with the greatest time below `end`, or None if there is no record."""
    newest = max(_below(replica, end), key=lambda batch: batch.max_timestamp, default=None)
    if newest is None:
        return None
    return max(_records(broker, replica, newest), key=lambda found: found.timestamp)


def _below(replica: Replica, end: int) -> Iterable[Batch]:
    return (batch for batch in replica.log.batches if batch.last_offset < end)


def _records(broker: Broker, replica: Replica, batch: Batch) -> list[FoundRecord]:
    data = broker.records(replica, Reading(piece=(batch.position, batch.length)))
    decoded: Any = MemoryRecords(data).next_batch()  # type: ignore[no-untyped-call]
    return [FoundRecord(record.offset, record.timestamp, batch.leader_epoch) for record in decoded]
