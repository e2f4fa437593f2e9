"""What brokers tell of themselves, which proofs of identity and of currency rest on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.identity import prove
from kafka_unclean_recovery.cluster.requests.api_versions import applied_offset, can_name_nodes
from kafka_unclean_recovery.cluster.requests.quorum_state import describe_quorum
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, FailureKind
from kafka_unclean_recovery.deadline import Deadline
from tests.real.cluster import KafkaCluster
from tests.real.releases import TESTED
from tests.real.sharing import SharedClusters

T = TypeVar("T")
# With this scope pytest asks all of one release before the next: few clusters are kept running.
ON_EACH = pytest.mark.parametrize("version", TESTED, scope="module")


def _ask(
    cluster: KafkaCluster, broker: int, ask: Callable[[Connection, Deadline], Awaitable[T]]
) -> T:
    async def asking() -> T:
        deadline = Deadline.after(20.0)
        host, _, port = cluster.address(broker).rpartition(":")
        opening = Connection.open(host, int(port), ClientConfig(), deadline)
        async with await opening as connection:
            return await ask(connection, deadline)

    return asyncio.run(asking())


def _prove(cluster: KafkaCluster, at: int, cluster_id: str, broker: int) -> str | None:
    return _ask(cluster, at, lambda c, d: prove(c, cluster_id, broker, d))


@ON_EACH
def test_a_broker_proves_who_it_is_and_no_other_can(
    shared_clusters: SharedClusters, version: str
) -> None:
    cluster = shared_clusters.plain(version, brokers=2)
    ours = cluster.spec.cluster_id
    assert _prove(cluster, 2, ours, 2) is None
    for cluster_id, broker in ((ours, 1), (ours, 99), ("another-cluster-s-id", 2)):
        with pytest.raises(ConnectionFailed) as failed:
            _prove(cluster, 2, cluster_id, broker)
        assert failed.value.kind is FailureKind.OTHER_NODE


@ON_EACH
def test_which_releases_refuse_requests_that_are_meant_for_another_node(
    shared_clusters: SharedClusters, version: str
) -> None:
    async def asked(connection: Connection, _: Deadline) -> bool:
        return can_name_nodes(connection)

    assert _ask(shared_clusters.plain(version, brokers=2), 1, asked) is (version == "4.4.0")


@ON_EACH
def test_a_broker_tells_which_metadata_it_has_applied(
    shared_clusters: SharedClusters, version: str
) -> None:
    async def both(connection: Connection, deadline: Deadline) -> tuple[int, int | None]:
        quorum = await describe_quorum(connection, deadline)
        assert quorum is not None
        while True:
            applied = await applied_offset(connection, deadline)
            assert not deadline.expired, (quorum.high_watermark, applied)
            if applied is not None and applied >= quorum.high_watermark - 1:
                return quorum.high_watermark, applied
            await asyncio.sleep(0.05)

    committed, applied = _ask(shared_clusters.plain(version, brokers=2), 2, both)
    assert applied is not None
    # Within the records that an idle cluster writes in the meantime: a heartbeat's NoOp at most.
    assert committed - 1 <= applied <= committed + 50
