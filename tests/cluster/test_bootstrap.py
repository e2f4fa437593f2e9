from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.wire import connection, dial
from kafka_unclean_recovery.cluster.wire.bootstrap import connect_any, parse_bootstrap
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.errors import (
    ConnectionFailed,
    FailureKind,
    NoBrokerReachable,
)
from kafka_unclean_recovery.cluster.wire.race import first_success
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.errors import ConfigError

from .fake_node import Behaviour, Kafka, ample, hanging_up, in_loop, listening, silent, soon
from .test_sasl import config as sasl_config
from .test_sasl import guarded


def after_all_answers() -> Deadline:
    """Return a deadline for a stall beside answers, which take their time on a busy machine."""
    return Deadline.after(3)


@contextlib.asynccontextmanager
async def nodes(*behaviours: Behaviour) -> AsyncIterator[list[tuple[str, int]]]:
    async with contextlib.AsyncExitStack() as stack:
        yield [
            ("127.0.0.1", await stack.enter_async_context(listening(behaviour)))
            for behaviour in behaviours
        ]


async def kinds_of_failing(
    addresses: Sequence[tuple[str, int]], config: ClientConfig, deadline: Deadline
) -> set[FailureKind]:
    with pytest.raises(NoBrokerReachable) as caught:
        await connect_any(addresses, config, deadline)
    return {failure.kind for failure in caught.value.failures}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("b1:9092", (("b1", 9092),)),
        ("b1:9092,b2:1", (("b1", 9092), ("b2", 1))),
        (" b1:9092 , b2:65535,", (("b1", 9092), ("b2", 65535))),
        ("b1:9092,b1:9092", (("b1", 9092),)),
        ("10.0.0.1:9092", (("10.0.0.1", 9092),)),
        ("[::1]:9092,[fe80::1%eth0]:9093", (("::1", 9092), ("fe80::1%eth0", 9093))),
    ],
)
def test_bootstrap_servers(value: str, expected: tuple[tuple[str, int], ...]) -> None:
    assert parse_bootstrap(value) == expected


