"""What a listener withstands: noise, clients that die, clients that stay and say nothing."""

from __future__ import annotations

import asyncio
import errno
import os
import random
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest
from kafka.protocol.admin.configs import IncrementalAlterConfigsRequest
from kafka.protocol.admin.topics import CreateTopicsRequest
from kafka.protocol.consumer.fetch import FetchRequest
from kafka.protocol.metadata import ApiVersionsRequest, MetadataRequest
from kafka.protocol.producer.produce import ProduceRequest

from kafka_unclean_recovery.cluster.wire.frames import encode_request
from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.apis.api import Context
from kafka_unclean_recovery.emulator.apis.supported import apis
from kafka_unclean_recovery.emulator.listener import request_shape
from kafka_unclean_recovery.emulator.listener.server import Listener
from kafka_unclean_recovery.emulator.security.channel import Incoming
from kafka_unclean_recovery.kraft_rules.releases import KIP_966
from kafka_unclean_recovery.mechanisms import Dialect
from tests.emulator import fuzz
from tests.emulator.fuzz import check_sanity, held, torment, wait_until_nothing_leaked
from tests.emulator.fuzz_frames import frames, valid
from tests.fidelity.wire import Wire
from tests.log_dir.segments import v2
from tests.messages.building import build
from tests.real.waiting import wait_until

SEED = 1275
FUZZ_SECONDS = 8.0
CLIENTS = 200
REQUESTS_EACH = 10
RESET = struct.pack("ii", 1, 0)


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(Options(brokers=2)) as running:
        yield running


def _address(cluster: Cluster) -> tuple[str, int]:
    host, _, port = cluster.bootstrap_servers.partition(",")[0].rpartition(":")
    return host, int(port)


def test_whatever_is_sent_is_answered_or_hung_up_on_and_leaves_nothing() -> None:
    """The whole of it: python -m tests.emulator.fuzz."""
    result = torment(100_000, SEED, FUZZ_SECONDS)
    assert result.frames > 100
    assert 0 < result.answers < result.frames


def test_a_seed_always_gives_the_same_frames() -> None:
    table = list(apis(KIP_966, Dialect.KIP_966).values())
    first, again = (frames(random.Random(SEED), table) for _ in "ab")
    assert [next(first) for _ in range(300)] == [next(again) for _ in range(300)]


# Clients that die.


def test_200_clients_of_which_half_are_killed_get_every_answer_and_leave_nothing(
    cluster: Cluster,
) -> None:
    before = held(cluster)
    check_sanity(cluster)
    _fill(cluster, fuzz.SANE)
    with ThreadPoolExecutor(CLIENTS) as pool:
        doomed = [pool.submit(_die, _address(cluster), number) for number in range(0, CLIENTS, 2)]
        sane = [pool.submit(_ask_sanely, _address(cluster)) for _ in range(1, CLIENTS, 2)]
        assert sum(each.result(60) for each in sane) == CLIENTS // 2 * REQUESTS_EACH
        for each in doomed:
            each.result(60)
    wait_until_nothing_leaked(cluster, before)
    check_sanity(cluster)


def _fill(cluster: Cluster, topic: str) -> None:
    """Write a megabyte, so that no answer with all of it fits into a socket at once."""
    records = v2(count=1, body=b"x" * (1 << 20))
    data = {"name": topic, "partition_data": [{"index": 0, "records": records}]}
    with Wire(*_address(cluster)) as wire:
        wire.ask(build(ProduceRequest, {"acks": 1, "timeout_ms": 1, "topic_data": [data]}), 9)


def _fetch(topic: str, max_wait_ms: int, min_bytes: int) -> Any:
    partition = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 2 << 20}
    values = {"replica_id": -3, "max_wait_ms": max_wait_ms, "min_bytes": min_bytes}
    more = {"max_bytes": 2 << 20, "topics": [{"topic": topic, "partitions": [partition]}]}
    return build(FetchRequest, values | more | {"rack_id": ""})


def _ask_sanely(address: tuple[str, int]) -> int:
    answered = 0
    with Wire(*address) as wire:
        for _ in range(REQUESTS_EACH):
            (topic,) = wire.ask(build(MetadataRequest, {"topics": [{"name": fuzz.SANE}]}), 9).topics
            answered += (topic.error_code, topic.name) == (0, fuzz.SANE)
    return answered


