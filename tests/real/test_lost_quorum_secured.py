"""The controllers of a secured cluster are lost, whose brokers have two log directories each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real.cli import Cli
from tests.real.cluster import KafkaCluster
from tests.real.new_controllers import NewControllers, lose
from tests.real.quorum_recovery import QuorumRecovery
from tests.real.records import consume_all, create_topic, numbered, produce

TOPIC = "orders"
RECORDS = 50


@pytest.fixture
def recovery(tmp_path: Path) -> Iterator[QuorumRecovery]:
    made = KafkaCluster.create(
        tmp_path / "cluster", brokers=2, controllers=3, secured=True, log_dirs_per_broker=2
    )
    with made as cluster, NewControllers(cluster) as new:
        cluster.start()
        create_topic(cluster.connection(), TOPIC, [(1, 2), (2, 1), (1, 2)])
        cluster.wait_until_partitions(TOPIC, lambda p: not p.offline)
        for partition in range(3):
            produce(cluster.connection(), TOPIC, partition, RECORDS)
        lose(cluster, cluster.spec.controller_ids)
        yield QuorumRecovery(Cli(tmp_path), new, cluster.spec.controller_ids[0])


def test_it_is_recovered_over_sasl_ssl(recovery: QuorumRecovery) -> None:
    cluster = recovery.new.cluster
    # Controllers let others in than brokers do: by PLAIN alone.
    controllers = str(cluster.client_properties("admin", "PLAIN"))
    brokers = ("--command-config", str(cluster.client_properties("admin")))
    # One of its two log directories has a broker's copy of the metadata log.
    disks = [path for broker in (1, 2) for path in cluster.log_dirs(broker)]
    recovery.recover(disks, "--bootstrap-server", cluster.bootstrap_servers, *brokers)

    not_let_in = recovery.verify(*brokers, "--timeout-ms", "1")
    assert not_let_in.json["proven"] is False

    proven = recovery.verify(*brokers, "--controller-command-config", controllers)
    assert proven.code == 0, proven
    create_topic(cluster.connection(), "later", [(2, 1)])
    cluster.wait_until_partitions("later", lambda p: len(p.isr) == 2)
    for partition in range(3):
        assert consume_all(cluster.connection(), TOPIC, partition) == [
            numbered(n) for n in range(RECORDS)
        ]