@pytest.mark.parametrize(
    ("value", "entry", "fix"),
    [
        ("b1", "'b1'", "host:port"),
        ("b0:1,b1:", "'b1:'", "host:port"),
        (":9092", "':9092'", "host:port"),
        ("b1:" + "9" * 5000, "'b1:9", "from 1 to 65535"),
        ("[]:9092", "'[]:9092'", "host:port"),
        ("b1:kafka", "'b1:kafka'", "1 to 65535"),
        ("b1:0", "'b1:0'", "1 to 65535"),
        ("b1:65536", "'b1:65536'", "1 to 65535"),
        ("b1:-1", "'b1:-1'", "1 to 65535"),
        ("b1:²", "'b1:²'", "1 to 65535"),
        ("::1:9092", "'::1:9092'", "brackets"),
        ("SSL://b1:9092", "'SSL://b1:9092'", "protocol"),
    ],
)
def test_a_bad_bootstrap_server_is_named_with_its_fix(value: str, entry: str, fix: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_bootstrap(value)
    assert entry in str(caught.value)
    assert fix in str(caught.value)


@pytest.mark.parametrize("value", ["", " ", ",", " , "])
def test_no_bootstrap_server(value: str) -> None:
    with pytest.raises(ConfigError, match="no bootstrap server"):
        parse_bootstrap(value)


@in_loop
async def test_the_first_that_answers_wins_over_the_silent_and_the_closed() -> None:
    async with nodes(silent, hanging_up, Kafka()) as addresses:
        found = await connect_any(addresses, ClientConfig(), ample())
        assert found.address == f"127.0.0.1:{addresses[2][1]}"
        await found.close()


@in_loop
async def test_when_all_fail_each_distinct_reason_is_said_once() -> None:
    async with nodes(hanging_up, hanging_up, silent) as addresses:
        with pytest.raises(NoBrokerReachable) as caught:
            await connect_any(addresses, ClientConfig(), after_all_answers())
    kinds = [failure.kind for failure in caught.value.failures]
    assert sorted(kinds) == ["timed-out", "wrong-protocol", "wrong-protocol"]
    assert not caught.value.is_authentication
    message = str(caught.value)
    assert message.count("closed the connection at once") == 1
    assert message.count("no answer in time") == 1
    assert all(f":{port}" in message for _, port in addresses)


@in_loop
async def test_a_silent_node_is_waited_for_until_the_deadline_and_no_longer() -> None:
    async with nodes(silent, hanging_up) as addresses:
        kinds = await kinds_of_failing(addresses, ClientConfig(), after_all_answers())
    assert kinds == {FailureKind.TIMED_OUT, FailureKind.WRONG_PROTOCOL}


@in_loop
async def test_a_refused_login_is_final_though_others_are_silent() -> None:
    node = Kafka(guarded("PLAIN", "sre", "other"))
    # With an ample deadline: waiting for the silent one would run into the test's own time limit.
    async with nodes(silent, node, silent) as addresses:
        with pytest.raises(NoBrokerReachable) as caught:
            await asyncio.wait_for(connect_any(addresses, sasl_config("PLAIN"), ample()), 10)
    assert caught.value.is_authentication
    assert len([r for r in node.received if r.key == 36]) == 1


@in_loop
async def test_a_cancelled_bootstrap_leaves_nothing_behind() -> None:
    async with nodes(silent, silent) as addresses:
        task = asyncio.create_task(connect_any(addresses, ClientConfig(), ample()))
        await asyncio.wait([task], timeout=0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


class Thing:
    """Something that is to be closed unless it wins."""

    def __init__(self) -> None:
        self.closed = False

    async def close(self) -> None:
        self.closed = True


@in_loop
async def test_a_second_winner_is_closed() -> None:
    things = [Thing(), Thing()]
    together = asyncio.Barrier(2)

    async def attempt(thing: Thing) -> Thing:
        await together.wait()
        return thing

    winner = await first_success([lambda t=t: attempt(t) for t in things])  # type: ignore[misc]
    assert winner in things
    assert [thing.closed for thing in things] == [thing is not winner for thing in things]


@in_loop
async def test_a_winner_that_nobody_takes_any_more_is_closed() -> None:
    """The race was given up while a loser took its time to end."""
    thing, ending, ended = Thing(), asyncio.Event(), asyncio.Event()

    async def slow() -> Thing:
        try:
            await asyncio.Event().wait()
        finally:
            ending.set()
            await ended.wait()
        return Thing()

    async def quick() -> Thing:
        return thing

    race = asyncio.create_task(first_success([slow, quick], stagger=0.01))
    await ending.wait()
    race.cancel()
    await asyncio.sleep(0)
    assert not thing.closed
    ended.set()
    with pytest.raises(asyncio.CancelledError):
        await race
    assert thing.closed


@in_loop
async def test_a_programming_error_is_not_taken_for_a_failure() -> None:
    async def broken() -> Thing:
        raise KeyError("bug")

    with pytest.raises(KeyError, match="bug"):
        await first_success([broken])


@in_loop
async def test_all_addresses_of_a_host_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    async with nodes(silent, hanging_up, Kafka()) as addresses:
        endpoints = [dial.Endpoint(socket.AF_INET, address) for address in addresses]

        async def resolve(*_: Any) -> list[dial.Endpoint]:
            return endpoints

        monkeypatch.setattr(connection, "resolve", resolve)
        found = await Connection.open("all-brokers", 9092, ClientConfig(), ample())
        assert found.address == "all-brokers:9092"
        await found.close()
        endpoints = endpoints[:2]
        with pytest.raises(ConnectionFailed) as caught:
            await Connection.open("all-brokers", 9092, ClientConfig(), after_all_answers())
    assert caught.value.kind is FailureKind.WRONG_PROTOCOL  # tells more than a time-out


def test_a_resolver_that_hangs_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    released, finished = threading.Event(), threading.Event()

    def hang(*_: Any, flags: int, **__: Any) -> Any:
        if flags & socket.AI_NUMERICHOST:  # asks nobody
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        released.wait(30)
        finished.set()
        raise socket.gaierror(-3, "Temporary failure in name resolution")

    @in_loop
    async def opening() -> None:
        with pytest.raises(ConnectionFailed, match="resolving") as caught:
            await Connection.open("b1", 9092, ClientConfig(), soon())
        assert caught.value.kind is FailureKind.TIMED_OUT

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    opening()
    assert not finished.is_set()  # so the end of the loop didn't wait for it either
    released.set()
    assert finished.wait(30)


@in_loop
async def test_a_host_that_drops_packets_is_bounded() -> None:
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(4):  # what the queue doesn't hold is dropped by the kernel
            client = stack.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(server.getsockname())
        with pytest.raises(ConnectionFailed, match="connecting") as caught:
            await Connection.open("127.0.0.1", server.getsockname()[1], ClientConfig(), soon())
    assert caught.value.kind is FailureKind.TIMED_OUT
