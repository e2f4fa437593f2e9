"""DeleteGroups (42) deletes groups without members, together with their committed offsets."""

from __future__ import annotations

from typing import Any

from kafka.protocol.admin.groups import DeleteGroupsRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.broker.coordination import known_group, refusal_here
from kafka_unclean_recovery.kafka_names import Errors


async def answer(context: Context, request: Any) -> Fields:
    results = [(group_id, _delete(context, group_id)) for group_id in request.groups_names]
    return {"results": [{"group_id": group_id, "error_code": error} for group_id, error in results]}


def _delete(context: Context, group_id: str) -> int:
    if error := refusal_here(context, group_id):
        return error
    group = known_group(context, group_id)
    if group is None:
        return Errors.GROUP_ID_NOT_FOUND
    if group.members or group.invited:
        return Errors.NON_EMPTY_GROUP
    del context.emulation.groups[group_id]
    return Errors.NONE


API = Api(DeleteGroupsRequest, 0, 2, answer)
