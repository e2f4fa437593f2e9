"""Answers that are wrong in part: entries that fail, are missing, or were never looked at."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from kafka.protocol.admin.cluster import DescribeClusterRequest
from kafka.protocol.admin.topics import (
    AlterPartitionReassignmentsRequest,
    CreateTopicsRequest,
    DescribeTopicPartitionsRequest,
)
from kafka.protocol.consumer.fetch import FetchRequest
from kafka.protocol.consumer.offsets import ListOffsetsRequest
from kafka.protocol.metadata import ApiVersionsRequest, MetadataRequest
from kafka.protocol.producer.produce import ProduceRequest

from kafka_unclean_recovery.cluster.wire import frames
from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.control.commands import BadCommand, parse_line
from kafka_unclean_recovery.emulator.control.executing import execute
from kafka_unclean_recovery.emulator.faults import STOPPED
from kafka_unclean_recovery.emulator.listener import wire
from kafka_unclean_recovery.emulator.listener.entries import joined, only, without
from kafka_unclean_recovery.emulator.listener.intercepts import (
    Delay,
    Fail,
    LeaveOut,
    Rewrite,
    Seen,
    Throttle,
    Where,
)
from kafka_unclean_recovery.messages.elect_leaders import ElectLeadersRequest
from tests.emulator.asking import address, ask
from tests.emulator.test_intercepts import NUMBER, TABLE, _entries
from tests.fidelity.wire import Wire
from tests.messages.building import build

TOPICS = ("orders", "payments")


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Yield a cluster with two topics of two partitions; broker 1 leads all, 2 follows."""
    with Cluster(Options(brokers=2)) as running:
        for topic in TOPICS:
            running.create_topic(topic, assignment=[(1, 2), (1, 2)])
            running.produce(topic, 0, 5)
        yield running


def _fetch(offset: int = 0) -> dict[str, Any]:
    partitions = [
        {
            "partition": n,
            "fetch_offset": offset,
            "partition_max_bytes": 1 << 20,
            "current_leader_epoch": -1,
            "last_fetched_epoch": -1,
        }
        for n in (0, 1)
    ]
    topics = [{"topic": topic, "partitions": partitions} for topic in TOPICS]
    return {"max_wait_ms": 1, "min_bytes": 0, "max_bytes": 1 << 20, "topics": topics}


def _offsets() -> dict[str, Any]:
    partitions = [{"partition_index": n, "timestamp": -1} for n in (0, 1)]
    topics = [{"name": topic, "partitions": partitions} for topic in TOPICS]
    return {"replica_id": -2, "topics": topics}


def _reorder(*replicas: int) -> dict[str, Any]:
    partitions = [{"partition_index": n, "replicas": list(replicas)} for n in (0, 1)]
    return {"topics": [{"name": topic, "partitions": partitions} for topic in TOPICS]}


def _codes(topics: Any, name: str = "name", number: str = "partition_index") -> dict[str, int]:
    return {
        f"{getattr(topic, name)}-{getattr(p, number)}": p.error_code
        for topic in topics
        for p in topic.partitions
    }


def _send(wire: Wire, request: Any, version: int) -> None:
    """Send without waiting for the answer."""
    wire._socket.sendall(frames.encode_request(request, version, 0, "a test"))


def _replicas(cluster: Cluster, topic: str, partition: int) -> tuple[int, ...]:
    return cluster.partition(topic, partition).replicas


# A part fails.


def test_one_partition_fails_and_the_others_are_answered(cluster: Cluster) -> None:
    cluster.intercept("ListOffsets", Fail(6, of=frozenset({"orders-1"})))
    answer = ask(cluster, 1, ListOffsetsRequest, 5, _offsets())
    assert _codes(answer.topics) == {
        "orders-0": 0,
        "orders-1": 6,
        "payments-0": 0,
        "payments-1": 0,
    }
    assert answer.topics[0].partitions[0].offset == 5


def test_what_fails_is_not_carried_out_and_the_rest_is(cluster: Cluster) -> None:
    cluster.intercept("AlterPartitionReassignments", Fail(83, of=frozenset({"orders-1"})))
    answer = ask(cluster, 1, AlterPartitionReassignmentsRequest, 0, _reorder(2, 1))
    assert answer.error_code == 0
    assert _codes(answer.responses)["orders-1"] == 83
    assert _replicas(cluster, "orders", 1) == (1, 2)
    assert _replicas(cluster, "orders", 0) == _replicas(cluster, "payments", 1) == (2, 1)


