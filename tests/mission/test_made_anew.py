"""Somebody else deletes a topic and creates it again, or moves a partition, while it is recovered.

What comes between a look and a request can't be seen before; what such a request did is taken back.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from kafka.protocol.admin.topics import AlterPartitionReassignmentsRequest
from kafka.protocol.metadata import MetadataRequest

from kafka_unclean_recovery.documents.journal_lines import half_done, parse
from kafka_unclean_recovery.emulator import Cluster, Options, Settings
from kafka_unclean_recovery.emulator.listener.intercepts import Fail, Where
from kafka_unclean_recovery.transport.reorder_elector import ReorderElector
from tests.cli.in_process import RECOVERY, invoke
from tests.emulator.asking import ask
from tests.real.tap import ALTER_PARTITION_REASSIGNMENTS, ELECT_LEADERS, Gate, tapped
from tests.real.waiting import wait_until

TOPIC = "orders"
DEAD, WORSE, BETTER, OTHER = 1, 4, 3, 2
LIVE = (BETTER, WORSE, OTHER)
ORDER = (DEAD, WORSE, BETTER)
MOMENTS = {
    "before the order": (ALTER_PARTITION_REASSIGNMENTS, 1),
    "before the election": (ELECT_LEADERS, 1),
    "before the order is put back": (ALTER_PARTITION_REASSIGNMENTS, 2),
}


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


# A controller of 3.9 takes any number of replicas, for it does not know the flag.
@pytest.fixture(params=["4.4.0", "3.9.1"])
def outage(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """Yield an outage: broker 1 led last and is dead; 3 holds more than 4, and 2 has no replica."""
    with _led_by_the_dead(ORDER, request.param) as cluster:
        yield cluster


@contextmanager
def _led_by_the_dead(
    order: tuple[int, ...], release: str = "4.4.0", topics: tuple[str, ...] = (TOPIC,)
) -> Iterator[Cluster]:
    settings = Settings(session_timeout=600.0)
    with Cluster(Options(brokers=4, release=release, settings=settings)) as cluster:
        configs = {"min.insync.replicas": "1"}
        for topic in topics:
            cluster.create_topic(topic, assignment=[(DEAD, WORSE, BETTER)], configs=configs)
        for victim in (WORSE, BETTER, DEAD):
            for topic in topics:
                cluster.produce(topic, 0, 10)
            cluster.kill(victim)
            cluster.fence(victim)
        cluster.start(BETTER)
        cluster.start(WORSE)
        if order != ORDER:
            cluster.reassign(TOPIC, 0, order)
        yield cluster


@dataclass(frozen=True)
class Told:
    code: int
    row: dict[str, Any]
    stderr: str


def _recover(cluster: Cluster, gate: Gate, meanwhile: Callable[[], None]) -> Told:
    """Recover, and do something while the request of the gate is held."""
    servers = [a for b, a in enumerate(cluster.bootstrap_servers.split(","), 1) if b != DEAD]

    def act() -> None:
        gate.wait()
        try:
            meanwhile()
        finally:
            gate.open()

    with tapped(servers, gate) as address:
        acting = threading.Thread(target=act)
        acting.start()
        how = ("--all-offline-partitions", "--automated-recovery", "--yes", "--format", "json")
        done = invoke(RECOVERY, "--bootstrap-server", address, *how, "--accept-loss", "*:0")
        acting.join()
    row = next(r for r in json.loads(done.stdout)["partitions"] if r["topic"] == TOPIC)
    return Told(done.code, row, done.stderr)


def _anew(cluster: Cluster, replicas: tuple[int, ...]) -> None:
    cluster.delete_topic(TOPIC)
    cluster.create_topic(TOPIC, assignment=[replicas], configs={"min.insync.replicas": "1"})
    cluster.produce(TOPIC, 0, 5)


def _nothing_is_left(tmp_path: Path) -> bool:
    (journal,) = (tmp_path / "state").rglob("*.jsonl")
    return not half_done(parse(journal.read_text(), str(journal)))


# The second has as many replicas as the order that is on its way, and others.
@pytest.mark.parametrize("replicas", [(BETTER, WORSE), (BETTER, WORSE, OTHER)], ids=str)
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_topic_that_is_made_anew_is_left_as_it_was_made_and_not_called_elected(
    outage: Cluster, tmp_path: Path, moment: str, replicas: tuple[int, ...]
) -> None:
    told = _recover(outage, Gate(*MOMENTS[moment]), lambda: _anew(outage, replicas))
    assert (told.code, told.row["outcome"]) in {(1, "failed"), (1, "refused")}, told
    assert "deleted and created again" in told.row["reason"]
    now = outage.look(lambda e: e.state.partition(e.partition_key(TOPIC, 0)))
    assert sorted(now.replicas) == sorted(replicas)
    assert not now.reassigning
    assert outage.partition(TOPIC, 0).leader == BETTER
    assert _nothing_is_left(tmp_path)


def test_one_that_is_made_anew_before_the_last_answer_is_not_called_elected_by_brokers_that_lag(
    outage: Cluster,
) -> None:
    def shows_the_old_order(broker: int) -> bool:
        told = ask(outage, broker, MetadataRequest, 12, {"topics": [{"name": TOPIC}]})
        return tuple(told.topics[0].partitions[0].replica_nodes) == ORDER

    def meanwhile() -> None:
        wait_until(lambda: all(map(shows_the_old_order, LIVE)), 10.0, lambda: "the order back")
        for broker in LIVE:
            outage.lag_metadata(broker, 1.0)
        outage.delete_topic(TOPIC)
        outage.create_topic(TOPIC, assignment=[(BETTER, WORSE)])

    told = _recover(outage, Gate(ALTER_PARTITION_REASSIGNMENTS, 2, answer=True), meanwhile)
    assert (told.code, told.row["outcome"]) == (1, "failed"), told
    assert "deleted and created again" in told.row["reason"]


def _move(cluster: Cluster, *replicas: int) -> None:
    """Reassign as somebody else."""
    partition = {"partition_index": 0, "replicas": replicas}
    values = {"timeout_ms": 1000, "topics": [{"name": TOPIC, "partitions": [partition]}]}
    ask(cluster, BETTER, AlterPartitionReassignmentsRequest, 0, values)


@pytest.mark.parametrize("moment", ["before the order", "before the order is put back"])
def test_a_partition_that_somebody_moved_meanwhile_is_left_alone_and_named(
    outage: Cluster, tmp_path: Path, moment: str
) -> None:
    before = moment == "before the order"

    def move() -> None:
        if before:
            outage.elect_leaders("unclean", TOPIC)
        _move(outage, BETTER, WORSE, OTHER)
        outage.wait_until(
            lambda e: not e.state.partition(e.partition_key(TOPIC, 0)).reassigning, timeout=10.0
        )

    told = _recover(outage, Gate(*MOMENTS[moment]), move)
    now = outage.look(lambda e: e.state.partition(e.partition_key(TOPIC, 0)))
    assert sorted(now.replicas) == [OTHER, BETTER, WORSE]
    assert not now.reassigning
    assert told.code == 1
    assert "somebody else gave it the replicas [2, 3, 4]" in told.row["reason"], told
    assert _nothing_is_left(tmp_path)


@pytest.mark.parametrize(
    "now", [(WORSE, BETTER, DEAD), (OTHER, BETTER, WORSE, DEAD)], ids=["other order", "other set"]
)
def test_what_stood_in_order_is_not_elected_by_what_somebody_wrote_while_the_rest_was_ordered(
    tmp_path: Path, now: tuple[int, ...]
) -> None:
    with _led_by_the_dead((BETTER, WORSE, DEAD), topics=(TOPIC, "payments")) as cluster:
        gate = Gate(ALTER_PARTITION_REASSIGNMENTS, 1)
        told = _recover(cluster, gate, lambda: _move(cluster, *now))
        assert cluster.partition(TOPIC, 0).leader == -1
        assert cluster.partition(TOPIC, 0).replicas == now
        assert cluster.partition("payments", 0).leader == BETTER
    assert told.code == 1
    assert f"somebody else gave its replicas the order {list(now)}" in told.row["reason"], told
    assert _nothing_is_left(tmp_path)


FAILS_ONCE = 83


@pytest.mark.parametrize("order", [(BETTER, WORSE, DEAD), ORDER], ids=str)
def test_a_try_again_does_not_elect_by_an_order_that_somebody_else_wrote_meanwhile(
    tmp_path: Path, order: tuple[int, ...]
) -> None:
    """The best replica stands first already, or an order of ours puts it there. An election fails,
    and before the next somebody puts the other replica first."""
    with _led_by_the_dead(order) as cluster:
        cluster.intercept("ElectLeaders", Fail(FAILS_ONCE, Where.ENTRIES), times=1)
        told = _recover(
            cluster, Gate(ELECT_LEADERS, 1), lambda: _move(cluster, WORSE, BETTER, DEAD)
        )
        leader = cluster.partition(TOPIC, 0).leader
    # What is written anew before the second try is seen before it, and elects by our order.
    assert leader in (BETTER, -1), told
    assert (leader == BETTER) == (order == ORDER)
    if leader == -1:
        assert (told.code, told.row["outcome"]) == (1, "failed")
        assert "somebody else gave its replicas the order [4, 3, 1]" in told.row["reason"], told
    assert _nothing_is_left(tmp_path)


def test_a_look_that_got_old_is_followed_by_one_that_sees_who_wrote_another_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _led_by_the_dead(ORDER) as cluster:

        async def late(*_: object) -> str | None:
            monkeypatch.undo()
            await asyncio.to_thread(_move, cluster, WORSE, BETTER, DEAD)
            return "the controller took too long"

        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
        monkeypatch.setattr(ReorderElector, "_why_late", late)
        servers = ",".join(cluster.bootstrap_servers.split(",")[1:])
        how = ("--all-offline-partitions", "--automated-recovery", "--yes", "--format", "json")
        done = invoke(RECOVERY, "--bootstrap-server", servers, *how, "--accept-loss", "*:0")
        assert cluster.partition(TOPIC, 0).leader == -1
        assert cluster.partition(TOPIC, 0).replicas == (WORSE, BETTER, DEAD)
    (row,) = json.loads(done.stdout)["partitions"]
    assert done.code == 1
    assert "somebody else gave its replicas the order [4, 3, 1]" in row["reason"]
