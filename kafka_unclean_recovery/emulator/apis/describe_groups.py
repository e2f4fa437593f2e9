"""DescribeGroups (15) lists groups' members, and their assignments once a group is stable."""

from __future__ import annotations

from typing import Any

from kafka.protocol.admin.groups import DescribeGroupsRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.broker.coordination import known_group, refusal_here
from kafka_unclean_recovery.emulator.broker.groups import Group, GroupState
from kafka_unclean_recovery.emulator.security import rights
from kafka_unclean_recovery.kafka_names import Errors

_DEAD = "Dead"


async def answer(context: Context, request: Any) -> Fields:
    return {"groups": [_group(context, request, group_id) for group_id in request.groups]}


def _group(context: Context, request: Any, group_id: str) -> Fields:
    error = refusal_here(context, group_id)
    group = None if error else known_group(context, group_id)
    if group is not None:
        fields = _described(group)
    else:
        missing = Errors.GROUP_ID_NOT_FOUND if request.version >= 6 else Errors.NONE
        fields = _nothing(group_id, error or missing, "" if error else _DEAD)
    if request.version >= 3 and request.include_authorized_operations and not error:
        fields["authorized_operations"] = rights.GROUP
    return fields


def _nothing(group_id: str, error: int, state: str) -> Fields:
    return {
        "error_code": error,
        "error_message": f"Group {group_id} not found."
        if error == Errors.GROUP_ID_NOT_FOUND
        else None,
        "group_id": group_id,
        "group_state": state,
        "protocol_type": "",
        "protocol_data": "",
        "members": [],
    }


def _described(group: Group) -> Fields:
    stable = group.state is GroupState.STABLE
    return {
        "error_code": Errors.NONE,
        "error_message": None,
        "group_id": group.id,
        "group_state": group.state,
        "protocol_type": group.protocol_type,
        "protocol_data": group.protocol if stable else "",
        "members": [
            {
                "member_id": member.id,
                "client_id": member.subscription.client_id,
                "client_host": "/127.0.0.1",
                "member_metadata": member.metadata(group.protocol) if stable else b"",
                "member_assignment": member.assignment if stable else b"",
            }
            for member in group.members.values()
        ],
    }


API = Api(DescribeGroupsRequest, 0, 6, answer)
