"""Produce (0) writes record batches to leaders.

A batch that an idempotent producer sends twice is written once. There are no transactions.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from kafka.protocol.producer.produce import ProduceRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.broker.log import batches_in
from kafka_unclean_recovery.emulator.broker.producers import verdict
from kafka_unclean_recovery.emulator.broker.replica import Replica, below_min_isr
from kafka_unclean_recovery.emulator.broker.replica_fetchers import configured_min_isr
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.kraft_rules.records import TopicIdPartition
from kafka_unclean_recovery.kraft_rules.state import Topic
from kafka_unclean_recovery.kraft_rules.topic_configs import TOPIC_CONFIGS
from kafka_unclean_recovery.log_dir.errors import BadFormat

_ALL = -1
_MAX_MESSAGE_BYTES = "max.message.bytes"
_MOST_DIGITS = 10


@dataclass(frozen=True, slots=True)
class Written:
    """The outcome of an append: its first offset and end offset (exclusive), or an error. The epoch
    is that of the leader which appended."""

    key: TopicIdPartition | None
    error: int = Errors.NONE
    base_offset: int = -1
    end_offset: int = -1
    leader_epoch: int = -1


async def answer(context: Context, request: Any) -> Fields | None:
    topics = [
        (topic, [_write(context, request, topic, each) for each in topic.partition_data])
        for topic in request.topic_data
    ]
    if request.acks == 0:
        return None
    deadline = time.monotonic() + request.timeout_ms / 1000
    if request.acks == _ALL:
        await _until_committed(context, [w for _, written in topics for w in written], deadline)
    return {"responses": [_topic(context, request, topic, found) for topic, found in topics]}


def _write(context: Context, request: Any, topic: Any, data: Any) -> Written:
    by_id = request.version >= 13
    known = context.topic(None if by_id else topic.name, topic.topic_id if by_id else None)
    if known is None:
        return Written(
            None, Errors.UNKNOWN_TOPIC_ID if by_id else Errors.UNKNOWN_TOPIC_OR_PARTITION
        )
    if data.index not in known.partitions:
        return Written(None, Errors.UNKNOWN_TOPIC_OR_PARTITION)
    replica = context.replica(known, data.index)
    if error := _refusal(request):
        return Written(None, error)
    if replica is None:
        return Written(None, context.no_replica(known, data.index, Errors.NOT_LEADER_OR_FOLLOWER))
    if not replica.leads:
        return Written(None, Errors.NOT_LEADER_OR_FOLLOWER)
    if request.acks == _ALL and below_min_isr(
        replica, configured_min_isr(context.emulation.state, known)
    ):
        return Written(replica.key, Errors.NOT_ENOUGH_REPLICAS)
    if not data.records:
        return Written(replica.key, Errors.INVALID_RECORD)
    try:
        return _append(context, replica, bytes(data.records), _most_bytes(known))
    except BadFormat:
        return Written(replica.key, Errors.CORRUPT_MESSAGE)


def _most_bytes(topic: Topic) -> int:
    """Return the most bytes a batch may have. The config is not validated when it is set."""
    told = topic.configs.get(_MAX_MESSAGE_BYTES, "")
    fits = told.isascii() and told.isdigit() and len(told) <= _MOST_DIGITS
    return int(told if fits else TOPIC_CONFIGS[_MAX_MESSAGE_BYTES])


def _append(context: Context, replica: Replica, records: bytes, most_bytes: int) -> Written:
    """Append the batches unless they are refused or repeated. Raises BadFormat."""
    batches = batches_in(records)
    if any(batch.length > most_bytes for batch in batches):
        return Written(replica.key, Errors.MESSAGE_TOO_LARGE)
    found = verdict(replica.producers, replica.log, batches)
    if found.error:
        return Written(replica.key, found.error)
    if found.repeats is not None:
        base, end = found.repeats.base_offset, found.repeats.last_offset + 1
        return Written(replica.key, Errors.NONE, base, end, replica.leader_epoch)
    base = context.broker.append_as_leader(replica, records)
    written = Written(replica.key, Errors.NONE, base, replica.log.end_offset, replica.leader_epoch)
    context.emulation.replicate(replica.key)
    return written


def _refusal(request: Any) -> int:
    if request.acks not in (_ALL, 0, 1):
        return Errors.INVALID_REQUIRED_ACKS
    return Errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED if request.transactional_id else Errors.NONE


async def _until_committed(context: Context, written: list[Written], deadline: float) -> None:
    while any(_outcome(context, each) == Errors.REQUEST_TIMED_OUT for each in written):
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            return
        await context.moved_for_client(remaining)


def _outcome(context: Context, written: Written) -> int:
    """Return the error of a write that waits for every in-sync replica, which is REQUEST_TIMED_OUT
    while the write is open."""
    if written.error or written.key is None:
        return written.error
    replica = context.broker.replicas.get(written.key)
    if replica is None or not replica.leads or replica.leader_epoch != written.leader_epoch:
        return Errors.NOT_LEADER_OR_FOLLOWER
    return Errors.NONE if replica.high_watermark >= written.end_offset else Errors.REQUEST_TIMED_OUT


def _topic(context: Context, request: Any, topic: Any, written: list[Written]) -> Fields:
    named = {"topic_id": topic.topic_id} if request.version >= 13 else {"name": topic.name}
    partitions = []
    for data, each in zip(topic.partition_data, written, strict=True):
        error = _outcome(context, each) if request.acks == _ALL else each.error
        base = -1 if error else each.base_offset
        start = -1 if error else 0
        partitions.append(
            {
                "index": data.index,
                "error_code": error,
                "base_offset": base,
                "log_start_offset": start,
            }
        )
    return {**named, "partition_responses": partitions}


API = Api(ProduceRequest, 3, 13, answer)
