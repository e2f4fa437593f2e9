from __future__ import annotations

import asyncio
import socket
import struct
import time
from collections.abc import Callable
from functools import partial
from typing import Any
from unittest.mock import patch

import pytest
from kafka.protocol.admin.cluster import DescribeClusterRequest
from kafka.protocol.metadata import MetadataRequest, MetadataResponse

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.wire import frames
from kafka_unclean_recovery.cluster.wire.api import Message
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, FailureKind
from kafka_unclean_recovery.cluster.wire.log_apis import DESCRIBE_LOG_DIRS, FETCH, LIST_OFFSETS
from kafka_unclean_recovery.deadline import Deadline

from .fake_node import (
    VERSIONS,
    Behaviour,
    Kafka,
    Received,
    ample,
    deaf,
    framed,
    hanging_up,
    in_loop,
    listening,
    metadata,
    read_request,
    saying,
    silent,
    soon,
)

CONFIG = ClientConfig(client_id="me")
LOG_DIRS = Message(DESCRIBE_LOG_DIRS, {"topics": None})


def all_topics() -> Any:
    return MetadataRequest(topics=None)


async def failure_of_opening(behaviour: Behaviour, deadline: Deadline) -> ConnectionFailed:
    async with listening(behaviour) as port:
        with pytest.raises(ConnectionFailed) as caught:
            await Connection.open("127.0.0.1", port, CONFIG, deadline)
        assert caught.value.address == f"127.0.0.1:{port}"
    return caught.value


async def failure_of_asking(behaviour: Behaviour) -> tuple[ConnectionFailed, Connection]:
    async with listening(behaviour) as port:
        connection = await Connection.open("127.0.0.1", port, CONFIG, ample())
        with pytest.raises(ConnectionFailed) as caught:
            await connection.request(all_topics(), ample())
        await connection.close()
    return caught.value, connection


@in_loop
async def test_a_small_request_behind_another_is_not_held_back_for_its_acknowledgement() -> None:
    async with (
        listening(Kafka()) as port,
        await Connection.open("127.0.0.1", port, CONFIG, ample()) as connection,
    ):
        sock = connection._writer.get_extra_info("socket")
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@in_loop
async def test_a_request_gets_its_answer_at_the_highest_common_version() -> None:
    node = Kafka()
    async with (
        listening(node) as port,
        await Connection.open("127.0.0.1", port, CONFIG, ample()) as connection,
    ):
        answer = await connection.request(all_topics(), ample())
        assert connection.versions == VERSIONS
        assert not connection.closed
    assert connection.closed
    assert (answer.cluster_id, answer.version) == ("the-cluster", 12)
    assert node.received[-1].version == 12
    assert node.received[-1].message.header.client_id == "me"


@in_loop
async def test_a_version_asked_for_is_the_version_sent() -> None:
    node = Kafka()
    async with (
        listening(node) as port,
        await Connection.open("127.0.0.1", port, CONFIG, ample()) as connection,
    ):
        request = all_topics()
        assert (await connection.request(request, ample(), version=5)).version == 5
        assert (await connection.request(request, ample())).version == 12
    assert [r.version for r in node.received if r.key == 3] == [5, 12]


@in_loop
async def test_what_the_node_does_not_advertise_is_not_sent() -> None:
    node = Kafka(versions={**VERSIONS, 3: (5, 9)})
    async with (
        listening(node) as port,
        await Connection.open("127.0.0.1", port, CONFIG, ample()) as connection,
    ):
        for request, version in (
            (DescribeClusterRequest(), None),
            (all_topics(), 4),
            (all_topics(), 10),
            (all_topics(), 99),
        ):
            with pytest.raises(ConnectionFailed, match="nothing was sent") as caught:
                await connection.request(request, ample(), version)
            assert caught.value.kind is FailureKind.UNSUPPORTED_VERSION
        assert not connection.closed
    assert {r.key for r in node.received} == {18}


@in_loop
async def test_version_for_is_what_both_sides_speak() -> None:
    async with (
        listening(Kafka(versions={18: (0, 4), 3: (4, 99)})) as port,
        await Connection.open("127.0.0.1", port, CONFIG, ample()) as connection,
    ):
        assert connection.version_for(MetadataRequest) == MetadataRequest.max_version
        assert connection.version_for(MetadataRequest, at_most=7) == 7
        assert connection.version_for(MetadataRequest, at_most=3) is None
        assert connection.version_for(DescribeClusterRequest) is None


@in_loop
async def test_an_old_node_is_asked_for_its_versions_in_its_own() -> None:
    node = Kafka(versions={18: (0, 0), 3: (0, 5)})
    async with (
        listening(node) as port,
        await Connection.open("127.0.0.1", port, CONFIG, ample()) as connection,
    ):
        assert connection.versions == {18: (0, 0), 3: (0, 5)}
    assert [r.version for r in node.received] == [3, 0]


