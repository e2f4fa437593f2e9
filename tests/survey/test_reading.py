"""What is read of a cluster of which some brokers are behind. On the emulator."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

import pytest

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.wire.bootstrap import parse_bootstrap
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.faults import STOPPED
from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.survey.reading import Reader

GONE = TopicPartition("gone", 0)
BEHIND = 2

T = TypeVar("T")


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Yield a cluster: a topic was deleted, and broker 2 has fetched that and does not apply it."""
    with Cluster(Options(brokers=3)) as cluster:
        cluster.create_topic(GONE.topic, assignment=[[1]])
        cluster.lag_metadata(BEHIND, STOPPED, fetched=True)
        cluster.delete_topic(GONE.topic)
        yield cluster


def reading(cluster: Cluster, broker: int, ask: Callable[[Reader], Awaitable[T]]) -> T:
    """Ask by this broker's address."""

    async def asked() -> T:
        address = cluster.bootstrap_servers.split(",")[broker - 1]
        nodes = Nodes(parse_bootstrap(address), ClientConfig())
        try:
            reader = Reader(nodes, time.monotonic, 10.0)
            await reader.cluster()
            return await ask(reader)
        finally:
            await nodes.close()

    return asyncio.run(asked())


def test_what_is_gone_is_not_said_to_be_there_by_a_broker_that_is_behind(cluster: Cluster) -> None:
    # The second broker that is asked is the one that is behind.
    cluster.kill(3)
    cluster.fence(3)
    found = reading(cluster, 1, lambda reader: reader.described([GONE]))
    assert (found.gone, dict(found.states)) == (frozenset({GONE}), {})


def test_nor_is_it_while_reassignments_are_asked_for(cluster: Cluster) -> None:
    cluster.kill(3)
    cluster.fence(3)

    async def look(reader: Reader) -> object:
        found = await reader.current(lambda: reader.described_with_reassignments([GONE]))
        return found.gone, found.states, found.untold

    assert reading(cluster, 1, look) == ({GONE}, {}, {})


def test_who_is_read_again_and_again_and_stays_behind_is_left(cluster: Cluster) -> None:
    async def look(reader: Reader) -> bool:
        deadline = Deadline.after(20.0)
        while not deadline.expired:
            if (await reader.described([GONE])).gone:
                return True
            await asyncio.sleep(0.1)
        return False

    assert reading(cluster, BEHIND, look)
