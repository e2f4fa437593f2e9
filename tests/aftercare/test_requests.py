"""What groups committed and where leader epochs end, asked of the emulator in every way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import TypeVar
from uuid import UUID

import pytest
from confluent_kafka import Consumer
from confluent_kafka import TopicPartition as Position

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.requests.describe import RequestFailed
from kafka_unclean_recovery.cluster.requests.groups import (
    Committed,
    committed,
    committed_to,
    list_by_kind,
)
from kafka_unclean_recovery.cluster.requests.leader_epochs import EpochEnds, epoch_end_offsets
from kafka_unclean_recovery.cluster.wire.bootstrap import connect_any, parse_bootstrap
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.listener.intercepts import Fail
from kafka_unclean_recovery.model import Commit, TopicPartition
from tests.real.metadata import QUIETLY, SILENT

T = TypeVar("T")
ORDERS = TopicPartition("orders", 0)
NOT_READ = TopicPartition("orders", 1)
OFFSET_FETCH = 9
NOT_COORDINATOR = 16
NOT_LEADER = 6


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Yield a cluster: partition 0 has 10 records of its first leader epoch, then 5 of a later one;
    two groups have read some."""
    with Cluster(Options(brokers=1)) as cluster:
        cluster.create_topic("orders", assignment=[[1], [1]])
        cluster.produce("orders", 0, 10)
        cluster.stop(1)
        cluster.start(1)
        cluster.produce("orders", 0, 5)
        for group, offset, epoch in (("one", 3, 0), ("two", 7, -1)):
            settings = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": group}
            consumer = Consumer({**settings, **QUIETLY}, logger=SILENT)
            where = Position("orders", 0, offset, leader_epoch=epoch)
            consumer.commit(offsets=[where], asynchronous=False)
            consumer.close()
        yield cluster


def ask(cluster: Cluster, question: Callable[[Connection, Deadline], Awaitable[T]]) -> T:
    async def asking() -> T:
        deadline = Deadline.after(30.0)
        addresses = parse_bootstrap(cluster.bootstrap_servers)
        async with await connect_any(addresses, ClientConfig(), deadline) as connection:
            return await question(connection, deadline)

    return asyncio.run(asking())


def test_several_epochs_of_a_partition_are_asked_for(cluster: Cluster) -> None:
    epoch = cluster.partition("orders", 0).leader_epoch
    wanted = [(ORDERS, 0), (ORDERS, epoch), (ORDERS, epoch - 1), (NOT_READ, epoch)]
    found = ask(cluster, lambda connection, d: epoch_end_offsets(connection, wanted, d))
    assert epoch > 1
    assert found.errors == {}
    assert found.found == {
        (ORDERS, 0): 10,
        (ORDERS, epoch - 1): 10,
        (ORDERS, epoch): 15,
        (NOT_READ, epoch): 0,
    }


def test_an_epoch_that_nobody_knows_has_no_end(cluster: Cluster) -> None:
    assert ask(cluster, lambda c, d: epoch_end_offsets(c, [(ORDERS, 99)], d)) == EpochEnds({}, {})


def test_an_epoch_that_is_not_told_is_an_error(cluster: Cluster) -> None:
    cluster.intercept("OffsetForLeaderEpoch", Fail(NOT_LEADER))
    found = ask(cluster, lambda c, d: epoch_end_offsets(c, [(ORDERS, 0)], d))
    assert found == EpochEnds({}, {ORDERS: NOT_LEADER})


@pytest.mark.parametrize("version", [9, 8, 7, 5, 2])
def test_what_groups_committed_is_told_in_every_version(cluster: Cluster, version: int) -> None:
    async def question(connection: Connection, deadline: Deadline) -> Committed:
        connection.versions = {**connection.versions, OFFSET_FETCH: (1, version)}
        groups = (await list_by_kind(connection, deadline)).committing
        return await committed(connection, groups, [ORDERS, NOT_READ], deadline)

    epoch = 0 if version >= 5 else None
    found = ask(cluster, question)
    assert sorted(found.commits, key=lambda commit: commit.group) == [
        Commit("one", ORDERS, 3, epoch),
        Commit("two", ORDERS, 7, None),
    ]
    assert found.errors == {}


@pytest.mark.parametrize("version", [9, 7])
def test_a_group_that_can_not_be_read_is_an_error(cluster: Cluster, version: int) -> None:
    cluster.intercept("OffsetFetch", Fail(NOT_COORDINATOR))

    async def question(connection: Connection, deadline: Deadline) -> Committed:
        connection.versions = {**connection.versions, OFFSET_FETCH: (1, version)}
        return await committed(connection, ["one"], [ORDERS], deadline)

    assert ask(cluster, question) == Committed((), {"one": NOT_COORDINATOR})


@pytest.mark.parametrize("version", [10, 9, 7])
def test_what_groups_committed_to_a_topic_is_told_in_every_version(
    cluster: Cluster, version: int
) -> None:
    """And of one that was deleted and made again nothing, where brokers tell topic ids."""
    topic = cluster.look(lambda emulation: emulation.state.topic("orders"))
    assert topic is not None

    def told(topics: Mapping[str, str]) -> set[Commit]:
        async def question(connection: Connection, deadline: Deadline) -> Committed:
            connection.versions = {**connection.versions, OFFSET_FETCH: (1, version)}
            return await committed_to(connection, ["one", "two"], topics, deadline)

        found = ask(cluster, question)
        assert found.errors == {}
        return set(found.commits)

    every = {Commit("one", ORDERS, 3, 0), Commit("two", ORDERS, 7, None)}
    assert told({str(topic.topic_id): "orders"}) == every
    assert told({str(UUID(int=7)): "orders"}) == (set() if version == 10 else every)
    assert told({str(UUID(int=7)): "other"}) == set()


def test_a_broker_that_refuses_to_list_groups_is_an_error(cluster: Cluster) -> None:
    cluster.intercept("ListGroups", Fail(NOT_COORDINATOR))
    with pytest.raises(RequestFailed, match="ListGroups: NOT_COORDINATOR"):
        ask(cluster, list_by_kind)


def test_no_group_is_asked_for_when_there_is_none(cluster: Cluster) -> None:
    found = ask(cluster, lambda c, d: committed(c, [], [ORDERS], d))
    assert found == Committed((), {})
