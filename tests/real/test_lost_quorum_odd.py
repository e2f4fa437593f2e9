"""Quorums that are not as most: upgraded to voters in the log, with a log that begins above 0, and
of nodes that are brokers too."""

from __future__ import annotations

import base64
import shutil
import uuid
from dataclasses import replace
from pathlib import Path

from tests.real.cli import Cli
from tests.real.cluster import KafkaCluster
from tests.real.cluster_metadata_recipe import metadata_at_rest
from tests.real.cluster_state import records, state_of_cluster
from tests.real.new_controllers import NewControllers, lose
from tests.real.quorum_recipe import AUTHORIZED, fill, three_controllers_and_two_brokers
from tests.real.quorum_recovery import NEW, QuorumRecovery
from tests.real.releases import ONE

ALL_OFFLINE = ("--all-offline-partitions", "--automated-recovery", "--yes", "--format", "json")
SURVIVOR = 3


def test_a_quorum_that_was_upgraded_to_dynamic_voters(tmp_path: Path) -> None:
    """Nodes still have the static voters in their configuration, and the log counts."""
    made = three_controllers_and_two_brokers(tmp_path / "cluster", dynamic_quorum=False)
    with made as cluster, NewControllers(cluster) as new:
        at = ("--bootstrap-server", cluster.address(1))
        cluster.script("kafka-features", *at, "upgrade", "--feature", "kraft.version=1")
        recovery = QuorumRecovery(Cli(tmp_path), new)
        before = state_of_cluster(cluster, 1)
        lose(cluster, cluster.spec.controller_ids)
        recovery.recover([cluster.log_dir(broker) for broker in (1, 2)])
        assert recovery.planned["seed"]["kraft_version"] == 1
        new.wait_until_followed(NEW, (1, 2))
        assert recovery.verify().code == 0
        assert state_of_cluster(cluster, 2) == before
        new.add_voter(202, cluster.controller_address(102), NEW)


def test_a_log_whose_beginning_is_in_a_checkpoint_alone(tmp_path: Path) -> None:
    """All nodes were stopped, and the disk of the only controller is gone."""
    metadata_at_rest(ONE, tmp_path / "cluster")
    with KafkaCluster(tmp_path / "cluster") as cluster, NewControllers(cluster) as new:
        shutil.rmtree(cluster.log_dir(101))
        recovery = QuorumRecovery(Cli(tmp_path), new, node=101, lost=(101,))
        ids = _topic_ids(cluster)
        recovery.recover([cluster.log_dir(broker).parent for broker in cluster.spec.broker_ids])
        best = recovery.planned["copies"][0]
        assert best["log_start_offset"] > 0
        cluster.start(cluster.spec.broker_ids)
        new.wait_until_followed(101, cluster.spec.broker_ids)
        state = state_of_cluster(cluster, 1)
        assert state.ids == ids
        assert state.configs["orders"] == {"min.insync.replicas": "2"}
        assert not any("stray" in output for output in recovery.outputs().values())


def _topic_ids(cluster: KafkaCluster) -> dict[str, str]:
    """Return the topic ids as each replica on the disks has them, and not the metadata log."""
    ids = {}
    for broker in cluster.spec.broker_ids:
        for log_dir in cluster.log_dirs(broker):
            for file in log_dir.glob("*-*/partition.metadata"):
                topic = file.parent.name.rpartition("-")[0]
                id_ = file.read_text().split("topic_id: ")[1].strip()
                ids[topic] = str(uuid.UUID(bytes=base64.urlsafe_b64decode(id_ + "==")))
    return {topic: id_ for topic, id_ in ids.items() if not topic.startswith("__")}


def test_the_last_of_three_combined_nodes(tmp_path: Path) -> None:
    """All three were killed and two disks are gone. Whom the new controller takes for dead last
    decides whether partitions have a leader: where none leads, the main command elects."""
    with (
        KafkaCluster.create(
            tmp_path / "cluster",
            brokers=3,
            properties=AUTHORIZED,
            dynamic_quorum=True,
            combined=True,
        ) as cluster,
        NewControllers(cluster) as new,
    ):
        cluster.start()
        fill(cluster, [(1, 2, 3), (2, 3, 1), (3, 1, 2)])
        before = state_of_cluster(cluster, SURVIVOR)
        everything = records(cluster, before)
        cluster.kill_all()
        lose(cluster, (1, 2))
        recovery = QuorumRecovery(Cli(tmp_path), new, at=1, lost=(1, 2))
        recovery.recover([cluster.log_dir(SURVIVOR)])
        cluster.start([SURVIVOR])
        new.wait_until_followed(NEW, [SURVIVOR])
        cluster.wait_until_fenced({1, 2})
        elected = recovery.cli.recover(cluster, *ALL_OFFLINE)
        assert elected.code == 0, elected
        for topic in before.ids:
            cluster.wait_until_partitions(topic, lambda p: p.leader == SURVIVOR)
        assert recovery.verify().code == 0
        after = state_of_cluster(cluster, SURVIVOR)
        assert replace(after, partitions=before.partitions) == before
        assert records(cluster, before) == everything
