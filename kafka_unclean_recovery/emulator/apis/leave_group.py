"""LeaveGroup (13) lets members leave: one, or from version 3 on several (KIP-345)."""

from __future__ import annotations

import time
from typing import Any

from kafka.protocol.consumer.group import LeaveGroupRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.broker.coordination import group_of, refusal_here
from kafka_unclean_recovery.emulator.broker.groups import leave
from kafka_unclean_recovery.kafka_names import Errors


async def answer(context: Context, request: Any) -> Fields:
    if error := refusal_here(context, request.group_id):
        return {"error_code": error, "members": []} if request.version >= 3 else _only(error)
    group = group_of(context, request.group_id)
    leaving = (
        [member.member_id for member in request.members]
        if request.version >= 3
        else [request.member_id]
    )
    errors = [leave(group, member_id, time.monotonic()) for member_id in leaving]
    context.emulation.settled()
    if request.version < 3:
        return _only(errors[0])
    return {
        "error_code": Errors.NONE,
        "members": [
            {"member_id": member_id, "group_instance_id": None, "error_code": error}
            for member_id, error in zip(leaving, errors, strict=True)
        ],
    }


def _only(error: int) -> Fields:
    return {"error_code": error}


API = Api(LeaveGroupRequest, 0, 5, answer)
