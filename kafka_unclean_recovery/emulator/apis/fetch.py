"""Fetch (1) reads records of a replica, and tells where its log parts from the asker's (KIP-320,
KIP-595).

A consumer (-1) and the debugging replica (-2) read up to the high watermark, the future local
replica (-3) up to the log end. From version 11 on a consumer also reads from followers (KIP-392).
Every fetch is a full one: no session is ever given out.
"""

from __future__ import annotations

import time
from typing import Any

from kafka.protocol.consumer.fetch import FetchRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.broker.log import NO_EPOCH
from kafka_unclean_recovery.emulator.broker.replica import Replica, epoch_error, read
from kafka_unclean_recovery.kafka_names import Errors

_FUTURE_LOCAL_REPLICA = -3
_CONSUMER = -1
# This is the default of fetch.max.bytes.
_MOST_BYTES = 55 << 20


async def answer(context: Context, request: Any) -> Fields:
    """Answer when there are `min_bytes`, an error or a divergence, or when the time is up."""
    deadline = time.monotonic() + request.max_wait_ms / 1000
    while True:
        topics = _read_all(context, request)
        partitions = [partition for topic in topics for partition in topic["partitions"]]
        read_bytes = sum(len(partition["records"]) for partition in partitions)
        remaining = deadline - time.monotonic()
        settled = any("error_code" in p or "diverging_epoch" in p for p in partitions)
        if settled or not partitions or read_bytes >= request.min_bytes or remaining <= 0:
            return {"responses": topics}
        await context.moved_for_client(remaining)


def _read_all(context: Context, request: Any) -> list[Fields]:
    left = min(request.max_bytes, _MOST_BYTES)
    topics = []
    for topic in request.topics:
        partitions = []
        for wanted in topic.partitions:
            found = {"partition_index": wanted.partition, "records": b""}
            found |= _partition(context, request, topic, wanted, left)
            left = max(0, left - len(found["records"]))
            partitions.append(found)
        named = {"topic_id": topic.topic_id} if request.version >= 13 else {"topic": topic.topic}
        topics.append({**named, "partitions": partitions})
    return topics


def _partition(context: Context, request: Any, topic: Any, wanted: Any, left: int) -> Fields:
    by_id = request.version >= 13
    known = context.topic(None if by_id else topic.topic, topic.topic_id if by_id else None)
    if known is None:
        return _error(Errors.UNKNOWN_TOPIC_ID if by_id else Errors.UNKNOWN_TOPIC_OR_PARTITION)
    if wanted.partition not in known.partitions:
        return _error(Errors.UNKNOWN_TOPIC_OR_PARTITION)
    replica = context.replica(known, wanted.partition)
    asker = _asker(request)
    if replica is None:
        return _error(context.no_replica(known, wanted.partition, Errors.NOT_LEADER_OR_FOLLOWER))
    if _needs_leader(asker, request.version) and not replica.leads:
        return _error(Errors.NOT_LEADER_OR_FOLLOWER)
    if error := epoch_error(replica, wanted.current_leader_epoch if request.version >= 9 else -1):
        return _error(error)
    return _read(context, replica, wanted, _readable_end(replica, asker), request.version, left)


def _asker(request: Any) -> int:
    """Return the asker's replica id, from version 15 on a tagged field that consumers omit."""
    if request.version < 15:
        return int(request.replica_id)
    return _CONSUMER if request.replica_state is None else int(request.replica_state.replica_id)


def _needs_leader(asker: int, version: int) -> bool:
    return asker >= 0 or (asker == _CONSUMER and version < 11)


def _readable_end(replica: Replica, asker: int) -> int:
    past_high_watermark = asker >= 0 or asker == _FUTURE_LOCAL_REPLICA
    return replica.log.end_offset if past_high_watermark else replica.high_watermark


def _error(code: int) -> Fields:
    """Return Kafka's header of a partition that is not read because of an error."""
    return {"error_code": code, "high_watermark": -1}


def _read(
    context: Context, replica: Replica, wanted: Any, end: int, version: int, left: int
) -> Fields:
    epoch = wanted.last_fetched_epoch if version >= 12 else NO_EPOCH
    size = min(wanted.partition_max_bytes, left)
    reading = read(replica, wanted.fetch_offset, epoch, end, size)
    if reading.error:
        return _error(reading.error)
    header: Fields = {
        "high_watermark": replica.high_watermark,
        "last_stable_offset": replica.high_watermark,
        "log_start_offset": 0,
    }
    if reading.diverging is not None:
        diverging = reading.diverging
        end_of = {"epoch": diverging.epoch, "end_offset": diverging.end_offset}
        return header | {"diverging_epoch": end_of}
    # Once the answer is full, the remaining partitions get no records, not one batch more.
    records = context.broker.records(replica, reading) if left > 0 else b""
    return header | {"records": records}


API = Api(FetchRequest, 4, 17, answer)
