"""The next requests of an API: refused, unanswered, hung up on, late."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator
from typing import Any

import pytest
from kafka.protocol.metadata import ApiVersionsRequest, MetadataRequest
from kafka.protocol.producer.produce import ProduceRequest

from kafka_unclean_recovery.cluster.wire import frames
from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.apis.supported import apis
from kafka_unclean_recovery.emulator.listener import wire
from kafka_unclean_recovery.emulator.listener.failure_answers import failed
from kafka_unclean_recovery.emulator.listener.intercepts import (
    Close,
    Delay,
    Fail,
    Hold,
    NoAnswer,
    Seen,
)
from kafka_unclean_recovery.emulator.listener.wire import response_class
from kafka_unclean_recovery.kraft_rules.releases import KIP_966
from kafka_unclean_recovery.mechanisms import Dialect
from kafka_unclean_recovery.messages.elect_leaders import ElectLeadersRequest
from tests.emulator.asking import address, ask
from tests.emulator.holding import held_while
from tests.fidelity.wire import Wire
from tests.messages.building import build

TOPIC = "orders"
TABLE = apis(KIP_966, Dialect.KIP_966)


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Yield a cluster in which TOPIC has no leader, and broker 2 could be it."""
    with Cluster(Options(brokers=3)) as running:
        running.create_topic(TOPIC, assignment=[(1, 2)])
        running.lag(2)
        running.produce(TOPIC, 0, 1, acks="1")
        running.kill(2)
        running.fence(2)
        running.kill(1)
        running.fence(1)
        running.start(2)
        assert running.partition(TOPIC, 0).leader == -1
        yield running


def _elect(cluster: Cluster) -> Any:
    return ask(cluster, 2, ElectLeadersRequest, 2, ELECT)


ELECT = {"election_type": 1, "topic_partitions": [{"topic": TOPIC, "partitions": [0]}]}


def _leader(cluster: Cluster) -> int:
    return cluster.partition(TOPIC, 0).leader


def test_an_error_is_answered_and_nothing_is_carried_out_so_many_times(cluster: Cluster) -> None:
    cluster.intercept("ElectLeaders", Fail(41), times=2)
    for _ in range(2):
        answer = _elect(cluster)
        result = answer.replica_election_results[0]
        assert (answer.error_code, result.topic) == (41, TOPIC)
        assert [(r.partition_id, r.error_code) for r in result.partition_result] == [(0, 41)]
        assert _leader(cluster) == -1
    assert _elect(cluster).error_code == 0
    assert _leader(cluster) == 2


def test_a_producer_that_wants_no_answer_is_hung_up_on_instead_of_an_error(
    cluster: Cluster,
) -> None:
    cluster.intercept("Produce", Fail(6))
    with pytest.raises(ConnectionResetError):
        ask(cluster, 2, ProduceRequest, 9, {"acks": 0, "timeout_ms": 1, "topic_data": []})


@pytest.mark.parametrize(("carried_out", "leader"), [(True, 2), (False, -1)])
def test_the_answer_never_comes_whether_it_was_carried_out_or_not(
    cluster: Cluster, carried_out: bool, leader: int
) -> None:
    taken = cluster.intercept("ElectLeaders", NoAnswer(carried_out))
    with Wire(*address(cluster, 2)) as asking:
        asking._socket.settimeout(0.2)
        with pytest.raises(TimeoutError):
            asking.ask(build(ElectLeadersRequest, ELECT), 2)
        with pytest.raises(TimeoutError):
            asking.ask(ApiVersionsRequest(), 3)
    assert (len(taken.requests), _leader(cluster)) == (1, leader)


@pytest.mark.parametrize(("carried_out", "leader"), [(True, 2), (False, -1)])
def test_the_connection_is_closed_before_it_is_carried_out_or_after(
    cluster: Cluster, carried_out: bool, leader: int
) -> None:
    cluster.intercept("ElectLeaders", Close(carried_out))
    with pytest.raises(ConnectionResetError):
        _elect(cluster)
    assert _leader(cluster) == leader
    assert ask(cluster, 2, ApiVersionsRequest, 3, {}).error_code == 0


def test_a_delayed_request_is_carried_out_late(cluster: Cluster) -> None:
    cluster.intercept("ElectLeaders", Delay(0.3))
    begin = time.monotonic()
    assert _elect(cluster).error_code == 0
    assert time.monotonic() - begin >= 0.3
    assert _leader(cluster) == 2


def test_a_held_request_is_carried_out_once_it_is_let_go(cluster: Cluster) -> None:
    killed: list[int] = []

    def act() -> None:
        assert _leader(cluster) == -1
        killed.append(3)
        cluster.kill(3)

    cluster.intercept("ElectLeaders", lambda _: held_while(act))
    assert _elect(cluster).error_code == 0
    assert killed == [3]
    assert _leader(cluster) == 2


def test_a_request_that_nobody_lets_go_ends_with_its_connection(cluster: Cluster) -> None:
    cluster.intercept("ElectLeaders", Hold(lambda: False, seconds=0.1))
    with pytest.raises(ConnectionResetError):
        _elect(cluster)
    assert _leader(cluster) == -1


