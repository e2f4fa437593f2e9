"""How much one answer holds, and how the rest is told (KIP-966)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import pytest
from kafka.protocol.admin.configs import IncrementalAlterConfigsRequest
from kafka.protocol.admin.topics import CreateTopicsRequest, DescribeTopicPartitionsRequest

from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.listener.request_limits import PARTITION_LIMIT, partition_limit
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.kraft_rules.releases import KAFKA_4_3_1
from kafka_unclean_recovery.kraft_rules.state import State
from kafka_unclean_recovery.messages.elect_leaders import DESIGNATED, ElectLeadersRequest
from tests.fidelity.wire import Wire
from tests.messages.building import build

SIZES = {"a": 5, "b": 1, "c": 4}
EVERYTHING = [(topic, number) for topic, size in SIZES.items() for number in range(size)]
BROKER, SET, DELETE = 4, 0, 1
CLIENTS_LIMIT = 2000


@pytest.fixture(scope="module")
def wire() -> Iterator[Wire]:
    """Yield a connection to a broker of a cluster whose topics have the SIZES."""
    with Cluster(Options(brokers=1, release="kip-966")) as cluster:
        host, _, port = cluster.bootstrap_servers.rpartition(":")
        with Wire(host, int(port)) as connection:
            topics = [
                {"name": name, "num_partitions": size, "replication_factor": 1}
                for name, size in SIZES.items()
            ]
            values = {"topics": topics, "validate_only": False}
            connection.ask(build(CreateTopicsRequest, values), 7)
            yield connection


def _page(
    wire: Wire,
    limit: int = CLIENTS_LIMIT,
    cursor: tuple[str, int] | None = None,
    topics: Sequence[str] = (),
) -> Any:
    request = DescribeTopicPartitionsRequest
    named = [{"name": name} for name in topics]
    message = build(request, {"topics": named, "response_partition_limit": limit, "cursor": None})
    if cursor is not None:
        message.cursor = request.Cursor(topic_name=cursor[0], partition_index=cursor[1])
    return wire.ask(message, 0)


def _listed(answer: Any) -> list[tuple[str, int]]:
    return [(topic.name, p.partition_index) for topic in answer.topics for p in topic.partitions]


def _next(answer: Any) -> tuple[str, int] | None:
    cursor = answer.next_cursor
    return None if cursor is None else (cursor.topic_name, cursor.partition_index)


def _pages(wire: Wire, limit: int = CLIENTS_LIMIT) -> list[list[tuple[str, int]]]:
    answers = [_page(wire, limit)]
    while (cursor := _next(answers[-1])) is not None:
        answers.append(_page(wire, limit, cursor))
        assert len(answers) <= len(EVERYTHING)
    for before, after in pairwise(answers):
        assert _listed(after)[0] == _next(before)
    return list(map(_listed, answers))


def _alter(wire: Wire, value: str | None) -> int:
    operation = DELETE if value is None else SET
    config = {"name": PARTITION_LIMIT, "config_operation": operation, "value": value}
    resource = {"resource_type": BROKER, "resource_name": "", "configs": [config]}
    values = {"resources": [resource], "validate_only": False}
    answer = wire.ask(build(IncrementalAlterConfigsRequest, values), 1)
    return int(answer.responses[0].error_code)


@pytest.fixture
def three_at_most(wire: Wire) -> Iterator[Wire]:
    assert _alter(wire, "3") == Errors.NONE
    yield wire
    assert _alter(wire, None) == Errors.NONE


def _in_pieces(size: int) -> list[list[tuple[str, int]]]:
    return [EVERYTHING[at : at + size] for at in range(0, len(EVERYTHING), size)]


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 9, 10, 11])
def test_a_client_gets_as_many_partitions_as_it_asks_for_and_a_cursor_to_the_next(
    wire: Wire, limit: int
) -> None:
    assert _pages(wire, limit) == _in_pieces(limit)


@pytest.mark.parametrize("limit", [0, -5])
def test_a_client_that_asks_for_none_gets_one(wire: Wire, limit: int) -> None:
    assert _pages(wire, limit) == _in_pieces(1)


def test_brokers_give_no_more_than_they_are_configured_to(three_at_most: Wire) -> None:
    assert _pages(three_at_most) == _in_pieces(3)
    assert _pages(three_at_most, 2) == _in_pieces(2)


def test_by_default_brokers_give_two_thousand() -> None:
    state = State(KAFKA_4_3_1)
    limits = [partition_limit(state, 1, asked) for asked in (1, 2000, 2001, 5000)]
    assert limits == [1, 2000, 2000, 2000]


def test_a_brokers_own_limit_comes_before_that_of_all() -> None:
    state = State(KAFKA_4_3_1)
    state.cluster_configs[PARTITION_LIMIT] = "7"
    state.broker_configs[1] = {PARTITION_LIMIT: "5"}
    assert [partition_limit(state, broker, 2000) for broker in (1, 2)] == [5, 7]


@pytest.mark.parametrize("value", ["0", "-1", "many", "", str(2**31)])
def test_a_limit_that_is_none_is_refused_and_the_old_one_stays(
    three_at_most: Wire, value: str
) -> None:
    assert _alter(three_at_most, value) == Errors.INVALID_CONFIG
    assert len(_listed(_page(three_at_most))) == 3


def test_a_topic_that_is_not_there_counts_for_nothing_and_a_cursor_may_be_to_one(
    wire: Wire,
) -> None:
    answer = _page(wire, 1, topics=["b", "ab", "x"])
    assert [(t.name, t.error_code) for t in answer.topics] == [
        ("ab", Errors.UNKNOWN_TOPIC_OR_PARTITION),
        ("b", Errors.NONE),
    ]
    assert _next(answer) == ("x", 0)


@pytest.mark.parametrize("cursor", [("b", 0), ("a", -1)])
def test_a_cursor_to_no_partition_of_the_topics_asked_for_is_an_invalid_request(
    wire: Wire, cursor: tuple[str, int]
) -> None:
    answer = _page(wire, cursor=cursor, topics=["a", "c"])
    assert [(t.name, t.error_code) for t in answer.topics] == [
        ("a", Errors.INVALID_REQUEST),
        ("c", Errors.INVALID_REQUEST),
    ]


@pytest.mark.parametrize(("version", "beyond"), [(3, 2), (2, 0)])
def test_no_more_than_a_thousand_leaders_are_elected_by_one_request_of_version_3(
    wire: Wire, version: int, beyond: int
) -> None:
    halves = [
        {"topic": name, "partitions": list(range(501)), "designated_leaders": [1] * 501}
        for name in ("not-there", "nor-this")
    ]
    kind = DESIGNATED if version == 3 else 1
    values = {"election_type": kind, "topic_partitions": halves}
    answer = wire.ask(build(ElectLeadersRequest, values), version)
    errors = [
        result.error_code
        for topic in answer.replica_election_results
        for result in topic.partition_result
    ]
    served = [Errors.UNKNOWN_TOPIC_OR_PARTITION] * (1002 - beyond)
    assert errors == served + [Errors.REQUEST_LIMIT_REACHED] * beyond
