"""Groups of consumers, request by request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from kafka.protocol.admin.groups import (
    DeleteGroupsRequest,
    DescribeGroupsRequest,
    ListGroupsRequest,
)
from kafka.protocol.admin.topics import CreateTopicsRequest, DeleteTopicsRequest
from kafka.protocol.consumer.group import (
    JoinGroupRequest,
    LeaveGroupRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
)
from kafka.protocol.metadata import ApiVersionsRequest, FindCoordinatorRequest

from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.messages.share_groups import (
    AlterShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequest,
    ReadShareGroupStateRequest,
)
from tests.emulator.asking import ask as _ask

TOPIC = "orders"


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Yield a cluster with a partition of TOPIC on every broker."""
    with Cluster() as running:
        _create(running)
        yield running


def _create(cluster: Cluster) -> None:
    topic = {"name": TOPIC, "num_partitions": 1, "replication_factor": 4}
    values = {"topics": [topic | {"assignments": [], "configs": []}], "validate_only": False}
    assert _ask(cluster, 1, CreateTopicsRequest, 7, values).topics[0].error_code == 0


def _coordinator(cluster: Cluster, asked: int = 1) -> int:
    """Return the coordinator of the group g."""
    values = {"key_type": 0, "coordinator_keys": ["g"]}
    found = _ask(cluster, asked, FindCoordinatorRequest, 4, values).coordinators[0]
    assert found.error_code == 0
    return int(found.node_id)


def _commit(cluster: Cluster, broker: int, offset: int) -> int:
    """Commit, and return the error."""
    partition = {"partition_index": 0, "committed_offset": offset, "committed_metadata": ""}
    values = {"group_id": "g", "topics": [{"name": TOPIC, "partitions": [partition]}]}
    answer = _ask(cluster, broker, OffsetCommitRequest, 9, values)
    return int(answer.topics[0].partitions[0].error_code)


def _committed(cluster: Cluster, broker: int, **wanted: Any) -> Any:
    """Return what is committed to topics that are named, or to all."""
    group = {"group_id": "g", "topics": None} | wanted
    return _ask(cluster, broker, OffsetFetchRequest, 9, {"groups": [group]}).groups[0]


def _join(cluster: Cluster, broker: int, **values: Any) -> Any:
    protocols = [{"name": "range", "metadata": b""}]
    named = {"group_id": "g", "member_id": "", "protocol_type": "consumer", "protocols": protocols}
    times = {"session_timeout_ms": 10_000, "rebalance_timeout_ms": 10_000}
    return _ask(cluster, broker, JoinGroupRequest, 9, named | times | values)


def test_another_broker_coordinates_when_one_is_gone_and_knows_all_that_was_committed(
    cluster: Cluster,
) -> None:
    first = _coordinator(cluster)
    assert _commit(cluster, first, 5) == 0
    cluster.kill(first)
    cluster.fence(first)
    second = _coordinator(cluster, asked=first % 4 + 1)
    assert second != first
    assert _committed(cluster, second).topics[0].partitions[0].committed_offset == 5
    others = {1, 2, 3, 4} - {first, second}
    assert {_committed(cluster, broker).error_code for broker in others} == {16}
    assert {_commit(cluster, broker, 6) for broker in others} == {16}


def test_offsets_of_a_topic_go_with_it(cluster: Cluster) -> None:
    coordinator = _coordinator(cluster)
    assert _commit(cluster, coordinator, 5) == 0
    _ask(cluster, 1, DeleteTopicsRequest, 6, {"topics": [{"name": TOPIC, "topic_id": None}]})
    _create(cluster)
    assert _committed(cluster, coordinator).topics == []
    named = [{"name": TOPIC, "partition_indexes": [0]}]
    found = _committed(cluster, coordinator, topics=named)
    assert found.topics[0].partitions[0].committed_offset == -1


