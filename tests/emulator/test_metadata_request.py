"""How the tests look at one broker: it answers, or nothing is seen within the time given."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from kafka.protocol.metadata import MetadataResponse

from kafka_unclean_recovery.emulator import Cluster, Options
from tests.cluster.fake_node import (
    Behaviour,
    Kafka,
    Received,
    deaf,
    hanging_up,
    in_loop,
    listening,
    metadata,
    saying,
    silent,
)
from tests.real.metadata import NOTHING_SEEN, broker_view
from tests.real.metadata_request import answered_view
from tests.real.records import create_topic

TOPIC = "orders"
TIMEOUT = 0.5
# On a busy machine still in time; who hangs comes later.
LATE = 10.0


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(Options(brokers=3)) as running:
        create_topic(running.bootstrap_servers, TOPIC, [[1, 2], [2, 3], [3, 1]])
        yield running


def _address(cluster: Cluster, broker: int) -> str:
    return cluster.bootstrap_servers.split(",")[broker - 1]


def _nothing_after(address: str) -> float:
    """Return the seconds that it took."""
    before = time.monotonic()
    assert answered_view(address, TIMEOUT) == NOTHING_SEEN
    return time.monotonic() - before


def test_it_is_what_another_client_sees(cluster: Cluster) -> None:
    for broker in (2, 3):
        cluster.kill(broker)
        cluster.fence(broker)
    address = _address(cluster, 1)
    view = answered_view(address)
    assert view == broker_view(1, {"bootstrap.servers": address})
    assert view.brokers == {1}
    assert [view.topics[TOPIC][number].offline for number in range(3)] == [False, True, False]


def test_a_broker_that_is_paused_or_dead_shows_nothing(cluster: Cluster) -> None:
    cluster.pause(2)
    cluster.kill(3)
    for broker in (2, 3):
        assert TIMEOUT <= _nothing_after(_address(cluster, broker)) < LATE


def test_a_broker_that_comes_up_meanwhile_is_seen(cluster: Cluster) -> None:
    cluster.kill(3)
    with ThreadPoolExecutor() as pool:
        view = pool.submit(answered_view, _address(cluster, 3), 30.0)
        cluster.start(3)
        assert TOPIC in view.result().topics


@pytest.mark.parametrize(
    "behaviour",
    [
        pytest.param(silent, id="silent"),
        pytest.param(deaf, id="deaf"),
        pytest.param(hanging_up, id="hanging up"),
        pytest.param(saying(b"\0\0"), id="half a length"),
        pytest.param(saying(b"\0\0\0\x09\0\0\0\x01\0"), id="half an answer"),
        pytest.param(saying(b"\0\0\0\x05\0\0\0\x02\0"), id="to another request"),
        pytest.param(Kafka(), id="no metadata yet"),
    ],
)
@in_loop
async def test_a_broker_that_does_not_answer_in_full_shows_nothing(behaviour: Behaviour) -> None:
    async with listening(behaviour) as port:
        took = await asyncio.to_thread(_nothing_after, f"127.0.0.1:{port}")
    assert TIMEOUT <= took < LATE


@in_loop
async def test_a_broker_that_has_just_started_is_asked_until_it_knows_the_cluster() -> None:
    def second(request: Received) -> Any:
        if len(broker.received) == 1:
            return metadata(request)
        itself = MetadataResponse.MetadataResponseBroker(
            version=request.version, node_id=7, host="127.0.0.1", port=port, rack=None
        )
        return MetadataResponse(
            version=request.version, brokers=[itself], cluster_id="c", controller_id=7, topics=[]
        )

    broker = Kafka(second)
    async with listening(broker) as port:
        view = await asyncio.to_thread(answered_view, f"127.0.0.1:{port}", 30.0)
    assert view.brokers == {7}
    asked = [request.message for request in broker.received]
    assert [(of.topics, of.allow_auto_topic_creation) for of in asked] == [(None, False)] * 2
