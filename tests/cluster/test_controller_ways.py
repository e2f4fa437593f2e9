"""What fails on a side question to the controller ends nothing else. On the emulator."""

from __future__ import annotations

import asyncio
import time

import pytest

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.controller import Controller, Patience
from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests import describe
from kafka_unclean_recovery.cluster.requests.controller_requests import UNCLEAN, elect_leaders
from kafka_unclean_recovery.cluster.requests.quorum_state import led_quorum
from kafka_unclean_recovery.cluster.wire.bootstrap import parse_bootstrap
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.errors import NoControllerReachable
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.faults import CONTROLLER
from kafka_unclean_recovery.emulator.listener.intercepts import Action, Close, Delay, NoAnswer
from tests.cluster.fake_node import ample, in_loop

CLOSE, SILENCE = Close(carried_out=False), NoAnswer(carried_out=False)


def _nodes(cluster: Cluster) -> Nodes:
    return Nodes(parse_bootstrap(cluster.bootstrap_servers), ClientConfig())


async def _known(nodes: Nodes) -> None:
    one = await nodes.any(ample())
    nodes.know((await describe.describe_cluster(one, ample()))[0], one)


async def _quorum(nodes: Nodes, seconds: float = 10.0) -> None:
    deadline = Deadline.after(seconds)
    await nodes.ask_controller(lambda c: led_quorum(c, deadline), deadline)


@pytest.mark.parametrize("how", [CLOSE, SILENCE], ids=["closed", "silent"])
def test_a_side_question_that_fails_ends_no_wait_for_an_election(how: Action) -> None:
    with Cluster(Options(brokers=1)) as cluster:

        @in_loop
        async def ask() -> None:
            nodes = _nodes(cluster)
            controller = Controller(nodes, Patience(), time.monotonic, lambda _: None)
            try:
                await _known(nodes)
                # The way that both go is known.
                await nodes.controller(ample())
                await _quorum(nodes)
                cluster.intercept("ElectLeaders", Delay(3.0))
                cluster.intercept("DescribeQuorum", how, times=99)
                electing = asyncio.create_task(
                    controller.ask(lambda c, d: elect_leaders(c, UNCLEAN, None, d))
                )
                await asyncio.sleep(0.2)
                with pytest.raises(NoControllerReachable):
                    await _quorum(nodes, seconds=1.0)
                assert await electing == {}
                assert not controller.haunted
            finally:
                await nodes.close()

        ask()


def test_a_side_question_waits_behind_no_election() -> None:
    with Cluster(Options(brokers=1)) as cluster:
        cluster.intercept("ElectLeaders", Delay(3.0))

        @in_loop
        async def ask() -> None:
            nodes = _nodes(cluster)
            controller = Controller(nodes, Patience(), time.monotonic, lambda _: None)
            try:
                await _known(nodes)
                electing = asyncio.create_task(
                    controller.ask(lambda c, d: elect_leaders(c, UNCLEAN, None, d))
                )
                await asyncio.sleep(0.2)
                await _quorum(nodes)
                assert not electing.done()
                assert await electing == {}
            finally:
                await nodes.close()

        ask()


def test_requests_go_through_the_broker_that_got_the_controller_to_answer() -> None:
    with Cluster(Options(brokers=3)) as cluster:

        @in_loop
        async def ask() -> None:
            nodes = _nodes(cluster)
            try:
                await _known(nodes)
                before = await nodes.controller(ample())
                await _quorum(nodes)
                assert (await nodes.controller(ample())).address == before.address
                cut_off = nodes.broker_of(before)
                assert cut_off is not None
                cluster.drop_link(cut_off, CONTROLLER)
                await _quorum(nodes)
                after = await nodes.controller(ample())
                assert after.address != before.address
                # What was sent over it may still be answered.
                assert not before.closed
            finally:
                await nodes.close()

        ask()


def test_the_controller_of_zookeeper_is_asked_for_once_a_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    async def controller(connection: Connection, _: Deadline) -> int:
        asked.append(connection.address)
        return 2

    monkeypatch.setattr(
        "kafka_unclean_recovery.cluster.controller_ways.zookeeper_controller", controller
    )
    with Cluster(Options(brokers=3)) as cluster:

        @in_loop
        async def ask() -> None:
            nodes = _nodes(cluster)
            try:
                await _known(nodes)
                ways = [await nodes.controller(ample()) for _ in range(3)]
                assert {nodes.broker_of(way) for way in ways} == {2}
                assert len(asked) == 1
                # Another may be the controller by now.
                nodes.forsake(ways[0])
                await nodes.controller(ample())
                assert len(asked) == 2
            finally:
                await nodes.close()

        ask()
