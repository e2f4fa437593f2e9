"""The rules of requests about groups, and of others that change topics: over APIs that answer
whatever they are asked, so that what is left of a request can be seen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from kafka.protocol.admin.groups import (
    DeleteGroupsRequest,
    DescribeGroupsRequest,
    ListGroupsRequest,
)
from kafka.protocol.admin.topics import CreatePartitionsRequest
from kafka.protocol.consumer.group import (
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
    SyncGroupRequest,
)
from kafka.protocol.consumer.offsets import OffsetForLeaderEpochRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.listener import wire
from kafka_unclean_recovery.emulator.listener.intercepts import Interceptions
from kafka_unclean_recovery.emulator.security import authorizing
from kafka_unclean_recovery.emulator.security.rights import Rights, parse_right
from tests.messages.building import build

MINE, THEIRS = "mine", "theirs"


def _answer(
    request: Any, version: int, values: Mapping[str, Any], echo: Any, *rights: str
) -> Fields:
    """Return what is answered where the API answers `echo(request)`, a message of its kind."""

    async def api(_: Context, asked: Any) -> Fields:
        found: Fields = echo(asked)
        return found

    nothing: Any = None
    granted = Rights(frozenset(map(parse_right, rights)))
    context = Context(nothing, nothing, {}, {}, nothing, Interceptions(), granted)
    asked = build(request, values)
    asked.API_VERSION = version
    made = Api(request, version, version, api)
    fields = asyncio.run(authorizing.answer(made, context, asked))
    assert fields is not None
    wire.encode(request, version, 1, fields)
    return fields


def _nothing(_: Any) -> Fields:
    return {"error_code": 0}


@pytest.mark.parametrize(
    ("request_class", "version"),
    [(HeartbeatRequest, 4), (JoinGroupRequest, 9), (LeaveGroupRequest, 5), (SyncGroupRequest, 5)],
)
def test_a_member_must_be_able_to_read_its_group(request_class: Any, version: int) -> None:
    values = {"group_id": MINE}
    for rights, error in (((), 30), ((f"Group({MINE}):DESCRIBE",), 30), (("Group(*):READ",), 0)):
        found = _answer(request_class, version, values, _nothing, *rights)
        assert found["error_code"] == error


def test_offsets_are_committed_for_topics_that_may_be_read_in_a_group_that_may() -> None:
    topics = [{"name": name, "partitions": [{"partition_index": 0}]} for name in (MINE, THEIRS)]

    def commit(*rights: str) -> dict[str, int]:
        values = {"group_id": "g", "topics": topics}
        found = _answer(OffsetCommitRequest, 8, values, _offsets_of, *rights)
        return {each["name"]: each["partitions"][0]["error_code"] for each in found["topics"]}

    assert commit("Group(g):READ", f"Topic({MINE}):READ") == {MINE: 0, THEIRS: 29}
    assert commit("Group(g):DESCRIBE", "Topic(*):READ") == {MINE: 30, THEIRS: 30}


def _offsets_of(asked: Any) -> Fields:
    partitions = [{"partition_index": 0, "error_code": 0}]
    return {"topics": [{"name": each.name, "partitions": partitions} for each in asked.topics]}


@pytest.mark.parametrize("version", [7, 8])
@pytest.mark.parametrize("every", [True, False], ids=["all topics", "topics named"])
def test_offsets_of_hidden_topics_are_left_out_of_all_and_refused_by_name(
    version: int, every: bool
) -> None:
    partitions = [{"partition_index": 0, "committed_offset": 7, "error_code": 0}]
    committed = [{"name": name, "partitions": partitions} for name in (MINE, THEIRS)]
    wanted = [{"name": name, "partition_indexes": [0]} for name in (MINE, THEIRS)]
    group = {"group_id": "g", "topics": None if every else wanted}
    values = group if version < 8 else {"groups": [group]}

    def echo(_: Any) -> Fields:
        found = {"topics": committed, "error_code": 0}
        return found if version < 8 else {"groups": [{"group_id": "g"} | found]}

    rights = ("Group(g):DESCRIBE", f"Topic({MINE}):DESCRIBE")
    found = _answer(OffsetFetchRequest, version, values, echo, *rights)
    topics = found["topics"] if version < 8 else found["groups"][0]["topics"]
    ends = {
        each["name"]: (p["error_code"], p["committed_offset"])
        for each in topics
        for p in each["partitions"]
    }
    assert ends == ({MINE: (0, 7)} if every else {MINE: (0, 7), THEIRS: (29, -1)})


@pytest.mark.parametrize("version", [7, 8])
def test_offsets_of_a_group_that_may_not_be_described_are_refused(version: int) -> None:
    group = {"group_id": "g", "topics": None}
    values = group if version < 8 else {"groups": [group]}
    found = _answer(OffsetFetchRequest, version, values, lambda _: {"groups": []})
    assert (found if version < 8 else found["groups"][0])["error_code"] == 30


def test_groups_that_may_not_be_described_are_left_out_of_the_list() -> None:
    def echo(_: Any) -> Fields:
        return {"error_code": 0, "groups": [{"group_id": name} for name in (MINE, THEIRS)]}

    def listed(*rights: str) -> list[str]:
        found = _answer(ListGroupsRequest, 4, {}, echo, *rights)
        assert found["error_code"] == 0
        return [each["group_id"] for each in found["groups"]]

    assert listed() == []
    assert listed(f"Group({MINE}):READ") == [MINE]
    assert listed("Cluster:DESCRIBE") == [MINE, THEIRS]


def test_groups_are_described_and_deleted_each_by_its_own_right() -> None:
    def described(asked: Any) -> Fields:
        operations: Any = frozenset({8})
        return {
            "groups": [{"group_id": g, "authorized_operations": operations} for g in asked.groups]
        }

    right = f"Group({MINE}):DELETE"
    found = _answer(DescribeGroupsRequest, 5, {"groups": [MINE, THEIRS]}, described, right)
    errors = {each["group_id"]: each.get("error_code", 0) for each in found["groups"]}
    assert errors == {MINE: 0, THEIRS: 30}
    assert found["groups"][0]["authorized_operations"] == {6, 8}

    def deleted(asked: Any) -> Fields:
        return {"results": [{"group_id": g, "error_code": 0} for g in asked.groups_names]}

    values = {"groups_names": [MINE, THEIRS]}
    found = _answer(DeleteGroupsRequest, 2, values, deleted, right)
    assert {g["group_id"]: g["error_code"] for g in found["results"]} == {MINE: 0, THEIRS: 30}


def test_partitions_are_added_to_topics_that_may_be_altered() -> None:
    def echo(asked: Any) -> Fields:
        return {"results": [{"name": each.name, "error_code": 0} for each in asked.topics]}

    values = {"topics": [{"name": name, "count": 3} for name in (MINE, THEIRS)]}
    right = f"Topic({MINE}):ALTER"
    found = _answer(CreatePartitionsRequest, 3, values, echo, right)
    assert {t["name"]: t["error_code"] for t in found["results"]} == {MINE: 0, THEIRS: 29}


def test_ends_of_epochs_are_for_who_may_describe_the_topic_or_act_for_the_cluster() -> None:
    def echo(asked: Any) -> Fields:
        ends = [{"partition": 0, "error_code": 0}]
        return {"topics": [{"topic": each.topic, "partitions": ends} for each in asked.topics]}

    topics = [{"topic": name, "partitions": [{"partition": 0}]} for name in (MINE, THEIRS)]

    def ends(right: str) -> dict[str, int]:
        found = _answer(OffsetForLeaderEpochRequest, 4, {"topics": topics}, echo, right)
        return {each["topic"]: each["partitions"][0]["error_code"] for each in found["topics"]}

    assert ends(f"Topic({MINE}):READ") == {MINE: 0, THEIRS: 29}
    assert ends("Cluster:CLUSTER_ACTION") == {MINE: 0, THEIRS: 0}
