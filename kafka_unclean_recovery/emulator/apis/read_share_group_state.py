"""ReadShareGroupState (84) tells a leader what a share group is done with (KIP-932)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.broker.coordination import refusal_here
from kafka_unclean_recovery.emulator.broker.share_groups import NOWHERE, ShareState
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.kraft_rules.records import TopicIdPartition
from kafka_unclean_recovery.messages.share_groups import ReadShareGroupStateRequest

_ACKNOWLEDGED = 2


async def answer(context: Context, request: Any) -> Fields:
    results = []
    for topic in request.topics:
        found = [_partition(context, request.group_id, topic.topic_id, p) for p in topic.partitions]
        results.append({"topic_id": topic.topic_id, "partitions": found})
    return {"results": results}


def _partition(context: Context, group_id: str, topic_id: Any, wanted: Any) -> Fields:
    """Answer for one partition. Whoever names a newer leader epoch than the state has ends the
    older leader's right to write it."""
    known = context.topic(None, topic_id)
    if known is None or wanted.partition not in known.partitions:
        return _result(wanted.partition, Errors.UNKNOWN_TOPIC_OR_PARTITION)
    if error := refusal_here(context, f"{group_id}:{topic_id}:{wanted.partition}"):
        return _result(wanted.partition, error)
    epoch = wanted.leader_epoch
    if epoch < 0 and context.emulation.state.release.share_state_needs_epoch:
        return _result(wanted.partition, Errors.INVALID_REQUEST)
    group = context.emulation.share_groups.get(group_id)
    key = TopicIdPartition(known.topic_id, wanted.partition)
    state = None if group is None else group.states.get(key)
    if group is None or state is None:
        return _result(wanted.partition, Errors.NONE)
    if epoch < 0:
        return _result(wanted.partition, Errors.NONE, state)
    if epoch < state.newest_epoch:
        return _result(wanted.partition, Errors.FENCED_LEADER_EPOCH)
    group.states[key] = replace(state, leader_epoch=epoch, newest_epoch=epoch)
    return _result(wanted.partition, Errors.NONE, state)


def _result(partition: int, error: int, state: ShareState | None = None) -> Fields:
    batches = []
    first, end = (0, 0) if state is None else state.done
    if first < end:
        ends = {"first_offset": first, "last_offset": end - 1}
        batches.append(ends | {"delivery_state": _ACKNOWLEDGED, "delivery_count": 1})
    return {
        "partition": partition,
        "error_code": error,
        "error_message": None,
        "state_epoch": 0 if state is None else state.state_epoch,
        "start_offset": NOWHERE if state is None else state.start_offset,
        "state_batches": batches,
    }


API = Api(ReadShareGroupStateRequest, 0, 0, answer)
