"""Controllers that survive run on all the while, beside the new one: where the voters are in the
configuration, as the last of three combined nodes, and as two of five."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kafka_unclean_recovery.metadata_quorum.steps import VERIFY, between
from tests.mission.terminal import Terminal, shows
from tests.real.cli import Cli
from tests.real.cluster import KafkaCluster
from tests.real.cluster_state import records, state_of_cluster
from tests.real.new_controllers import NewControllers, lose
from tests.real.quorum_recipe import AUTHORIZED, fill, three_controllers_and_two_brokers
from tests.real.quorum_recovery import NEW, QuorumRecovery
from tests.real.quorum_view import quorum_view
from tests.real.waiting import wait_until

TIMEOUT = 60.0


def _recovered(recovery: QuorumRecovery, disks: Sequence[Path], followers: Sequence[int]) -> None:
    """Check that the new one leads alone, what survives follows it, and nobody died of it."""
    _wait_until_nobody_leads(recovery.new.cluster)
    recovery.recover(disks)
    view = recovery.new.wait_until_followed(recovery.node, followers)
    assert (view.leader, set(view.voters)) == (recovery.node, {recovery.node})
    assert view.epoch > 1000
    verified = recovery.verify()
    assert verified.code == 0, verified
    _is_one_screen(recovery)
    assert all(map(recovery.new.cluster.alive, followers))


def _is_one_screen(recovery: QuorumRecovery) -> None:
    """Check that a window shows at once what is proven and the steps that are left."""
    screen = Terminal((80, 24), "quorum", "verify", *recovery.of_the_new_one).finish()
    assert screen.code == 0, screen.text
    assert shows(screen.window, screen.lines), screen.text
    steps = between(recovery.planned["steps"], VERIFY, None)
    assert steps[-1].split(": ")[0] in screen.text


def _wait_until_nobody_leads(cluster: KafkaCluster) -> None:
    """Wait until nobody leads: a survivor that led writes on what nobody commits, until it has
    missed its followers for a while, and a seed is refused as long."""
    left = filter(cluster.alive, cluster.spec.controller_ids)
    addresses = [cluster.controller_address(node) for node in left]
    wait_until(
        lambda: not any(map(quorum_view, addresses)), TIMEOUT, lambda: f"no leader at {addresses}"
    )


def test_one_of_three_with_the_voters_in_the_configuration(tmp_path: Path) -> None:
    made = three_controllers_and_two_brokers(tmp_path / "cluster", dynamic_quorum=False)
    with made as cluster, NewControllers(cluster) as new:
        before = state_of_cluster(cluster, 1)
        lose(cluster, (101, 102))
        recovery = QuorumRecovery(Cli(tmp_path), new, node=101, lost=(101, 102))
        _recovered(recovery, [cluster.log_dir(node) for node in (1, 2, 103)], (1, 2, 103))
        assert state_of_cluster(cluster, 2) == before


def test_the_last_of_three_combined_nodes(tmp_path: Path) -> None:
    """It leads every partition in the end, with all records, and is a voter again."""
    made = KafkaCluster.create(
        tmp_path / "cluster", brokers=3, properties=AUTHORIZED, dynamic_quorum=True, combined=True
    )
    with made as cluster, NewControllers(cluster) as new:
        cluster.start()
        fill(cluster, [(1, 2, 3), (2, 3, 1), (3, 1, 2)])
        before = state_of_cluster(cluster, 3)
        everything = records(cluster, before)
        lose(cluster, (1, 2))
        recovery = QuorumRecovery(Cli(tmp_path), new, at=1, lost=(1, 2))
        _recovered(recovery, [cluster.log_dir(3)], [3])
        for topic in before.ids:
            cluster.wait_until_partitions(topic, lambda p: p.leader == 3)
        after = state_of_cluster(cluster, 3)
        assert replace(after, partitions=before.partitions) == before
        assert records(cluster, before) == everything


def test_two_of_five(tmp_path: Path) -> None:
    made = KafkaCluster.create(
        tmp_path / "cluster",
        brokers=1,
        controllers=5,
        properties=AUTHORIZED,
        dynamic_quorum=True,
        heap_mb=256,
    )
    with made as cluster, NewControllers(cluster) as new:
        cluster.start()
        fill(cluster, [(1,)])
        before = state_of_cluster(cluster, 1)
        lose(cluster, (101, 102, 103))
        recovery = QuorumRecovery(Cli(tmp_path), new, lost=(101, 102, 103))
        survivors = (1, 104, 105)
        _recovered(recovery, [cluster.log_dir(node) for node in survivors], survivors)
        assert state_of_cluster(cluster, 1) == before
        new.add_voter(202, cluster.controller_address(102), NEW)