def test_a_whole_topic_fails_and_its_error_is_where_such_answers_have_it(cluster: Cluster) -> None:
    cluster.intercept("Metadata", Fail(29, of=frozenset({"payments"})), times=2)
    for wanted in ([{"name": topic} for topic in TOPICS], None):
        answer = ask(cluster, 1, MetadataRequest, 9, {"topics": wanted})
        assert {topic.name: topic.error_code for topic in answer.topics} == {
            "orders": 0,
            "payments": 29,
        }


def test_a_request_of_nothing_else_than_what_fails_is_not_taken_for_one_of_all(
    cluster: Cluster,
) -> None:
    cluster.intercept("DescribeTopicPartitions", Fail(3, of=frozenset({"orders"})))
    wanted = {"topics": [{"name": "orders"}], "response_partition_limit": 100}
    answer = ask(cluster, 1, DescribeTopicPartitionsRequest, 0, wanted)
    assert [(topic.name, topic.error_code) for topic in answer.topics] == [("orders", 3)]


def test_designated_leaders_stay_with_their_partitions_when_one_of_them_fails() -> None:
    topic = {"topic": "orders", "partitions": [0, 1, 2], "designated_leaders": [7, 8, 9]}
    asked = {"topic_partitions": [topic], "timeout_ms": 5}
    rest = without(asked, {"orders-1"}, str)
    assert rest["topic_partitions"][0]["partitions"] == [0, 2]
    assert rest["topic_partitions"][0]["designated_leaders"] == [7, 9]
    refused = only(asked, {"orders-1"}, str)["topic_partitions"]
    assert refused == [topic | {"partitions": [1], "designated_leaders": [8]}]


def test_the_top_alone_fails_and_nothing_is_in_it(cluster: Cluster) -> None:
    cluster.intercept("AlterPartitionReassignments", Fail(31, Where.TOP))
    answer = ask(cluster, 1, AlterPartitionReassignmentsRequest, 0, _reorder(2, 1))
    assert (answer.error_code, answer.responses) == (31, [])
    assert _replicas(cluster, "orders", 0) == (1, 2)


def test_every_entry_fails_and_the_top_does_not(cluster: Cluster) -> None:
    cluster.intercept("AlterPartitionReassignments", Fail(60, Where.ENTRIES))
    answer = ask(cluster, 1, AlterPartitionReassignmentsRequest, 0, _reorder(2, 1))
    assert answer.error_code == 0
    assert set(_codes(answer.responses).values()) == {60}
    assert _replicas(cluster, "orders", 0) == (1, 2)


def test_success_is_answered_and_nothing_was_done(cluster: Cluster) -> None:
    cluster.intercept("AlterPartitionReassignments", Fail(0))
    answer = ask(cluster, 1, AlterPartitionReassignmentsRequest, 0, _reorder(2, 1))
    assert set(_codes(answer.responses).values()) == {0}
    assert len(_codes(answer.responses)) == 4
    assert _replicas(cluster, "orders", 0) == (1, 2)
    elect = {"election_type": 0, "topic_partitions": [{"topic": "orders", "partitions": [0]}]}
    cluster.intercept("ElectLeaders", Fail(0))
    results = ask(cluster, 1, ElectLeadersRequest, 2, elect).replica_election_results
    assert [r.error_code for r in results[0].partition_result] == [0]


# A part is missing.


@pytest.mark.parametrize(
    ("of", "left"),
    [
        (frozenset({"orders-0"}), ["orders-1", "payments-0", "payments-1"]),
        (frozenset({"orders"}), ["payments-0", "payments-1"]),
        (frozenset({"orders-0", "orders-1", "payments-1"}), ["payments-0"]),
        (None, []),
    ],
)
def test_entries_are_left_out_of_an_answer(
    cluster: Cluster, of: frozenset[str] | None, left: list[str]
) -> None:
    cluster.intercept("AlterPartitionReassignments", LeaveOut(of))
    answer = ask(cluster, 1, AlterPartitionReassignmentsRequest, 0, _reorder(2, 1))
    assert list(_codes(answer.responses)) == left
    # It was carried out all the same.
    assert {_replicas(cluster, topic, n) for topic in TOPICS for n in (0, 1)} == {(2, 1)}


def test_a_partition_is_left_out_where_its_topic_goes_by_its_id(cluster: Cluster) -> None:
    ids = cluster.look(lambda e: {t.name: t.topic_id for t in e.state.topics.values()})
    asked = _fetch()
    for topic in asked["topics"]:
        topic["topic_id"] = ids[topic["topic"]]
    cluster.intercept("Fetch", LeaveOut(frozenset({"orders-0"})))
    answer = ask(cluster, 1, FetchRequest, 13, asked)
    assert [(t.topic_id, len(t.partitions)) for t in answer.responses] == [
        (ids["orders"], 1),
        (ids["payments"], 2),
    ]


