"""ListGroups (16) lists the groups that this broker coordinates (KIP-518)."""

from __future__ import annotations

from typing import Any

from kafka.protocol.admin.groups import ListGroupsRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.broker.coordination import known_group, refusal_here
from kafka_unclean_recovery.emulator.broker.groups import GroupState
from kafka_unclean_recovery.kafka_names import Errors

CLASSIC, SHARE = "classic", "share"


async def answer(context: Context, request: Any) -> Fields:
    states = [s.lower() for s in request.states_filter] if request.version >= 4 else []
    types = [t.lower() for t in request.types_filter] if request.version >= 5 else []
    found = [
        group
        for group_id in context.emulation.groups
        if not refusal_here(context, group_id) and (group := known_group(context, group_id))
    ]
    told = [_told(group.id, group.protocol_type, group.state, CLASSIC) for group in found]
    # No share group has consumers here.
    told += [
        _told(group_id, "share", GroupState.EMPTY, SHARE)
        for group_id in context.emulation.share_groups
        if not refusal_here(context, group_id)
    ]
    chosen = [
        each
        for each in told
        if (not states or each["group_state"].lower() in states)
        and (not types or each["group_type"].lower() in types)
    ]
    return {"error_code": Errors.NONE, "groups": chosen}


def _told(group_id: str, protocol_type: str, state: str, kind: str) -> Fields:
    return {
        "group_id": group_id,
        "protocol_type": protocol_type,
        "group_state": state,
        "group_type": kind,
    }


API = Api(ListGroupsRequest, 0, 5, answer)