def test_a_function_sees_the_request_and_may_let_it_pass(cluster: Cluster) -> None:
    def decide(seen: Seen) -> Fail | None:
        return Fail(3) if seen.request.topics is not None else None

    taken = cluster.intercept("Metadata", decide, times=9)
    named = {"topics": [{"name": TOPIC}]}
    assert ask(cluster, 2, MetadataRequest, 9, named).topics[0].error_code == 3
    assert ask(cluster, 2, MetadataRequest, 9, {"topics": None}).topics[0].error_code == 0
    assert [(seen.api, seen.broker, seen.version) for seen in taken.requests] == [
        ("Metadata", 2, 9)
    ]
    assert taken.left == 8


def test_a_rule_is_of_one_broker_and_one_api_and_earlier_rules_come_first(
    cluster: Cluster,
) -> None:
    cluster.start(1)
    cluster.intercept(3, Fail(1), broker=1)
    cluster.intercept("metadata", Fail(2))
    named = {"topics": [{"name": TOPIC}]}
    codes = [
        ask(cluster, broker, MetadataRequest, 9, named).topics[0].error_code
        for broker in (2, 2, 1, 1)
    ]
    assert codes == [2, 0, 1, 0]


def test_a_rule_that_was_cancelled_or_cleared_takes_nothing(cluster: Cluster) -> None:
    cancelled = cluster.intercept("ElectLeaders", Fail(41))
    assert len(cluster.status().faults) == 2
    cancelled.cancel()
    cluster.intercept("ElectLeaders", Fail(41))
    cluster.clear_intercepts()
    assert _elect(cluster).error_code == 0


def test_somebody_can_wait_for_a_request_to_come(cluster: Cluster) -> None:
    taken = cluster.intercept("ApiVersions", Delay(0))
    ask(cluster, 2, ApiVersionsRequest, 3, {})
    assert cluster.wait_until(lambda _: taken.requests)[0].key == 18


@pytest.mark.parametrize(
    ("api", "broker", "times", "says"),
    [
        ("Elect", None, 1, "Elect is no API .* ElectLeaders"),
        (9999, None, 1, "9999 is no API"),
        ("ElectLeaders", 9, 1, "no broker 9"),
        ("ElectLeaders", None, 0, "once at least"),
    ],
)
def test_a_rule_that_can_apply_to_nothing_is_refused(
    cluster: Cluster, api: str | int, broker: int | None, times: int, says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        cluster.intercept(api, Fail(1), broker=broker, times=times)


def _entries(container: Any, version: int, depth: int = 0) -> dict[str, Any]:
    """Return one entry in each array, told apart by the name of its field."""
    found: dict[str, Any] = {}
    for name, field in container.fields.items():
        if not field.for_version_q(version) or field.tagged_field_q(version):
            continue
        if field.is_struct_array():
            found[name] = [_entries(field.data_class, version, depth + 1)]
        elif field.is_array():
            found[name] = ["t" if field.array_of.type_str == "string" else NUMBER]
        elif depth and field.type_str == "string":
            found[name] = "t"
        elif depth and name in PARTITION:
            found[name] = NUMBER
    return found


def _errors(value: Any) -> Iterator[int]:
    if isinstance(value, dict):
        for name, each in value.items():
            if name == "error_code":
                yield each
            yield from _errors(each)
    elif isinstance(value, list):
        for each in value:
            yield from _errors(each)


NUMBER = 4711
PARTITION = {"index", "partition", "partition_index", "partition_id"}


def _tells_partitions(container: Any) -> bool:
    """Return whether an entry of the answer is about one partition, and has an error."""
    names = container.fields.keys()
    nested = [field for field in container.fields.values() if field.is_struct_array()]
    return bool("error_code" in names and PARTITION & names) or any(
        _tells_partitions(field.data_class) for field in nested
    )


# What has no error at the top in that version, and nothing in it that was asked for.
TELL_NOTHING = {("DescribeLogDirsRequest", version) for version in (1, 2)}


@pytest.mark.parametrize(
    ("key", "version"),
    [(key, v) for key, api in TABLE.items() for v in range(api.lowest, api.highest + 1)],
)
def test_every_version_of_every_api_can_fail_with_any_error(key: int, version: int) -> None:
    request_class = TABLE[key].request
    asked = _entries(request_class, version)
    request = wire.build(request_class, version, asked)
    answer = wire.encode(request_class, version, 5, failed(request_class, request, 87))
    decoded = _decoded(request_class, version, answer)
    found = set(_errors(decoded))
    told = (request_class.name, version) not in TELL_NOTHING
    assert found == ({87} if told else set())
    # Who asked for a partition hears of that one, where the answer has an error for it.
    named = str(NUMBER) in str(asked) and _tells_partitions(response_class(request_class))
    assert (str(NUMBER) in str(decoded)) == named


def _decoded(request_class: Any, version: int, answer: bytes) -> Any:
    if request_class is ApiVersionsRequest:
        # kafka-python takes every error for the one that is answered in version 0.
        return {"error_code": struct.unpack(">h", answer[8:10])[0]}
    request = build(request_class, {})
    return frames.decode_answer(request, version, answer[4:]).to_dict(json=False)