@in_loop
async def test_concurrent_requests_share_one_connection() -> None:
    count = 300

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        node = Kafka()
        writer.write(framed(node._api_versions(3), (await read_request(reader)).correlation_id))
        # Nothing is answered before everything has arrived, and then in one write.
        requests = [await read_request(reader) for _ in range(count)]
        writer.write(
            b"".join(
                framed(metadata(r, r.message.topics[0].name), r.correlation_id) for r in requests
            )
        )
        await silent(reader, writer)

    async with (
        listening(behave) as port,
        await Connection.open("127.0.0.1", port, CONFIG, ample()) as connection,
    ):
        topics = [MetadataRequest.MetadataRequestTopic(name=str(n)) for n in range(count)]
        answers = await asyncio.gather(
            *(connection.request(MetadataRequest(topics=[t]), ample()) for t in topics)
        )
    assert [answer.cluster_id for answer in answers] == [str(n) for n in range(count)]


@in_loop
async def test_a_late_answer_is_thrown_away_and_the_connection_lives_on() -> None:
    late: list[Received] = []

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        node = Kafka()
        writer.write(framed(node._api_versions(3), (await read_request(reader)).correlation_id))
        late.append(await read_request(reader))
        second = await read_request(reader)
        writer.write(framed(metadata(late[0], "late"), late[0].correlation_id))
        writer.write(framed(metadata(second, "second"), second.correlation_id))
        await silent(reader, writer)

    async with (
        listening(behave) as port,
        await Connection.open("127.0.0.1", port, CONFIG, ample()) as connection,
    ):
        with pytest.raises(ConnectionFailed) as caught:
            await connection.request(all_topics(), soon())
        assert caught.value.kind is FailureKind.TIMED_OUT
        assert (await connection.request(all_topics(), ample())).cluster_id == "second"


@in_loop
async def test_a_request_whose_deadline_has_passed_is_not_sent() -> None:
    node = Kafka()
    async with (
        listening(node) as port,
        await Connection.open("127.0.0.1", port, CONFIG, ample()) as connection,
    ):
        with pytest.raises(ConnectionFailed, match="nothing was sent") as caught:
            await connection.request(all_topics(), Deadline.after(0))
        assert caught.value.kind is FailureKind.TIMED_OUT
        await connection.request(all_topics(), ample())
    assert len([r for r in node.received if r.key == 3]) == 1


@in_loop
async def test_tagged_fields_of_the_answers_header_are_skipped() -> None:
    def tag(response: bytes) -> bytes:
        # One tag, number 0, of two bytes, where the empty section stood.
        body = response[4:8] + b"\x01\x00\x02hi" + response[9:]
        return struct.pack(">i", len(body)) + body

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(framed(Kafka()._api_versions(3), (await read_request(reader)).correlation_id))
        request = await read_request(reader)
        writer.write(tag(framed(metadata(request), request.correlation_id)))
        await silent(reader, writer)

    async with (
        listening(behave) as port,
        await Connection.open("127.0.0.1", port, CONFIG, ample()) as connection,
    ):
        answer = await connection.request(all_topics(), ample())
        assert answer.cluster_id == "the-cluster"


@in_loop
async def test_closing_fails_what_is_in_flight_and_may_be_repeated() -> None:
    async with listening(Kafka(answer=lambda _: None)) as port:
        connection = await Connection.open("127.0.0.1", port, CONFIG, ample())
        asking = asyncio.create_task(connection.request(all_topics(), ample()))
        await asyncio.sleep(0)
        await connection.close()
        await connection.close()
        with pytest.raises(ConnectionFailed) as caught:
            await asking
        assert caught.value.kind is FailureKind.DISCONNECTED
        with pytest.raises(ConnectionFailed):
            await connection.request(all_topics(), ample())


@in_loop
async def test_a_cancelled_request_leaves_nothing_behind() -> None:
    async with (
        listening(Kafka(answer=lambda _: None)) as port,
        await Connection.open("127.0.0.1", port, CONFIG, ample()) as connection,
    ):
        asking = asyncio.create_task(connection.request(all_topics(), ample()))
        await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert not connection.closed


@in_loop
async def test_a_cancelled_opening_leaves_nothing_behind() -> None:
    async with listening(silent) as port:
        opening = asyncio.create_task(Connection.open("127.0.0.1", port, CONFIG, ample()))
        await asyncio.wait([opening], timeout=0.1)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening


@in_loop
async def test_a_node_that_hangs_up_on_a_request() -> None:
    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(framed(Kafka()._api_versions(3), (await read_request(reader)).correlation_id))
        await read_request(reader)

    failure, connection = await failure_of_asking(behave)
    assert failure.kind is FailureKind.DISCONNECTED
    assert connection.closed


