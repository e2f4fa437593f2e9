from __future__ import annotations

import contextlib
import struct
import tracemalloc
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from kafka.protocol.api_header import ResponseClassRegistry
from kafka.protocol.metadata import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    MetadataRequest,
    MetadataResponse,
)
from kafka.protocol.sasl import SaslHandshakeResponse

from kafka_unclean_recovery.cluster.requests.describe import EACH_TOPIC
from kafka_unclean_recovery.cluster.wire import frames, layout, limits
from kafka_unclean_recovery.cluster.wire.api import Message, answer_reader
from kafka_unclean_recovery.cluster.wire.cluster_apis import API_VERSIONS, METADATA
from kafka_unclean_recovery.cluster.wire.log_apis import DESCRIBE_LOG_DIRS
from kafka_unclean_recovery.cluster.wire.notation import row


def test_the_response_class_stands_beside_the_request(monkeypatch: pytest.MonkeyPatch) -> None:
    # kafka-python's own registry gives the class that was defined last.
    monkeypatch.setitem(ResponseClassRegistry._response_class_registry, 3, SaslHandshakeResponse)
    assert frames.response_class(MetadataRequest()) is MetadataResponse
    assert frames.response_class(ApiVersionsRequest(version=0)) is ApiVersionsResponse


@pytest.mark.parametrize("length", [4, 5, limits.MAX_FRAME_BYTES])
def test_frame_lengths_within_the_bounds(length: int) -> None:
    assert frames.frame_length(struct.pack(">i", length)) == length


@pytest.mark.parametrize("length", [-(2**31), -1, 0, 3, limits.MAX_FRAME_BYTES + 1, 2**31 - 1])
def test_frame_lengths_beyond_the_bounds(length: int) -> None:
    with pytest.raises(ValueError, match="Kafka port"):
        frames.frame_length(struct.pack(">i", length))


@pytest.mark.parametrize("request_class", [MetadataRequest, ApiVersionsRequest])
@given(body=st.binary(max_size=200), data=st.data())
def test_garbage_raises_only_what_is_caught(
    request_class: type, body: bytes, data: st.DataObject
) -> None:
    version = data.draw(st.integers(0, 4 if request_class is ApiVersionsRequest else 13))
    with contextlib.suppress(*frames.DECODE_ERRORS):
        frames.decode_answer(request_class(), version, b"\0\0\0\1" + body)


@given(st.data())
def test_truncation_raises_only_what_is_caught(data: st.DataObject) -> None:
    version = data.draw(st.integers(0, 13))
    response = _rich_metadata(version)
    response.with_header(1)
    frame = bytes(response.encode(header=True))
    cut = data.draw(st.integers(4, len(frame) - 1))
    with contextlib.suppress(*frames.DECODE_ERRORS):
        frames.decode_answer(MetadataRequest(), version, frame[:cut])
    whole = frames.decode_answer(MetadataRequest(), version, frame)
    assert [broker.host for broker in whole.brokers] == ["b1"]


@given(st.lists(st.tuples(st.integers(0, 2**31 - 1), st.binary(max_size=300)), max_size=4))
@example([(0, b"x" * 200)])
def test_tagged_fields_of_a_header_are_skipped(tags: list[tuple[int, bytes]]) -> None:
    section = _varint(len(tags)) + b"".join(_varint(t) + _varint(len(v)) + v for t, v in tags)
    response = _rich_metadata(9)
    frame = b"\0\0\0\7" + section + bytes(response.encode())
    assert frames.correlation_id_of(frame) == 7
    assert frames.decode_answer(MetadataRequest(), 9, frame) == response


def _rich_metadata(version: int) -> Any:
    broker = MetadataResponse.MetadataResponseBroker(node_id=1, host="b1", port=9092, rack=None)
    return MetadataResponse(
        version=version, brokers=[broker], cluster_id="c", controller_id=1, topics=[]
    )


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


@pytest.mark.parametrize(("error", "read_as"), [(35, 0), (129, 5), (42, 5), (0, 5)])
def test_only_a_version_that_is_not_spoken_is_answered_in_version_0(
    error: int, read_as: int
) -> None:
    fields: dict[str, Any] = {"error_code": error, "api_keys": [], "throttle_time_ms": 7}
    fields |= {"supported_features": [], "finalized_features": []}
    body = bytearray()
    kind = row(API_VERSIONS.answer)
    layout.writer(kind, read_as, API_VERSIONS.is_flexible(read_as))(body, fields)
    answer = frames.decode_answer(Message(API_VERSIONS, {}), 5, b"\0\0\0\1" + bytes(body))
    assert answer["error_code"] == error
    assert answer["throttle_time_ms"] == (7 if read_as else None)