def test_a_broker_is_left_out_of_what_one_says_of_the_cluster(cluster: Cluster) -> None:
    cluster.intercept("Metadata", LeaveOut(frozenset({"2"})))
    cluster.intercept("DescribeCluster", LeaveOut(frozenset({"2"})))
    answer = ask(cluster, 1, MetadataRequest, 9, {"topics": None})
    assert [broker.node_id for broker in answer.brokers] == [1]
    assert {topic.name for topic in answer.topics} == set(TOPICS)
    assert all(p.replica_nodes == [1, 2] for t in answer.topics for p in t.partitions)
    cluster_is = ask(cluster, 1, DescribeClusterRequest, 0, {})
    assert [broker.broker_id for broker in cluster_is.brokers] == [1]


def test_an_answer_is_rewritten_by_a_function(cluster: Cluster) -> None:
    def further(fields: dict[str, Any]) -> dict[str, Any]:
        fields["topics"][0]["partitions"][0]["offset"] += 1000
        return fields

    cluster.intercept("ListOffsets", Rewrite(further))
    answer = ask(cluster, 1, ListOffsetsRequest, 5, _offsets())
    assert [p.offset for t in answer.topics for p in t.partitions] == [1005, 0, 5, 0]


# Over quota, and late.


def test_a_throttled_fetch_has_no_partitions_and_says_for_how_long(cluster: Cluster) -> None:
    cluster.intercept("Fetch", Throttle(0.4))
    with Wire(*address(cluster, 1)) as asking:
        answer = asking.ask(build(FetchRequest, _fetch()), 12)
        assert (answer.throttle_time_ms, answer.responses, answer.error_code) == (400, [], 0)
        # Of a muted connection nothing is read meanwhile.
        begin = time.monotonic()
        answer = asking.ask(build(FetchRequest, _fetch()), 12)
        assert time.monotonic() - begin >= 0.3
    assert len(_codes(answer.responses, "topic")) == 4


def test_other_connections_are_not_muted_with_a_throttled_one(cluster: Cluster) -> None:
    cluster.intercept("Fetch", Throttle(60.0))
    ask(cluster, 1, FetchRequest, 12, _fetch())
    assert len(ask(cluster, 1, FetchRequest, 12, _fetch()).responses) == 2


def test_what_else_is_throttled_was_done(cluster: Cluster) -> None:
    cluster.intercept("AlterPartitionReassignments", Throttle(0.05))
    answer = ask(cluster, 1, AlterPartitionReassignmentsRequest, 0, _reorder(2, 1))
    assert (answer.throttle_time_ms, set(_codes(answer.responses).values())) == (50, {0})
    assert _replicas(cluster, "orders", 0) == (2, 1)


def test_a_producer_that_wants_no_answer_is_throttled_without_one(cluster: Cluster) -> None:
    cluster.intercept("Produce", Throttle(0.01), times=2)
    cluster.intercept("Produce", Rewrite(dict))
    asked = {"acks": 0, "timeout_ms": 1, "topic_data": []}
    with Wire(*address(cluster, 1)) as asking:
        for _ in range(3):
            _send(asking, build(ProduceRequest, asked), 9)
        assert asking.ask(build(ApiVersionsRequest, {}), 3).error_code == 0


def test_an_answer_is_late_though_the_request_was_carried_out_at_once(cluster: Cluster) -> None:
    taken = cluster.intercept("AlterPartitionReassignments", Delay(60.0, carried_out=True))
    with Wire(*address(cluster, 1)) as asking:
        _send(asking, build(AlterPartitionReassignmentsRequest, _reorder(2, 1)), 0)
        cluster.wait_until(lambda _: taken.requests)
        cluster.wait_until(
            lambda e: (
                {e.state.partition(e.partition_key(t, 1)).replicas for t in TOPICS} == {(2, 1)}
            )
        )
        asking._socket.settimeout(0.1)
        with pytest.raises(TimeoutError):
            asking._take(1)


# Metadata of one broker.


def _topics_of(cluster: Cluster, broker: int) -> set[str]:
    answer = ask(cluster, broker, MetadataRequest, 9, {"topics": None})
    return {topic.name for topic in answer.topics}


