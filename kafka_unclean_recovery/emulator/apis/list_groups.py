"""ListGroups (16) lists the groups that this broker coordinates (KIP-518)."""

from __future__ import annotations

from typing import Any

from kafka.protocol.admin.groups import ListGroupsRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.broker.coordination import known_group, refusal_here
from kafka_unclean_recovery.emulator.error_codes import NONE

CLASSIC = "classic"


async def answer(context: Context, request: Any) -> Fields:
    states = [s.lower() for s in request.states_filter] if request.version >= 4 else []
    types = [t.lower() for t in request.types_filter] if request.version >= 5 else []
    found = [
        group
        for group_id in context.emulation.groups
        if not refusal_here(context, group_id) and (group := known_group(context, group_id))
    ]
    return {
        "error_code": NONE,
        "groups": [
            {
                "group_id": group.id,
                "protocol_type": group.protocol_type,
                "group_state": group.state,
                "group_type": CLASSIC,
            }
            for group in found
            if (not states or group.state.lower() in states) and (not types or CLASSIC in types)
        ],
    }


API = Api(ListGroupsRequest, 0, 5, answer)