def _die(address: tuple[str, int], number: int) -> None:
    """Die mid-request, while it is carried out, or mid-answer; by a reset or as a process's end."""
    full = bytes(encode_request(_fetch(fuzz.SANE, 0, 1), 12, 1, "doomed"))
    waiting = bytes(encode_request(_fetch(fuzz.SANE, 2**31 - 1, 2**31 - 1), 12, 1, "doomed"))
    with socket.create_connection(address, timeout=60) as sock:
        sock.sendall((full[:30], waiting, full * 20)[number % 3])
        if number % 3 == 2:
            assert sock.recv(1000)
        if number % 4:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)


KILLED = """
import socket, sys, time
socks = [socket.create_connection((sys.argv[1], int(sys.argv[2]))) for _ in range(20)]
for sock in socks:
    sock.sendall(bytes.fromhex(sys.argv[3]))
print("sent", flush=True)
time.sleep(600)
"""


def test_requests_that_wait_for_weeks_end_with_the_process_that_asked(cluster: Cluster) -> None:
    before = held(cluster)
    check_sanity(cluster)
    waiting = encode_request(_fetch(fuzz.SANE, 2**31 - 1, 2**31 - 1), 12, 1, "doomed").hex()
    host, port = _address(cluster)
    command = [sys.executable, "-c", KILLED, host, str(port), waiting]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "sent\n"
        # A task for each connection, and two for its wait.
        wait_until(lambda: held(cluster).tasks >= before.tasks + 40, 60, lambda: "all wait")
        process.kill()
    wait_until_nothing_leaked(cluster, before)


def test_an_answer_that_nobody_reads_is_given_up_when_the_client_closes(cluster: Cluster) -> None:
    before = held(cluster)
    check_sanity(cluster)
    _fill(cluster, fuzz.SANE)
    with socket.create_connection(_address(cluster)) as sock:
        sock.sendall(bytes(encode_request(_fetch(fuzz.SANE, 0, 1), 12, 1, "deaf")) * 20)
        wait_until(lambda: held(cluster).tasks > before.tasks, 60, lambda: "it is served")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    wait_until_nothing_leaked(cluster, before)


# Clients that stay.


class _Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_connection_is_closed_when_nothing_came_or_went_for_too_long() -> None:
    async def run() -> None:
        clock = _Clock()
        listener = Listener("127.0.0.1", 0, max_idle=600.0, clock=clock)
        nobody: Any = None
        listener.open(Context(nobody, nobody, {}, {}, nobody, nobody), {})
        listener.resumed.set()
        silent, half, busy = [await asyncio.open_connection(*listener.address) for _ in range(3)]
        await _until(lambda: len(listener._connections) == 3)
        for now, writer, sent in (
            (1.0, half[1], struct.pack(">i", 9) + b"half"),
            (599.0, busy[1], b"0"),
        ):
            clock.now = now
            writer.write(sent)
            await _until(lambda now=now: now in {i.active_at for i in _incomings(listener)})  # type: ignore[misc]
        clock.now = 600.0
        listener.close_idle()
        assert _closing(listener) == 0
        clock.now = 601.5
        listener.resumed.clear()
        listener.close_idle()
        assert _closing(listener) == 0  # A process that is stopped closes nothing.
        listener.resumed.set()
        listener.close_idle()
        async with asyncio.timeout(60):
            assert await silent[0].read() == b""
            await _until(lambda: len(listener._connections) == 1)
        await listener.close()
        listener.release()
        for _, writer in (silent, half, busy):
            writer.transport.abort()

    asyncio.run(run())


def _closing(listener: Listener) -> int:
    return sum(task.cancelling() > 0 for task in listener._connections)


def _incomings(listener: Listener) -> list[Incoming]:
    return [incoming for _, incoming in listener._connections.values()]


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.005)


@pytest.mark.parametrize("sent", [b"", b"\x16\x03\x01", struct.pack(">i", 100) + b"half"])
def test_idle_connections_of_a_running_cluster_are_closed(sent: bytes) -> None:
    with (
        Cluster(Options(brokers=1, connections_max_idle=0.05)) as cluster,
        socket.create_connection(_address(cluster), timeout=60) as sock,
        suppress(ConnectionResetError),
    ):
        sock.sendall(sent)
        assert sock.recv(1) == b""