DESCRIBED = 4
LOG_DIRS = Message(DESCRIBE_LOG_DIRS, {"topics": None})


def log_dirs(topics: bytes, count: int, tags: bytes = b"\0") -> bytes:
    """Return an answer of version 4 with one directory of these topics."""
    head = b"\0\0\0\1\0" + struct.pack(">ih", 0, 0) + b"\2\0\0\2d"
    return head + _varint(count + 1) + topics + struct.pack(">qq", 1, 1) + b"\0" + tags


@pytest.mark.parametrize(
    ("answer", "most"),
    [
        (log_dirs(b"\1\1\0" * (2 << 20), 2 << 20), 40 << 20),
        (log_dirs(b"", 0, _varint(1 << 20) + b"\7\0" * (1 << 20)), 8 << 20),
        (log_dirs(b"", 0, _varint(1) + b"\7" + _varint(8 << 20) + bytes(8 << 20)), 40 << 20),
    ],
    ids=["topics that are nothing", "many tagged fields", "a large tagged field"],
)
def test_a_small_answer_takes_little_memory(answer: bytes, most: int) -> None:
    tracemalloc.start()
    try:
        with contextlib.suppress(*frames.DECODE_ERRORS):
            frames.decode_answer(LOG_DIRS, DESCRIBED, answer)
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


def test_a_large_answer_that_is_in_order_is_read() -> None:
    """As of a broker with 20,000 topics of one partition."""
    topics = b"".join(
        b"\x0btopic%05d\2" % number + struct.pack(">iqq?", 0, 7, 0, False) + b"\0\0"
        for number in range(20_000)
    )
    found = frames.decode_answer(LOG_DIRS, DESCRIBED, log_dirs(topics, 20_000))
    assert len(found["results"][0]["topics"]) == 20_000


def _metadata(topics: int, partitions: int) -> bytes:
    """Return an answer of version 12 about topics of so many partitions on three brokers."""
    partition = {
        "error_code": 0,
        "leader_id": 1,
        "leader_epoch": 5,
        "replica_nodes": [1, 2, 3],
        "isr_nodes": [1, 2, 3],
        "offline_replicas": [],
    }
    rows = [
        {
            "error_code": 0,
            "name": f"topic{number}",
            "topic_id": bytes(16),
            "is_internal": False,
            "topic_authorized_operations": -(2**31),
            "partitions": [{**partition, "partition_index": n} for n in range(partitions)],
        }
        for number in range(topics)
    ]
    fields = {"throttle_time_ms": 0, "brokers": [], "cluster_id": "c", "controller_id": 1}
    body = bytearray(b"\0\0\0\1\0")
    layout.writer(row(METADATA.answer), 12, flexible=True)(body, {**fields, "topics": rows})
    return bytes(body)


def test_a_cluster_of_many_partitions_is_read_a_topic_at_a_time() -> None:
    """A million partitions have room so, whose rows would take twice as much as may be taken."""
    frame = _metadata(topics=200, partitions=50)
    tracemalloc.start()
    try:
        told = frames.decode_answer(Message(METADATA, {}, EACH_TOPIC), 12, frame)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert sum(len(topic.partitions) for topic in told["topics"]) == 10_000
    assert peak / 10_000 < limits.most_memory("Metadata", 1_000_000 * len(frame) // 10_000) / 1e6
    assert peak / 10_000 < 500


def test_what_a_cluster_takes_is_counted_as_it_is_read() -> None:
    frame = limits.BoundedAnswer(_metadata(topics=10, partitions=50))
    frame.left = 10 * EACH_TOPIC.kept(_topic(frame)) + 100_000
    answer_reader(METADATA, 12, EACH_TOPIC)(frame, 5)
    assert frame.left < 100_000
    frame.left = 9 * EACH_TOPIC.kept(_topic(frame))
    with pytest.raises(ValueError, match="more values than what was asked for has"):
        answer_reader(METADATA, 12, EACH_TOPIC)(frame, 5)


def _topic(frame: bytes) -> Any:
    """Return the first topic of an answer about some."""
    return answer_reader(METADATA, 12, EACH_TOPIC)(bytes(frame), 5)[0]["topics"][0]
