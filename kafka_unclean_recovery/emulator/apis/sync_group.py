"""SyncGroup (14) lets the leader hand out the assignments, and gives every member its own."""

from __future__ import annotations

import time
from typing import Any

from kafka.protocol.consumer.group import SyncGroupRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.broker.coordination import group_of, refusal_here, wait_while
from kafka_unclean_recovery.emulator.broker.groups import GroupState, refusal, sync
from kafka_unclean_recovery.kafka_names import Errors


async def answer(context: Context, request: Any) -> Fields:
    if error := refusal_here(context, request.group_id):
        return _failed(error)
    group = group_of(context, request.group_id)
    member_id, generation = request.member_id, request.generation_id
    assignments = {each.member_id: bytes(each.assignment) for each in request.assignments}
    error = refusal(group, member_id, generation) or sync(
        group, member_id, assignments, time.monotonic()
    )
    if error:
        return _failed(error)
    context.emulation.settled()

    def completing() -> bool:
        same = group.generation == generation and member_id in group.members
        return same and group.state is GroupState.COMPLETING_REBALANCE

    await wait_while(context, group, completing)
    if error := refusal(group, member_id, generation):
        return _failed(error)
    if group.state is not GroupState.STABLE:
        return _failed(Errors.REBALANCE_IN_PROGRESS)
    return {
        "error_code": Errors.NONE,
        "protocol_type": group.protocol_type,
        "protocol_name": group.protocol,
        "assignment": group.members[member_id].assignment,
    }


def _failed(error: int) -> Fields:
    return {"error_code": error, "assignment": b""}


API = Api(SyncGroupRequest, 0, 5, answer)