def test_a_listener_out_of_file_descriptors_serves_on_when_there_are_some(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: list[socket.socket] = []
    accept = socket.socket.accept

    def full(self: socket.socket) -> Any:
        if len(refused) < 2:
            refused.append(self)
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return accept(self)

    monkeypatch.setattr(socket.socket, "accept", full)
    with Wire(*_address(cluster)) as wire:
        assert wire.ask(ApiVersionsRequest(), 3).error_code == 0
    assert len(refused) == 2


# What would take memory or time without bound.


def _create_topics(partitions: int) -> Any:
    topic = {"name": "many", "num_partitions": partitions, "replication_factor": 1}
    return build(CreateTopicsRequest, {"topics": [topic], "timeout_ms": 1000})


def test_more_partitions_at_once_than_kafka_makes_are_refused(cluster: Cluster) -> None:
    with Wire(*_address(cluster)) as wire:
        for count in (10_001, 2**31 - 1):
            answer = wire.ask(_create_topics(count), 7)
            assert [(each.name, each.error_code) for each in answer.topics] == [("many", 44)]


@pytest.mark.parametrize("key", ["min.insync.replicas", "max.request.partition.size.limit"])
@pytest.mark.parametrize("value", ["orders", "", "0", "-1", "9" * 5000])
def test_a_config_of_all_brokers_that_means_nothing_is_refused_and_breaks_nothing(
    cluster: Cluster, key: str, value: str
) -> None:
    config = {"name": key, "config_operation": 0, "value": value}
    resource = {"resource_type": 4, "resource_name": "", "configs": [config]}
    with Wire(*_address(cluster)) as wire:
        answer = wire.ask(build(IncrementalAlterConfigsRequest, {"resources": [resource]}), 1)
        assert [each.error_code for each in answer.responses] == [40]
    check_sanity(cluster)


def _shape_error(request: Any, version: int, frame: bytes) -> str:
    with pytest.raises(request_shape.Misshapen) as failed:
        request_shape.check(type(request), version, frame)
    return str(failed.value)


def _frame(request: Any, version: int) -> bytes:
    return bytes(encode_request(request, version, 7, "me")[4:])


METADATA = build(MetadataRequest, {"topics": [{"name": "orders"}]})


def test_every_request_that_kafka_python_writes_has_its_shape() -> None:
    chance = random.Random(SEED)
    for api in apis(KIP_966, Dialect.KIP_966).values():
        for version in range(api.lowest, api.highest + 1):
            for _ in range(20):
                content = valid(chance, api.request, version, 1)[4:]
                request_shape.check(api.request, version, content)
                with pytest.raises(request_shape.Misshapen, match="cut short"):
                    request_shape.check(api.request, version, content[:-1])


@pytest.mark.parametrize("version", [1, 9, 12])
def test_a_frame_that_is_cut_anywhere_has_no_shape(version: int) -> None:
    whole = _frame(METADATA, version)
    request_shape.check(MetadataRequest, version, whole)
    for end in range(8, len(whole)):
        assert _shape_error(METADATA, version, whole[:end]) == "cut short"


def test_a_name_that_is_cut_short_is_not_taken_for_another_topic(cluster: Cluster) -> None:
    whole = _frame(build(MetadataRequest, {"topics": [{"name": "many-more"}]}), 0)
    cut = whole[: whole.index(b"many") + 4]
    with socket.create_connection(_address(cluster), timeout=60) as sock:
        sock.sendall(struct.pack(">i", len(cut)) + cut)
        assert sock.recv(1) == b""


HEADER = struct.pack(">hhih", 3, 9, 7, -1) + b"\0"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"\xff\xff\xff\xff\x07", "more than 500000 elements"),
        (b"\xff" * (1 << 20), "a number that does not end"),
        (b"\x02\x00\x00", "length -1"),
        (b"\x00\x00\x00\x00\x01\x05\x09", "cut short"),
    ],
    ids=["a huge array", "an endless number", "null where none may be", "a tag longer than all"],
)
def test_what_is_no_request_is_told_before_anything_is_made_of_it(body: bytes, says: str) -> None:
    assert _shape_error(METADATA, 9, HEADER + body) == says


@pytest.mark.not_emulated("huge requests")
def test_requests_of_more_elements_than_are_decoded_close_their_connection(
    cluster: Cluster,
) -> None:
    count = request_shape.MAX_ELEMENTS + 1
    frame = struct.pack(">hhihi", 3, 1, 7, -1, count) + struct.pack(">h", 0) * count
    with socket.create_connection(_address(cluster), timeout=60) as sock:
        sock.sendall(struct.pack(">i", len(frame)) + frame)
        assert sock.recv(1) == b""


def test_structs_with_tags_are_not_decoded_when_that_would_take_hours() -> None:
    count = 100_000
    topic = bytes(16) + b"\x02a" + b"\x01\x7f\x00"  # A tag that is nobody's.
    body = b"\xa1\x8d\x06" + topic * count + bytes(4)
    assert _shape_error(METADATA, 12, struct.pack(">hhih", 3, 12, 7, -1) + b"\0" + body) == (
        "too many tagged fields"
    )