def test_commits_to_what_is_not_there_are_refused(cluster: Cluster) -> None:
    _ask(cluster, 1, DeleteTopicsRequest, 6, {"topics": [{"name": TOPIC, "topic_id": None}]})
    assert _commit(cluster, _coordinator(cluster), 5) == 3


def test_groups_are_listed_described_and_deleted_by_their_coordinator(cluster: Cluster) -> None:
    coordinator = _coordinator(cluster)
    member = _join(cluster, coordinator).member_id
    _join(cluster, coordinator, member_id=member)

    def listed(broker: int, **filters: list[str]) -> list[tuple[str, str]]:
        found = _ask(cluster, broker, ListGroupsRequest, 5, filters).groups
        return [(group.group_id, group.group_state) for group in found]

    def described() -> Any:
        return _ask(cluster, coordinator, DescribeGroupsRequest, 6, {"groups": ["g"]}).groups[0]

    def delete() -> int:
        values = {"groups_names": ["g"]}
        answer = _ask(cluster, coordinator, DeleteGroupsRequest, 2, values)
        return int(answer.results[0].error_code)

    assert listed(coordinator) == [("g", "CompletingRebalance")]
    assert listed(coordinator, states_filter=["Stable"]) == []
    assert listed(coordinator, types_filter=["consumer"]) == []
    assert listed(coordinator % 4 + 1) == []
    assert [found.member_id for found in described().members] == [member]
    assert delete() == 68
    leaving = {"group_id": "g", "members": [{"member_id": member}]}
    left = _ask(cluster, coordinator, LeaveGroupRequest, 5, leaving)
    assert [found.error_code for found in left.members] == [0]
    assert (described().group_state, delete(), delete()) == ("Empty", 0, 69)
    assert (described().group_state, described().error_code) == ("Dead", 69)


@pytest.mark.not_emulated("other groups")
def test_only_the_classic_protocol_of_groups_is_spoken(cluster: Cluster) -> None:
    keys = {api.api_key for api in _ask(cluster, 1, ApiVersionsRequest, 3, {}).api_keys}
    # ConsumerGroupHeartbeat, StreamsGroupHeartbeat
    assert keys & {68, 88} == set()
    assert 11 in keys


@pytest.mark.not_emulated("consumers of share groups")
def test_share_groups_are_put_where_they_are_and_have_no_consumers(cluster: Cluster) -> None:
    cluster.share_group("g", TOPIC, 0, start=3, done=(3, 5))
    keys = {api.api_key for api in _ask(cluster, 1, ApiVersionsRequest, 3, {}).api_keys}
    # ShareGroupHeartbeat, ShareGroupDescribe, ShareFetch, ShareAcknowledge
    assert keys & {76, 77, 78, 79} == set()
    (listed,) = _ask(cluster, _coordinator(cluster), ListGroupsRequest, 5, {}).groups
    assert (listed.group_id, listed.group_type, listed.group_state) == ("g", "share", "Empty")


@pytest.mark.not_emulated("static members")
def test_a_static_member_is_a_member_like_others(cluster: Cluster) -> None:
    coordinator = _coordinator(cluster)
    invited = _join(cluster, coordinator, group_instance_id="static")
    assert (invited.error_code, invited.member_id != "") == (79, True)
    joined = _join(cluster, coordinator, group_instance_id="static", member_id=invited.member_id)
    assert (joined.error_code, joined.leader) == (0, invited.member_id)
    assert [member.group_instance_id for member in joined.members] == [None]


@pytest.mark.not_emulated("the topic of the groups")
def test_no_topic_holds_the_groups(cluster: Cluster) -> None:
    coordinator = _coordinator(cluster)
    _join(cluster, coordinator, member_id=_join(cluster, coordinator).member_id)
    assert cluster.look(lambda e: (len(e.groups), list(e.state.topic_ids))) == (1, [TOPIC])


def _positions(cluster: Cluster, broker: int, **wanted: Any) -> Any:
    group = {"group_id": "g", "topics": None} | wanted
    values = {"groups": [group]}
    return _ask(cluster, broker, DescribeShareGroupOffsetsRequest, 1, values).groups[0]


