"""These rules decide what a client may ask about groups; see `authorizing`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kafka_unclean_recovery.emulator.apis.api import NO_TOPIC_ID, Fields
from kafka_unclean_recovery.emulator.listener.failure_answers import failed
from kafka_unclean_recovery.emulator.security.asked import Asked, Rule, anyone, parted
from kafka_unclean_recovery.emulator.security.rights import Operation, Resource
from kafka_unclean_recovery.kafka_names import Errors

_GROUP = 0  # This is a value of FindCoordinatorRequest.CoordinatorType.


def of_group(operation: Operation, then: Rule = anyone) -> Rule:
    """Return a rule that asks for a right on the request's one group, and otherwise refuses the
    whole request."""

    async def rule(asked: Asked) -> Fields | None:
        request = asked.request
        if asked.rights.may(operation, Resource.GROUP, request.group_id):
            return await then(asked)
        return failed(type(request), request, Errors.GROUP_AUTHORIZATION_FAILED)

    return rule


def _on_group(operation: Operation) -> Callable[[Asked, Any], bool]:
    return lambda asked, group_id: asked.rights.may(operation, Resource.GROUP, group_id)


async def list_groups(asked: Asked) -> Fields | None:
    """Answer ListGroups. Groups that the client may not describe are left out, without an error."""
    fields = await asked.answered()
    if fields is None or asked.rights.may(Operation.DESCRIBE, Resource.CLUSTER):
        return fields
    may = _on_group(Operation.DESCRIBE)
    return fields | {"groups": [each for each in fields["groups"] if may(asked, each["group_id"])]}


async def describe_groups(asked: Asked) -> Fields | None:
    fields = await _describe_allowed_groups(asked)
    return fields and fields | {
        "groups": [
            group
            | {"authorized_operations": asked.rights.operations(Resource.GROUP, group["group_id"])}
            if "authorized_operations" in group
            else group
            for group in fields["groups"]
        ]
    }


def _no_group(group_id: str) -> Fields:
    none = {"error_message": None, "group_state": "", "protocol_type": "", "protocol_data": ""}
    error = Errors.GROUP_AUTHORIZATION_FAILED
    return {"group_id": group_id, "error_code": error, "members": [], **none}


_describe_allowed_groups = parted("groups", "groups", _on_group(Operation.DESCRIBE), _no_group)
delete_groups = parted(
    "groups_names",
    "results",
    _on_group(Operation.DELETE),
    lambda group_id: {"group_id": group_id, "error_code": Errors.GROUP_AUTHORIZATION_FAILED},
)


_Visible = Callable[[Asked, list[Fields], Any], list[Fields]]


def _visible(none: Fields) -> _Visible:
    """Return a function that keeps the topics which the client may describe. Another topic has
    `none` if the request names it, and is left out if the request asks for all topics."""

    def kept(asked: Asked, topics: list[Fields], named: Any) -> list[Fields]:
        found = []
        for topic in topics:
            entry = _Entry(topic.get("name", topic.get("topic_name")), topic.get("topic_id"))
            if asked.may(Operation.DESCRIBE, entry):
                found.append(topic)
            elif named is not None:
                found.append(topic | {"partitions": [each | none for each in topic["partitions"]]})
        return found

    return kept


_REFUSED = {"error_code": Errors.TOPIC_AUTHORIZATION_FAILED}
_offsets = _visible(_REFUSED | {"committed_offset": -1})
_positions = _visible(_REFUSED | {"start_offset": 0, "leader_epoch": 0})


async def _topics_of_groups(asked: Asked, none: Fields, visible: _Visible) -> Fields:
    """Answer with the `visible` topics of each group that the client may describe. none: told of
    the other groups beside the error."""
    wanted = {group.group_id: group for group in asked.request.groups}
    refused = {"error_code": Errors.GROUP_AUTHORIZATION_FAILED, "topics": [], **none}
    fields = await parted(
        "groups",
        "groups",
        lambda asked, group: asked.rights.may(Operation.DESCRIBE, Resource.GROUP, group.group_id),
        lambda group: {"group_id": group.group_id, **refused},
    )(asked)
    assert fields is not None
    groups = [
        group | {"topics": visible(asked, group["topics"], wanted[group["group_id"]].topics)}
        for group in fields["groups"]
    ]
    return fields | {"groups": groups}


async def share_group_offsets(asked: Asked) -> Fields | None:
    """Answer DescribeShareGroupOffsets. Topics that the client may not describe are refused where
    the request names them, and left out where it asks for all."""
    return await _topics_of_groups(asked, {"error_message": None}, _positions)


async def alter_share_group_offsets(asked: Asked) -> Fields | None:
    """Answer AlterShareGroupOffsets, which needs READ on the group and on each topic."""
    return await of_group(
        Operation.READ,
        parted(
            "topics",
            "responses",
            lambda asked, topic: asked.may(Operation.READ, _Entry(topic.topic_name, None)),
            lambda topic: {
                "topic_name": topic.topic_name,
                "topic_id": NO_TOPIC_ID,
                "partitions": [
                    {
                        "partition_index": each.partition_index,
                        "error_code": Errors.TOPIC_AUTHORIZATION_FAILED,
                        "error_message": None,
                    }
                    for each in topic.partitions
                ],
            },
        ),
    )(asked)


async def offset_fetch(asked: Asked) -> Fields | None:
    """Answer OffsetFetch, which names several groups from version 8 on."""
    request = asked.request
    if request.version < 8:
        return await of_group(Operation.DESCRIBE, _offsets_of_one)(asked)
    return await _topics_of_groups(asked, {}, _offsets)


async def _offsets_of_one(asked: Asked) -> Fields | None:
    fields = await asked.answered()
    return fields and fields | {"topics": _offsets(asked, fields["topics"], asked.request.topics)}


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str | None
    topic_id: Any


async def find_coordinator(asked: Asked) -> Fields | None:
    request = asked.request
    if request.version >= 4:
        return await _find_coordinators(asked)
    no = _no_coordinator(request, request.key)
    return await asked.answered() if _may_find(asked, request.key) else no


def _may_find(asked: Asked, key: str) -> bool:
    group = asked.request.key_type == _GROUP
    kind = Resource.GROUP if group else Resource.TRANSACTIONAL_ID
    return asked.rights.may(Operation.DESCRIBE, kind, key)


def _no_coordinator(request: Any, key: str) -> Fields:
    group = request.key_type == _GROUP
    error = (
        Errors.GROUP_AUTHORIZATION_FAILED if group else Errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    )
    none: Fields = {"error_code": error, "error_message": None, "node_id": -1, "host": ""}
    return none | {"port": -1} | ({"key": key} if request.version >= 4 else {})


async def _find_coordinators(asked: Asked) -> Fields | None:
    return await parted(
        "coordinator_keys",
        "coordinators",
        _may_find,
        lambda key: _no_coordinator(asked.request, key),
    )(asked)
