"""What a request that was given up may still do, and how long that is waited for."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kafka_unclean_recovery import boot_clock
from kafka_unclean_recovery.cli import session
from kafka_unclean_recovery.cluster import controller
from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.controller import Controller, Patience, Unsure
from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests.controller_requests import (
    PartitionResult,
    alter_replica_order,
)
from kafka_unclean_recovery.cluster.requests.describe import RequestFailed
from kafka_unclean_recovery.cluster.wire.errors import (
    ConnectionFailed,
    FailureKind,
    NoBrokerReachable,
)
from kafka_unclean_recovery.cluster.wire.knocking import Knocked
from kafka_unclean_recovery.documents.journal_lines import half_done, outstanding
from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.files.journal import Journal
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.transport.coming import Coming
from kafka_unclean_recovery.transport.sending import Sent, noted
from tests.cluster.fake_node import in_loop

HERE, ELSEWHERE = "this-boot", "another-boot"


@dataclass
class Waiting:
    """A controller that says for how long it would wait."""

    given_up: list[tuple[str | None, float]] = field(default_factory=list)

    def given_up_by(self, broker: str | None, seconds_ago: float) -> None:
        self.given_up.append((broker, seconds_ago))

    async def settle(self, reason: str) -> None:
        assert "ended in the middle" in reason


def _settle(journal: Journal) -> list[tuple[str | None, float]]:
    waiting = Waiting()

    @in_loop
    async def go() -> None:
        await session._settle(cast(Any, SimpleNamespace(controller=waiting)), journal)

    go()
    return waiting.given_up


def _sent(number: int, ms: int, boot: str | None = HERE) -> dict[str, Any]:
    return {"number": number, "broker": f"b{number}:9092", "boot_id": boot, "boot_ms": ms}


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> None:
    at = boot_clock.BootTime(HERE, 100_000)
    monkeypatch.setattr(session, "boot_time", lambda: at)


def _reorder() -> dict[str, Any]:
    orders = {"original": [1, 2], "written": [2, 1], "topic_id": "id"}
    return {"partitions": [{"topic": "orders", "partition": 0, **orders}]}


@pytest.mark.usefixtures("now")
@pytest.mark.parametrize(
    ("sent", "ago"),
    [
        pytest.param(_sent(2, 70_000), 30.0, id="of this boot"),
        pytest.param(_sent(2, 0, ELSEWHERE), 0.0, id="of another boot or machine"),
        pytest.param(_sent(2, 100_001), 0.0, id="of the future"),
        pytest.param(_sent(2, 0, None), 0.0, id="on a system that does not tell its boot"),
        pytest.param(_sent(2, 0) | {"boot_ms": "x"}, 0.0, id="as nobody wrote it"),
    ],
)
def test_the_age_of_the_last_request_counts_and_not_that_of_the_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sent: dict[str, Any], ago: float
) -> None:
    """Whatever the wall clock says, which was set back, or forward, by an hour meanwhile."""
    path = tmp_path / "j.jsonl"
    with Journal.open(path) as journal:
        journal.note("reorder", **_reorder())
        journal.note("sent", **_sent(1, 1_000))
        journal.note("answered", number=1)
        journal.note("sent", **sent)
        for shift in (-3600, 3600):
            wall = time.time_ns() + shift * 10**9
            monkeypatch.setattr(
                "kafka_unclean_recovery.files.journal.time.time_ns", lambda at=wall: at
            )
            assert _settle(journal) == [("b2:9092", ago)]
            journal.lines.pop()  # the line that says that it is settled


@pytest.mark.usefixtures("now")
def test_a_journal_of_before_requests_were_noted_is_waited_for_as_long_as_can_be(
    tmp_path: Path,
) -> None:
    with Journal.open(tmp_path / "j.jsonl") as journal:
        journal.note("reorder", **_reorder())
        assert _settle(journal) == [(None, 0.0)]
        assert journal.lines[-1]["event"] == "settled"
        assert outstanding(journal.lines) == ()


def test_a_run_whose_requests_were_all_answered_leaves_nothing_to_wait_for(tmp_path: Path) -> None:
    with Journal.open(tmp_path / "j.jsonl") as journal:
        journal.note("sent", **_sent(1, 1))
        assert half_done(journal.lines)
        journal.note("answered", number=1)
        assert not half_done(journal.lines)
        journal.note("sent", **_sent(2, 1))
        journal.note("settled")
        assert not half_done(journal.lines)


def test_a_paused_broker_that_holds_a_request_is_not_waited_out_but_named() -> None:
    said: list[str] = []
    with Cluster(Options(brokers=2)) as cluster:
        cluster.create_topic("orders", assignment=[(1, 2)])
        first, second = cluster.bootstrap_servers.split(",")

        @in_loop
        async def go() -> None:
            # A busy machine may take a second over an answer that comes.
            patience = Patience(answer=3.0, ghost=0.5, settle=2.0)
            addresses = [(a.rpartition(":")[0], int(a.rpartition(":")[2])) for a in (first, second)]
            nodes = Nodes(addresses[:1], ClientConfig())
            controller = Controller(nodes, patience, time.monotonic, said.append)
            wanted = {TopicPartition("orders", 0): (2, 1)}
            await controller.ask(lambda c, d: alter_replica_order(c, {}, d))
            cluster.pause(1)
            with pytest.raises(Unsure):
                await controller.ask(lambda c, d: alter_replica_order(c, wanted, d))
            nodes._members._bootstrap = tuple(addresses[1:])
            with pytest.raises(Unsure, match=f"broker {first} takes connections and does not"):
                await controller.settle("no answer")
            assert controller.haunted
            # Dead, it takes with it what it held.
            cluster.kill(1)
            await controller.settle("no answer")
            assert not controller.haunted
            await nodes.close()

        go()
        assert tuple(cluster.partition("orders", 0).replicas) == (1, 2)


def test_a_broker_that_can_not_be_reached_is_named_with_what_it_may_still_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def nowhere(*_: Any) -> Knocked:
        return Knocked.UNREACHABLE

    monkeypatch.setattr(controller, "knock", nowhere)
    said: list[str] = []
    with Cluster(Options(brokers=1)) as cluster:
        host, _, port = cluster.bootstrap_servers.rpartition(":")

        @in_loop
        async def go() -> None:
            nodes = Nodes([(host, int(port))], ClientConfig())
            patience = Patience(answer=5.0, ghost=0.1, settle=20.0)
            controller = Controller(nodes, patience, time.monotonic, said.append)
            controller.given_up_by("b9:9092", 0.0)
            await controller.settle("no answer")
            await nodes.close()

        go()
    (named,) = [sentence for sentence in said if "b9:9092" in sentence]
    assert "it may still carry out what it was sent, and nothing bounds when" in named


def test_the_last_of_several_requests_given_up_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    at, slept = [1000.0], []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        at[0] += seconds

    class Answers:
        async def ask_controller(self, *_: object) -> None:
            asked.append(at[0])

    asked: list[float] = []
    controller = Controller(
        cast(Any, Answers()), Patience(ghost=125.0), _clock_at(at), lambda _: None
    )

    @in_loop
    async def go() -> None:
        for seconds_ago in (90.0, 20.0, 60.0):
            controller.given_up_by(None, seconds_ago)
        monkeypatch.setattr("asyncio.sleep", sleep)
        await controller.settle("no answer")
        monkeypatch.undo()

    go()
    assert slept[0] == 105.0
    assert asked == [1105.0]  # Only then is what the quorum says the end of it.
    assert not controller.haunted


def test_what_no_broker_could_be_sent_is_unsure_and_announces_nothing() -> None:
    class Nobody:
        async def controller(self, _: object) -> Any:
            raise NoBrokerReachable([ConnectionFailed(FailureKind.CLOSED_PORT, "b1:9092", "no")])

    async def request(*_: object) -> None:
        pytest.fail("sent")

    controller = Controller(cast(Any, Nobody()), Patience(), time.monotonic, lambda _: None)

    @in_loop
    async def go() -> None:
        with pytest.raises(Unsure, match="b1:9092"):
            await controller.ask(request, pytest.fail)

    go()
    assert (controller.has_sent, controller.haunted) == (False, False)


@pytest.mark.parametrize(
    ("error", "unsure", "haunted"),
    [
        (RequestFailed("ElectLeaders", 7), True, True),
        (RequestFailed("ElectLeaders", 41), True, True),
        (RequestFailed("ElectLeaders", 31), False, False),
        (ConnectionFailed(FailureKind.DISCONNECTED, "b1:9092", "gone"), True, True),
        # It was never sent.
        (ConnectionFailed(FailureKind.UNSUPPORTED_VERSION, "b1:9092", "no"), True, False),
    ],
)
def test_what_was_refused_for_sure_is_not_waited_for(
    error: Exception, unsure: bool, haunted: bool
) -> None:
    forsaken: list[object] = []

    class Answers:
        async def controller(self, _: object) -> Any:
            return SimpleNamespace(address="b1:9092")

        def forsake(self, connection: Any) -> None:
            forsaken.append(connection.address)

    async def request(*_: object) -> None:
        raise error

    nodes = cast(Any, Answers())
    controller = Controller(nodes, Patience(), time.monotonic, lambda _: None)

    @in_loop
    async def go() -> None:
        with pytest.raises(Unsure if unsure else RequestFailed):
            await controller.ask(request)

    go()
    assert (controller.haunted, forsaken) == (haunted, ["b1:9092"] * unsure)


@pytest.mark.parametrize(("error", "open_"), [(41, True), (Errors.NONE, False), (31, False)])
def test_a_request_with_one_answer_that_leaves_it_open_is_not_noted_as_answered(
    tmp_path: Path, error: int, open_: bool
) -> None:
    class Answers:
        async def ask(self, request: Any, sending: Any) -> Any:
            await sending("b1:9092")
            return {
                TopicPartition("orders", 0): PartitionResult(Errors.NONE),
                TopicPartition("a", 1): PartitionResult(error),
            }

    with Journal.open(tmp_path / "j.jsonl") as journal:

        @in_loop
        async def go() -> None:
            sent = Sent("ElectLeaders", 2)
            await noted(cast(Any, Answers()), journal, sent, cast(Any, None))

        go()
        assert bool(outstanding(journal.lines)) == open_


def _clock_at(seconds: list[float]) -> Any:
    return lambda: seconds[0]


def test_what_comes_slowly_is_waited_for_and_what_stays_away_is_not() -> None:
    at = [0.0]
    coming = Coming(23, _clock_at(at))
    for left in range(23, 0, -1):
        assert not coming.over(left)
        at[0] += 9.0
    assert not coming.over(1)
    at[0] += 9.0
    assert coming.over(1)


def test_what_comes_for_ever_is_waited_for_five_minutes() -> None:
    at = [0.0]
    coming = Coming(1000, _clock_at(at))
    looks = 0
    while not coming.over(1000 - looks):
        at[0] += 5.0
        looks += 1
    assert at[0] == 300.0
