"""Leaders tell where the epochs of commits end, and nobody else does. On the emulator."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping

import pytest

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.requests.leader_epochs import Epoch
from kafka_unclean_recovery.cluster.wire.bootstrap import parse_bootstrap
from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.listener.intercepts import Fail
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.salvage.offsets.commits import SavedCommit
from kafka_unclean_recovery.salvage.offsets.lineage import epoch_ends

WHERE = TopicPartition("orders", 0)
LEADER, OTHER = 1, 2
RECORDS = 10


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(Options(brokers=2, release="4.3.1")) as cluster:
        cluster.create_topic(WHERE.topic, assignment=[[LEADER, OTHER]])
        cluster.produce(WHERE.topic, 0, RECORDS)
        yield cluster


def _ends(cluster: Cluster) -> Mapping[Epoch, int]:
    bootstrap = parse_bootstrap(cluster.bootstrap_servers.split(",")[OTHER - 1])
    commit = SavedCommit("group", WHERE, 5, 0, "", None, 0)
    return asyncio.run(epoch_ends(bootstrap, ClientConfig(), [commit], 5.0))


def test_its_leader_tells_where_an_epoch_ends(cluster: Cluster) -> None:
    assert _ends(cluster) == {(WHERE, 0): RECORDS}


def test_who_may_be_another_broker_tells_nothing(cluster: Cluster) -> None:
    cluster.intercept("DescribeConfigs", Fail(Errors.CLUSTER_AUTHORIZATION_FAILED), broker=LEADER)
    assert _ends(cluster) == {}


def test_a_leader_without_our_listener_tells_nothing(cluster: Cluster) -> None:
    cluster.unlist(LEADER)
    assert _ends(cluster) == {}
