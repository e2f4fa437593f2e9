"""Which node is asked what, and over whose connection."""

from __future__ import annotations

import asyncio
import time

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.controller import Controller, Patience
from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests.controller_requests import UNCLEAN, elect_leaders
from kafka_unclean_recovery.cluster.requests.describe import describe_cluster
from kafka_unclean_recovery.cluster.wire.bootstrap import parse_bootstrap
from kafka_unclean_recovery.cluster.wire.dial import address_text
from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.listener.intercepts import Delay, NoAnswer
from kafka_unclean_recovery.survey.reading import Reader
from tests.cluster.fake_node import ample, in_loop

SILENCE = NoAnswer(carried_out=False)


def _reach(cluster: Cluster, timeout: float = 4.0) -> tuple[Nodes, Reader]:
    nodes = Nodes(parse_bootstrap(cluster.bootstrap_servers), ClientConfig())
    return nodes, Reader(nodes, time.monotonic, timeout)


def test_however_little_time_there_is_a_silent_broker_leaves_some_for_another() -> None:
    with Cluster(Options(brokers=2)) as cluster:

        @in_loop
        async def ask() -> None:
            nodes, reader = _reach(cluster, timeout=1.5)
            try:
                await reader.cluster()
                held = nodes.broker_of(await nodes.any(ample()))
                cluster.intercept("DescribeCluster", SILENCE, broker=held, times=99)
                told, _ = await reader.cluster()
                assert set(told.brokers) == {1, 2}
            finally:
                await nodes.close()

        ask()


def test_giving_up_a_read_does_not_end_what_the_controller_was_asked() -> None:
    with Cluster(Options(brokers=1)) as cluster:
        cluster.intercept("ElectLeaders", Delay(3.0))
        cluster.intercept("DescribeTopicPartitions", SILENCE)

        @in_loop
        async def ask() -> None:
            nodes, reader = _reach(cluster)
            controller = Controller(nodes, Patience(), time.monotonic, lambda _: None)
            try:
                await reader.cluster()
                answers, topics = await asyncio.gather(
                    controller.ask(lambda c, d: elect_leaders(c, UNCLEAN, None, d)),
                    reader.topics(None),
                )
                assert (answers, topics) == ({}, [])
                assert not controller.haunted
            finally:
                await nodes.close()

        ask()


def test_a_slow_answer_counts_though_another_broker_was_asked_meanwhile() -> None:
    """The one that was asked first answers first, as the others never do."""
    with Cluster(Options(brokers=2)) as cluster:
        first = cluster.intercept("DescribeTopicPartitions", Delay(3.0))
        cluster.intercept("DescribeTopicPartitions", SILENCE, times=100)

        @in_loop
        async def ask() -> None:
            nodes, reader = _reach(cluster)
            try:
                assert await reader.topics(None) == []
            finally:
                await nodes.close()

        ask()
        assert first.requests


def test_a_node_that_was_forsaken_is_tried_after_the_others() -> None:
    with Cluster(Options(brokers=3)) as cluster:

        @in_loop
        async def ask() -> None:
            nodes, _ = _reach(cluster)
            order = [address_text(*address) for address in nodes.addresses()]
            try:
                first = await nodes.any(ample())
                nodes.know((await describe_cluster(first, ample()))[0], first)
                nodes.forsake(first)
                second = await nodes.any(ample())
                nodes.forsake(second)
                third = await nodes.any(ample())
                assert [c.address for c in (first, second, third)] == order
                nodes.forsake(third)
                assert (await nodes.any(ample())).address == first.address
            finally:
                await nodes.close()

        ask()
