"""Connections: what is no request, brokers that hang or die, ports that stay."""

from __future__ import annotations

import random
import socket
import struct
from collections.abc import Iterator
from contextlib import closing, suppress

import pytest
from kafka.protocol.metadata import ApiVersionsRequest

from kafka_unclean_recovery.emulator import Cluster, core
from kafka_unclean_recovery.emulator.apis.supported import apis
from kafka_unclean_recovery.emulator.broker.broker import Process
from kafka_unclean_recovery.kraft_rules.releases import KIP_966
from kafka_unclean_recovery.mechanisms import Dialect
from tests.fidelity.wire import Wire

Address = tuple[str, int]


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster() as running:
        yield running


def _addresses(cluster: Cluster) -> list[Address]:
    parted = (server.rpartition(":") for server in cluster.bootstrap_servers.split(","))
    return [(host, int(port)) for host, _, port in parted]


def _answers(address: Address) -> bool:
    with Wire(*address) as wire:
        return bool(wire.ask(ApiVersionsRequest(), 3).api_keys)


def _closed_after(address: Address, data: bytes) -> bool:
    """Return whether the broker hangs up on these bytes without a word."""
    with socket.create_connection(address, timeout=10) as sock:
        sock.sendall(data)
        try:
            return sock.recv(1) == b""
        except ConnectionResetError:
            return True


def _framed(content: bytes) -> bytes:
    return struct.pack(">i", len(content)) + content


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"GET / HTTP/1.1\r\n\r\n", id="HTTP"),
        pytest.param(struct.pack(">i", -1), id="negative length"),
        pytest.param(struct.pack(">i", (100 << 20) + 1), id="an oversized frame"),
        pytest.param(_framed(b"1234567"), id="no room for a header"),
        pytest.param(_framed(struct.pack(">hhih", 9999, 0, 1, -1)), id="unknown key"),
        pytest.param(_framed(struct.pack(">hhih", 3, 99, 1, -1)), id="unknown version"),
        pytest.param(_framed(struct.pack(">hhih", 3, 1, 1, -1)), id="cut short"),
        pytest.param(_framed(struct.pack(">hhihi", 3, 1, 1, -1, 2**31 - 1)), id="a huge array"),
    ],
)
def test_what_is_no_request_closes_its_connection_and_nothing_else(
    cluster: Cluster, data: bytes
) -> None:
    first = _addresses(cluster)[0]
    with Wire(*first) as other:
        other.ask(ApiVersionsRequest(), 3)
        assert _closed_after(first, data)
        assert other.ask(ApiVersionsRequest(), 3).error_code == 0


def test_a_frame_that_never_ends_holds_nobody_up(cluster: Cluster) -> None:
    first = _addresses(cluster)[0]
    with socket.create_connection(first) as sock:
        sock.sendall(struct.pack(">i", 1000) + b"half")
        assert _answers(first)


def test_an_unknown_version_of_api_versions_is_answered_in_version_0(cluster: Cluster) -> None:
    with socket.create_connection(_addresses(cluster)[0], timeout=10) as sock:
        sock.sendall(_framed(struct.pack(">hhih", 18, 99, 7, -1)))
        length, correlation_id, error = struct.unpack(">iih", sock.recv(10))
        assert (correlation_id, error, length > 6) == (7, 35, True)


def test_random_bodies_of_every_api_are_answered_or_hung_up_on(
    capfd: pytest.CaptureFixture[str],
) -> None:
    chance = random.Random(966)
    with Cluster() as cluster:
        first = _addresses(cluster)[0]
        for api in apis(KIP_966, Dialect.KIP_966).values():
            for _ in range(20):
                version = chance.randint(api.lowest, api.highest)
                header = struct.pack(">hhih", api.request.API_KEY, version, 1, -1)
                with closing(socket.create_connection(first)) as sock:
                    sock.sendall(_framed(header + chance.randbytes(chance.randint(0, 60))))
        assert _answers(first)
    # What a handler does not expect is logged by asyncio.
    assert capfd.readouterr().err == ""


def test_a_killed_broker_refuses_connections_and_comes_back_at_its_address(
    cluster: Cluster,
) -> None:
    second = _addresses(cluster)[1]
    with socket.create_connection(second, timeout=10) as sock:
        cluster.kill(2)
        with suppress(ConnectionResetError):
            assert sock.recv(1) == b""
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(second, timeout=10)
    cluster.start(2)
    assert _answers(second)


def test_a_paused_broker_accepts_connections_and_says_nothing_until_it_goes_on(
    cluster: Cluster,
) -> None:
    second = _addresses(cluster)[1]
    cluster.pause(2)
    with socket.create_connection(second, timeout=0.2) as sock:
        sock.sendall(_framed(struct.pack(">hhih", 18, 0, 7, -1)))
        with pytest.raises(TimeoutError):
            sock.recv(1)
        cluster.resume(2)
        sock.settimeout(10)
        assert sock.recv(4) != b""


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(lambda c: c.start(1), id="starting what runs"),
        pytest.param(lambda c: (c.kill(1), c.stop(1)), id="stopping what is dead"),
        pytest.param(lambda c: c.resume(1), id="resuming what runs"),
        pytest.param(lambda c: c.kill(5), id="one that is not there"),
    ],
)
def test_what_a_broker_can_t_do_as_it_is_is_refused(cluster: Cluster, wrong: object) -> None:
    assert callable(wrong)
    with pytest.raises(ValueError):
        wrong(cluster)


def test_others_answer_while_a_broker_reads_its_disks(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of each step of the start, the loop is given to whoever else has something to do."""
    monkeypatch.setattr(core, "_SLICE", 0.0)
    cluster.create_topic("orders", assignment=[(1, 2)] * 20)
    cluster.kill(2)
    seen: list[str] = []

    def look() -> None:
        seen.append(cluster._running_core.broker(2).process.value)
        if seen[-1] != "running":
            cluster._loop.call_soon(look)

    cluster._loop.call_soon_threadsafe(look)
    cluster.start(2)
    assert seen.count("starting") >= 20
    assert _answers(_addresses(cluster)[1])


def test_a_broker_that_is_killed_while_it_starts_is_dead(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core, "_SLICE", 0.0)
    cluster.create_topic("orders", assignment=[(1, 2)] * 20)
    cluster.kill(2)

    def kill() -> None:
        broker = cluster._running_core.broker(2)
        if broker.process is Process.STARTING:
            cluster._loop.create_task(cluster._running_core.kill(2))
        else:
            cluster._loop.call_soon(kill)

    cluster._loop.call_soon_threadsafe(kill)
    with pytest.raises(ValueError, match="broker 2 was killed while it started"):
        cluster.start(2)
    assert cluster.status().brokers[1].process == "dead"
    cluster.start(2)
    assert len(cluster.look(lambda e: e.brokers[2].replicas)) == 20
