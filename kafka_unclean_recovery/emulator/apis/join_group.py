"""JoinGroup (11) lets a member join, and answers it when a generation begins (KIP-394)."""

from __future__ import annotations

import time
from typing import Any
from uuid import uuid4

from kafka.protocol.consumer.group import JoinGroupRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.broker.coordination import group_of, refusal_here, wait_while
from kafka_unclean_recovery.emulator.broker.groups import (
    Group,
    GroupState,
    Subscription,
    await_join,
    join,
)
from kafka_unclean_recovery.kafka_names import Errors


async def answer(context: Context, request: Any) -> Fields:
    member_id = request.member_id
    if error := refusal_here(context, request.group_id):
        return _failed(error, member_id)
    group, subscription = group_of(context, request.group_id), _subscription(request)
    if not member_id:
        member_id = f"{subscription.client_id}-{uuid4()}"
        group.invited[member_id] = time.monotonic() + subscription.session_timeout
        if request.version >= 4:
            return _failed(Errors.MEMBER_ID_REQUIRED, member_id)
    if error := join(group, member_id, subscription, time.monotonic()):
        return _failed(error, member_id)
    context.emulation.settled()
    await wait_while(context, group, lambda: _rebalancing(group, member_id))
    if member_id not in group.members:
        return _failed(Errors.UNKNOWN_MEMBER_ID, member_id)
    return _joined(group, member_id)


def _subscription(request: Any) -> Subscription:
    session = request.session_timeout_ms / 1000
    rebalance = request.rebalance_timeout_ms / 1000 if request.version >= 1 else session
    return Subscription(
        request.header.client_id or "",
        session,
        rebalance,
        request.protocol_type,
        tuple((protocol.name, bytes(protocol.metadata)) for protocol in request.protocols),
    )


def _rebalancing(group: Group, member_id: str) -> bool:
    """Return whether the member still waits for a generation. A waiting member takes part in the
    next rebalance too, if one has begun already."""
    await_join(group, member_id, time.monotonic())
    return member_id in group.members and group.state is GroupState.PREPARING_REBALANCE


def _failed(error: int, member_id: str) -> Fields:
    return {
        "error_code": error,
        "protocol_name": "",
        "leader": "",
        "member_id": member_id,
        "members": [],
    }


def _joined(group: Group, member_id: str) -> Fields:
    """Return the answer to a joined member. Only the leader gets the others, because it assigns."""
    told = group.members.values() if member_id == group.leader else ()
    return {
        "error_code": Errors.NONE,
        "generation_id": group.generation,
        "protocol_type": group.protocol_type,
        "protocol_name": group.protocol,
        "leader": group.leader,
        "member_id": member_id,
        "members": [
            {"member_id": member.id, "metadata": member.metadata(group.protocol)} for member in told
        ],
    }


API = Api(JoinGroupRequest, 0, 9, answer)
