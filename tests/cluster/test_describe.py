"""What describes a cluster has a bound, and whoever asked gets no traceback for what he is told."""

from __future__ import annotations

import time
from typing import Any, cast

import pytest

from kafka_unclean_recovery.cluster.requests.describe import (
    EACH_TOPIC,
    RequestFailed,
    Topic,
    describe_cluster,
    describe_topics,
)
from kafka_unclean_recovery.cluster.requests.leader_epochs import epoch_end_offsets
from kafka_unclean_recovery.cluster.requests.transactions import open_transactions
from kafka_unclean_recovery.cluster.wire.api import Message
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, FailureKind
from kafka_unclean_recovery.model import PartitionState, TopicPartition

from .fake_node import ample, in_loop

ORDERS = TopicPartition("orders", 0)


class Told:
    """A connection whose answers are made by a function of how many there were before."""

    address = "broker:9092"

    def __init__(self, answer: Any) -> None:
        self._answer = answer
        self.asked = 0

    def version_for(self, *_: object) -> int:
        return 0

    async def request(self, asking: Message, *_: object, made: Any = None, **__: object) -> Any:
        self.asked += 1
        answer = self._answer(self.asked)
        return answer if made is None else made(answer)


def _page(number: int) -> dict[str, Any]:
    name = f"topic{number:09}"
    state = PartitionState(name, "id", 0, 1, 1, (1, 2, 3), isr=(1, 2, 3))
    topic = Topic(name, "id", 0, frozenset(), (state,) * 2000)
    return {"topics": [topic], "next_cursor": {"topic_name": name, "partition_index": 2000}}


@in_loop
async def test_pages_that_never_end_end_before_memory_does() -> None:
    told = Told(_page)
    with pytest.raises(ConnectionFailed, match="more partitions than any cluster has") as caught:
        await describe_topics(cast(Connection, told), None, ample())
    assert caught.value.kind is FailureKind.BAD_ANSWER
    # A million partitions of three replicas have room.
    assert 500 < told.asked < 1000


@in_loop
async def test_a_topic_that_is_told_a_hundred_thousand_times_is_joined_in_no_time() -> None:
    """What is quadratic takes minutes here, and holds up all other brokers."""
    rows = [
        Topic("orders", "id", 0, frozenset(), (PartitionState("orders", "id", n, 1, 1, (1,)),))
        for n in range(100_000)
    ]
    told = Told(lambda _: {"topics": rows, "next_cursor": None})
    begun = time.process_time()
    (whole,) = await describe_topics(cast(Connection, told), None, ample())
    assert time.process_time() - begun < 5
    assert [state.partition for state in whole.partitions] == list(range(100_000))


@pytest.mark.parametrize("replicas", [[1, 1], [-1, 2]])
def test_replicas_that_are_none_are_no_answer(replicas: list[int]) -> None:
    partition: dict[str, Any] = {
        **dict.fromkeys(("error_code", "partition_index", "leader_id", "leader_epoch"), 0),
        **dict.fromkeys(("isr_nodes", "offline_replicas"), ()),
        **dict.fromkeys(("eligible_leader_replicas", "last_known_elr"), ()),
        "replica_nodes": replicas,
    }
    topic = {"error_code": 0, "name": "orders", "topic_id": bytes(16), "partitions": [partition]}
    with pytest.raises(ValueError, match="are no brokers"):
        EACH_TOPIC.made({**topic, "topic_authorized_operations": 0})


@pytest.mark.parametrize("brokers", [[1, 1], [-1, 2]])
@in_loop
async def test_brokers_that_are_none_are_no_answer(brokers: list[int]) -> None:
    rows = [{"broker_id": b, "host": "b", "port": 1, "rack": None} for b in brokers]
    answer = {"error_code": 0, "error_message": None, "cluster_id": "c", "brokers": rows}
    with pytest.raises(ValueError, match="are no brokers"):
        await describe_cluster(cast(Connection, Told(lambda _: answer)), ample())


@in_loop
async def test_epochs_of_partitions_that_nobody_asked_about_are_passed_over() -> None:
    row = {"error_code": 0, "partition": 0, "leader_epoch": 3, "end_offset": 7}
    topics = [{"topic": name, "partitions": [row]} for name in ("other", "orders")]
    told = cast(Connection, Told(lambda _: {"topics": topics}))
    ends = await epoch_end_offsets(told, [(ORDERS, 5)], ample())
    assert ends.found == {(ORDERS, 5): 7}


@in_loop
async def test_producers_of_another_partition_are_no_answer() -> None:
    told = cast(Connection, Told(lambda _: {"topics": []}))
    with pytest.raises(RequestFailed, match="UNKNOWN_TOPIC_OR_PARTITION"):
        await open_transactions(told, ORDERS, ample())