def broken_answers() -> dict[str, bytes]:
    """Return bytes that follow ApiVersions in place of an answer to request 2."""
    whole = framed(
        MetadataResponse(version=12, brokers=[], cluster_id="x" * 50, controller_id=1, topics=[]), 2
    )
    return {
        "truncated body": struct.pack(">i", 20) + whole[4:24],
        "header alone": struct.pack(">i", 4) + whole[4:8],
        "shorter than a header": b"\0\0\0\x02ab",
        "negative length": b"\xff\xff\xff\xfe",
        "length beyond the limit": struct.pack(">i", 256 * 1024 * 1024 + 1),
        "a request never sent": struct.pack(">i", 8) + struct.pack(">i", 77) + b"abcd",
        "garbage body": struct.pack(">i", 44) + whole[4:8] + b"\xff" * 40,
    }


@pytest.mark.parametrize("name", broken_answers())
@in_loop
async def test_an_answer_that_cannot_be_read_ends_the_connection(name: str) -> None:
    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(framed(Kafka()._api_versions(3), (await read_request(reader)).correlation_id))
        await read_request(reader)
        writer.write(broken_answers()[name])
        await silent(reader, writer)

    failure, connection = await failure_of_asking(behave)
    assert failure.kind is FailureKind.BAD_ANSWER
    assert connection.closed


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "speaks HTTP"),
        (b"\x15\x03\x03\x00\x02\x02\x46", "security.protocol to SSL"),
        (b"220 mail.example.org ESMTP\r\n", "is this a Kafka port"),
        (b"\0\0\0\0", "is this a Kafka port"),
    ],
)
@in_loop
async def test_a_peer_that_is_not_kafka(text: bytes, hint: str) -> None:
    failure = await failure_of_opening(saying(text), ample())
    assert failure.kind is FailureKind.WRONG_PROTOCOL
    assert hint in failure.sentence


@in_loop
async def test_a_peer_that_hangs_up_on_the_first_request() -> None:
    failure = await failure_of_opening(hanging_up, ample())
    assert failure.kind is FailureKind.WRONG_PROTOCOL
    assert "security.protocol" in failure.sentence


@in_loop
async def test_a_closed_port() -> None:
    async with listening(silent) as port:
        pass
    with pytest.raises(ConnectionFailed) as caught:
        await Connection.open("127.0.0.1", port, CONFIG, ample())
    assert caught.value.kind is FailureKind.CLOSED_PORT
    assert str(caught.value).startswith(f"127.0.0.1:{port}: no connection (connection refused)")


@pytest.mark.parametrize("host", ["no.such.host.invalid", "a" * 70, "a..b", "with\0nul"])
@in_loop
async def test_a_host_that_does_not_resolve(host: str) -> None:
    with pytest.raises(ConnectionFailed) as caught:
        await Connection.open(host, 9092, CONFIG, ample())
    assert caught.value.kind is FailureKind.UNRESOLVED_HOST


@pytest.mark.parametrize("behaviour", [silent, deaf, saying(b"\0\0"), saying(b"\0\0\x10\0abc")])
@in_loop
async def test_opening_ends_at_the_deadline(behaviour: Behaviour) -> None:
    failure = await failure_of_opening(behaviour, soon())
    assert failure.kind is FailureKind.TIMED_OUT


@in_loop
async def test_a_request_to_a_node_that_stopped_reading_ends_at_the_deadline() -> None:
    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(framed(Kafka()._api_versions(3), (await read_request(reader)).correlation_id))
        await deaf(reader, writer)

    async with (
        listening(behave) as port,
        await Connection.open("127.0.0.1", port, CONFIG, ample()) as connection,
    ):
        # More than both socket buffers hold.
        names = [MetadataRequest.MetadataRequestTopic(name="t" * 30_000) for _ in range(400)]
        with pytest.raises(ConnectionFailed) as caught:
            await connection.request(MetadataRequest(topics=names), soon())
        assert caught.value.kind is FailureKind.TIMED_OUT


def answering(answer: Callable[[int, int], bytes]) -> Behaviour:
    """Return a node that tells that it speaks Metadata, Fetch and DescribeLogDirs, and answers
    whatever is asked with what `answer` makes of (api key, correlation id)."""

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        versions = Kafka(versions=VERSIONS | {1: (12, 12), 35: (4, 4)})._api_versions(3)
        writer.write(framed(versions, (await read_request(reader)).correlation_id))
        while True:
            frame = await reader.readexactly(struct.unpack(">i", await reader.readexactly(4))[0])
            key, _, correlation_id = struct.unpack_from(">hhi", frame)
            writer.write(answer(key, correlation_id))

    return behave