def test_a_broker_whose_metadata_lag_stays_live_and_passes_requests_on_at_once(
    cluster: Cluster,
) -> None:
    cluster.lag_metadata(2, STOPPED)
    topic = {"name": "new", "num_partitions": 1, "replication_factor": 1}
    asked = {"topics": [topic], "timeout_ms": 1000}
    assert ask(cluster, 2, CreateTopicsRequest, 5, asked).topics[0].error_code == 0
    seen = [_topics_of(cluster, broker) for broker in (1, 2)]
    assert seen == [{*TOPICS, "new"}, {*TOPICS}]
    # Sessions of half a second have passed by then.
    now = cluster.look(lambda e: e.now)
    cluster.wait_until(lambda e: e.now > now + 1.5)
    assert [broker.fenced for broker in cluster.status().brokers] == [False, False]
    assert _topics_of(cluster, 2) == {*TOPICS}
    cluster.lag_metadata(2, 0)
    assert _topics_of(cluster, 2) == {*TOPICS, "new"}


def test_metadata_that_lag_by_a_time_arrive_after_it(cluster: Cluster) -> None:
    cluster.lag_metadata(2, 0.3)
    cluster.create_topic("new")
    assert "new" not in _topics_of(cluster, 2)
    cluster.wait_until(lambda e: e.seen_by(2).topic("new"))
    assert "new" in _topics_of(cluster, 2)


@pytest.mark.parametrize("seconds", [-1, 601])
def test_metadata_lag_by_no_time_that_can_not_be(cluster: Cluster, seconds: float) -> None:
    with pytest.raises(ValueError, match="metadata does not lag by"):
        cluster.lag_metadata(1, seconds)


# In the language of commands.


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        ("error=NONE", {"orders-0": 0, "orders-1": 0, "payments-0": 0, "payments-1": 0}),
        ("error=6 of=orders", {"orders-0": 6, "orders-1": 6, "payments-0": 0, "payments-1": 0}),
        ("error=6 where=top", {}),
        ("leave-out=orders-0,payments", {"orders-1": 0}),
        ("leave-out=all", {}),
        ("throttle-ms=1", {"orders-0": 0, "orders-1": 0, "payments-0": 0, "payments-1": 0}),
        ("delay-answer-ms=1", {"orders-0": 0, "orders-1": 0, "payments-0": 0, "payments-1": 0}),
    ],
)
def test_a_command_intercepts_in_part(cluster: Cluster, line: str, codes: dict[str, int]) -> None:
    command = parse_line(f"intercept ListOffsets {line}")
    assert command is not None
    execute(cluster, command)
    assert cluster.status().faults[0].startswith("intercept ListOffsets times=1: ")
    assert _codes(ask(cluster, 1, ListOffsetsRequest, 5, _offsets()).topics) == codes


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("intercept Fetch close=after of=orders", "of= goes with error="),
        ("intercept Fetch delay-ms=1 where=top", "where= goes with error="),
        ("intercept Fetch error=1 where=top of=a", "give one of of=, where="),
    ],
)
def test_a_command_that_says_two_things_is_refused(cluster: Cluster, line: str, says: str) -> None:
    command = parse_line(line)
    assert command is not None
    with pytest.raises(BadCommand, match=says):
        execute(cluster, command)


# Entries, of every API.


@pytest.mark.parametrize(
    ("key", "version"),
    [(key, v) for key, api in TABLE.items() for v in range(api.lowest, api.highest + 1)],
)
def test_every_request_is_the_same_when_it_is_taken_apart_and_put_together(
    key: int, version: int
) -> None:
    request_class = TABLE[key].request
    fields = wire.build(request_class, version, _entries(request_class, version)).to_dict(
        json=False
    )
    parts: list[Callable[[Any], Any]] = [
        lambda asked: without(asked, {"nobody"}, str),
        lambda asked: joined(
            without(asked, {"t", f"t-{NUMBER}"}, str), only(asked, {"t", f"t-{NUMBER}"}, str), str
        ),
    ]
    for part in parts:
        again = wire.build(request_class, version, part(fields))
        assert again.to_dict(json=False) == fields


def test_a_function_may_fail_one_entry_of_what_it_sees(cluster: Cluster) -> None:
    def decide(seen: Seen) -> Fail:
        return Fail(6, of=frozenset({f"{seen.request.topics[1].name}-0"}))

    cluster.intercept("ListOffsets", decide)
    codes = _codes(ask(cluster, 1, ListOffsetsRequest, 5, _offsets()).topics)
    assert [name for name, code in codes.items() if code] == ["payments-0"]
