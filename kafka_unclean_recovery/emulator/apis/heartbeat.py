"""Heartbeat (12) shows that a member is there, and tells it when it has to join again."""

from __future__ import annotations

import time
from typing import Any

from kafka.protocol.consumer.group import HeartbeatRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.broker.coordination import group_of, refusal_here
from kafka_unclean_recovery.emulator.broker.groups import heartbeat, refusal


async def answer(context: Context, request: Any) -> Fields:
    if error := refusal_here(context, request.group_id):
        return {"error_code": error}
    group = group_of(context, request.group_id)
    error = refusal(group, request.member_id, request.generation_id)
    return {"error_code": error or heartbeat(group, request.member_id, time.monotonic())}


API = Api(HeartbeatRequest, 0, 4, answer)