@in_loop
async def test_an_answer_that_is_longer_than_what_was_asked_for_is_not_read() -> None:
    """It announces 100 MiB, and sends none of them."""
    start = partial(struct.pack, ">ii", 100 << 20)
    async with (
        listening(answering(lambda _, correlation_id: start(correlation_id))) as port,
        await Connection.open("127.0.0.1", port, CONFIG, ample()) as connection,
    ):
        with pytest.raises(ConnectionFailed) as caught:
            await connection.request(LOG_DIRS, ample())
        assert caught.value.kind is FailureKind.BAD_ANSWER
        assert "its answer to DescribeLogDirs has 104857600 bytes" in caught.value.sentence
        with pytest.raises(ConnectionFailed, match="104857600 bytes"):
            await connection.request(LOG_DIRS, ample())


@in_loop
async def test_a_question_about_the_end_of_a_log_gets_no_answer_as_large_as_records() -> None:
    def fetch(most: int) -> Message:
        fields = {"replica_id": -3, "max_wait_ms": 0, "min_bytes": 0, "topics": []}
        return Message(FETCH, {**fields, "max_bytes": most})

    start = partial(struct.pack, ">ii", 100 << 20)
    for most, kind in ((1, FailureKind.BAD_ANSWER), (8 << 20, FailureKind.TIMED_OUT)):
        async with (
            listening(answering(lambda _, correlation_id: start(correlation_id))) as port,
            await Connection.open("127.0.0.1", port, CONFIG, ample()) as connection,
        ):
            with pytest.raises(ConnectionFailed) as caught:
                await connection.request(fetch(most), Deadline.after(1.0), version=12)
            assert caught.value.kind is kind


@in_loop
async def test_one_brokers_excess_does_not_hold_up_the_answers_of_others() -> None:
    """While 8 MiB that mean nothing are decoded, the loop goes on."""
    rows = b"\2\0\0\2d" + b"\x81\x80\x80\x01" + (b"\2a\1\0" * (1 << 21))
    body = b"\0" + struct.pack(">ih", 0, 0) + rows
    longest, going = 0.0, True

    async def watch() -> None:
        nonlocal longest
        while going:
            begun = time.monotonic()
            await asyncio.sleep(0.001)
            longest = max(longest, time.monotonic() - begun)

    node = answering(lambda _, i: struct.pack(">ii", len(body) + 4, i) + body)
    async with (
        listening(node) as port,
        await Connection.open("127.0.0.1", port, CONFIG, ample()) as connection,
    ):
        decoding = asyncio.Event()
        original = frames.decode_answer

        def decode(*args: Any) -> Any:
            loop.call_soon_threadsafe(decoding.set)
            return original(*args)

        loop = asyncio.get_running_loop()
        with patch.object(frames, "decode_answer", decode):
            asking = asyncio.create_task(connection.request(LOG_DIRS, ample()))
            await decoding.wait()
            watching = asyncio.create_task(watch())
            with pytest.raises(ConnectionFailed, match="can't be read"):
                await asking
            going = False
            await watching
    assert longest < 0.5


@in_loop
async def test_what_can_not_be_made_of_an_answer_is_the_nodes_bad_answer() -> None:
    def made(_: object) -> None:
        raise ValueError("two logs of one broker")

    async with (
        listening(Kafka()) as port,
        await Connection.open("127.0.0.1", port, CONFIG, ample()) as connection,
    ):
        with pytest.raises(ConnectionFailed, match="can't be read") as caught:
            await connection.request(all_topics(), ample(), made=made)
        assert caught.value.kind is FailureKind.BAD_ANSWER


@in_loop
async def test_an_answer_that_came_while_this_process_stood_still_is_not_late() -> None:
    async with (
        listening(Kafka()) as port,
        await Connection.open("127.0.0.1", port, CONFIG, ample()) as connection,
    ):
        asking = asyncio.create_task(connection.request(all_topics(), Deadline.after(0.1)))
        await asyncio.sleep(0)
        time.sleep(0.3)  # As when the machine, or another answer, takes all the time there is.
        assert (await asking).cluster_id == "the-cluster"


@in_loop
async def test_a_number_out_of_range_that_a_node_told_is_no_traceback() -> None:
    """As of a leader epoch that it tells, one below which is asked for next."""
    node = Kafka()
    async with (
        listening(node) as port,
        await Connection.open("127.0.0.1", port, CONFIG, ample()) as connection,
    ):
        connection.versions = {**connection.versions, 2: (1, 7)}
        wrong = Message(LIST_OFFSETS, {"replica_id": -(2**31) - 1, "topics": []})
        with pytest.raises(ConnectionFailed, match="out of range") as caught:
            await connection.request(wrong, ample())
        assert caught.value.kind is FailureKind.BAD_ANSWER
        assert (await connection.request(all_topics(), ample())).cluster_id == "the-cluster"