def _batches(cluster: Cluster, epoch: int) -> tuple[set[int], list[tuple[int, int, int]]]:
    """Return (errors of all brokers, what the group is done with beyond its start offset)."""
    topic_id = cluster.look(lambda e: e.state.topic_ids[TOPIC])
    partitions = [{"partition": 0, "leader_epoch": epoch}]
    values = {"group_id": "g", "topics": [{"topic_id": topic_id, "partitions": partitions}]}
    answers = [
        _ask(cluster, broker, ReadShareGroupStateRequest, 0, values).results[0].partitions[0]
        for broker in (1, 2, 3, 4)
    ]
    batches = [b for answer in answers for b in answer.state_batches]
    told = [(b.first_offset, b.last_offset, b.delivery_state) for b in batches]
    return {answer.error_code for answer in answers}, told


def _set(cluster: Cluster, broker: int, offset: int, topic: str = TOPIC) -> tuple[int, list[int]]:
    topics = [{"topic_name": topic, "partitions": [{"partition_index": 0, "start_offset": offset}]}]
    values = {"group_id": "g", "topics": topics}
    answer = _ask(cluster, broker, AlterShareGroupOffsetsRequest, 0, values)
    return answer.error_code, [p.error_code for t in answer.responses for p in t.partitions]


@pytest.mark.parametrize(
    ("release", "told"),
    [("4.3.1", ({0, 16}, [(3, 4, 2)])), ("4.4.0", ({16, 42}, []))],
)
def test_by_no_leader_epoch_a_share_groups_state_is_told_or_not_as_the_release_does(
    release: str, told: tuple[set[int], list[tuple[int, int, int]]]
) -> None:
    with Cluster(Options(release=release)) as cluster:
        _create(cluster)
        cluster.share_group("g", TOPIC, 0, start=3, done=(3, 5))
        assert _batches(cluster, -1) == told
        # It has fenced nobody.
        assert _batches(cluster, 0) == ({0, 16}, [(3, 4, 2)])


def test_share_groups_are_described_and_set_by_their_coordinator(cluster: Cluster) -> None:
    coordinator = _coordinator(cluster)
    nobody = _positions(cluster, coordinator)
    assert (nobody.error_code, nobody.topics) == (0, [])
    assert _set(cluster, coordinator, 2) == (0, [0])
    cluster.share_group("g", TOPIC, 0, start=3, done=(3, 5))
    (topic,) = _positions(cluster, coordinator).topics
    (told,) = topic.partitions
    assert (told.start_offset, told.leader_epoch, told.error_code) == (3, 0, 0)
    other = coordinator % 4 + 1
    assert (_positions(cluster, other).error_code, _set(cluster, other, 2)[0]) == (16, 16)
    assert _batches(cluster, 0) == ({0, 16}, [(3, 4, 2)])
    assert _set(cluster, coordinator, 2, "none") == (0, [3])
    assert _set(cluster, coordinator, 2) == (0, [0])
    named = [{"topic_name": TOPIC, "partitions": [0, 7]}]
    (topic,) = _positions(cluster, coordinator, topics=named).topics
    assert [(p.start_offset, p.leader_epoch) for p in topic.partitions] == [(2, 0), (-1, 0)]
    assert _batches(cluster, 0) == ({0, 16}, [])
    cluster.share_group("g", TOPIC, 0, start=3, done=(3, 5))
    assert _batches(cluster, 1) == ({0, 16}, [(3, 4, 2)])
    assert _batches(cluster, 0) == ({74, 16}, [])
    # Setting it makes its epoch 0 again, and lets no older leader in.
    assert _set(cluster, coordinator, 2) == (0, [0])
    (topic,) = _positions(cluster, coordinator).topics
    assert topic.partitions[0].leader_epoch == 0
    assert _batches(cluster, 0) == ({74, 16}, [])
