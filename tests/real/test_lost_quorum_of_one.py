"""The only controller is lost, and its one broker runs on: the shortest recovery of a quorum."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.real.cli import Cli
from tests.real.cluster import KafkaCluster
from tests.real.cluster_state import records, state_of_cluster
from tests.real.new_controllers import NewControllers, lose
from tests.real.quorum_recipe import PATIENT
from tests.real.quorum_recovery import QuorumRecovery
from tests.real.records import create_topic, produce
from tests.real.releases import TESTED

TOPIC = "orders"


@pytest.mark.parametrize("version", TESTED)
def test_all_that_the_broker_knew_is_known_and_more_can_be_made(
    tmp_path: Path, version: str
) -> None:
    made = KafkaCluster.create(tmp_path / "cluster", version, brokers=1, properties=PATIENT)
    with made as cluster, NewControllers(cluster) as new:
        cluster.start()
        create_topic(cluster.connection(), TOPIC, [(1,)])
        cluster.wait_until_partitions(TOPIC, lambda p: p.leader == 1)
        produce(cluster.connection(), TOPIC, 0, 10)
        before = state_of_cluster(cluster, 1)
        kept = records(cluster, before)
        (controller,) = cluster.spec.controller_ids
        lose(cluster, [controller])
        recovery = QuorumRecovery(Cli(tmp_path), new, controller, lost=(controller,))
        recovery.recover([cluster.log_dir(1)])
        new.wait_until_followed(controller, [1])
        verified = recovery.verify()
        assert verified.code == 0, verified
        assert state_of_cluster(cluster, 1) == before
        assert records(cluster, before) == kept
        create_topic(cluster.connection(), "later", [(1,)])
        cluster.wait_until_partitions("later", lambda p: p.leader == 1)
