"""One of three controllers survives and lags behind the brokers: the new quorum begins from a
broker's copy, and the survivor follows. What must not be planned is refused."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.real.cli import Cli
from tests.real.cluster import KafkaCluster
from tests.real.cluster_state import ClusterState, state_of_cluster
from tests.real.new_controllers import NewControllers, lose
from tests.real.properties import new_uuid
from tests.real.quorum_recipe import ORDERS, allow, three_controllers_and_two_brokers
from tests.real.quorum_recovery import REFUSED, QuorumRecovery
from tests.real.quorum_view import TIMEOUT, quorum_view
from tests.real.records import create_topic
from tests.real.waiting import wait_until

SURVIVOR = 103
LOST = (101, 102)
LATE = "late"


@dataclass(frozen=True, slots=True)
class Lagging:
    """Brokers run; 103 has its disk, without topic LATE and the last ACL; of 101 and 102 there are
    copies that nobody need have kept."""

    recovery: QuorumRecovery
    before: ClusterState
    kept: Path

    @property
    def cluster(self) -> KafkaCluster:
        return self.recovery.new.cluster

    @property
    def brokers(self) -> list[Path]:
        return [self.cluster.log_dir(broker) for broker in self.cluster.spec.broker_ids]

    @property
    def survivor(self) -> Path:
        return self.cluster.log_dir(SURVIVOR)


@pytest.fixture(scope="module")
def lagging(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lagging]:
    home = tmp_path_factory.mktemp("lagging")
    made = three_controllers_and_two_brokers(home / "cluster", dynamic_quorum=True)
    with made as cluster, NewControllers(cluster) as new:
        _kill_a_follower(cluster, SURVIVOR)
        allow(cluster, "User:bob", ORDERS)
        create_topic(cluster.connection(), LATE, [(2, 1)])
        cluster.wait_until_partitions(LATE, lambda p: not p.offline)
        before = state_of_cluster(cluster, 1)
        lose(cluster, LOST, home / "kept")
        yield Lagging(QuorumRecovery(Cli(home), new, lost=LOST), before, home / "kept")


def _kill_a_follower(cluster: KafkaCluster, controller: int) -> None:
    """Kill a controller while another one leads: what a leader alone has written is no prefix."""
    if quorum_view(cluster.address(controller)) is not None:
        cluster.kill(controller)
        others = [cluster.address(other) for other in LOST]
        wait_until(
            lambda: any(map(quorum_view, others)), TIMEOUT, lambda: f"none of {others} leads"
        )
        cluster.start([controller])
        wait_until(
            lambda: any(
                view.caught_up([controller], view.high_watermark)
                for view in filter(None, map(quorum_view, others))
            ),
            TIMEOUT,
            lambda: f"{controller} does not catch up",
        )
    cluster.kill(controller)


@pytest.fixture(autouse=True)
def _no_plan_yet(lagging: Lagging) -> None:
    lagging.recovery.plan_file.unlink(missing_ok=True)


def _refusal(lagging: Lagging, directories: list[Path], *more: str) -> str:
    """Return what is said where no plan may be written."""
    done = lagging.recovery.plan(directories, *more)
    assert done.code == REFUSED, done
    assert not lagging.recovery.plan_file.exists()
    return done.stderr


def test_no_quorum_is_planned_beside_a_majority(lagging: Lagging) -> None:
    recovery = replace(lagging.recovery, lost=(101,))
    done = recovery.plan([*lagging.brokers, lagging.survivor, lagging.kept / "102"])
    assert (done.code, recovery.plan_file.exists()) == (REFUSED, False)
    assert "quorum_not_lost" in done.stderr


def test_no_quorum_is_planned_without_the_copy_of_the_survivor(lagging: Lagging) -> None:
    assert f"[{SURVIVOR}]" in _refusal(lagging, lagging.brokers)


def test_no_quorum_is_planned_from_the_survivor_where_the_brokers_have_more(
    lagging: Lagging,
) -> None:
    """Their data tells it, where their copies of the metadata log are not there."""
    data = lagging.recovery.cli.home / "data"
    for broker in lagging.brokers:
        leave = shutil.ignore_patterns("*.index", "*.timeindex", "__cluster_metadata-0")
        shutil.copytree(broker, data / broker.parent.name, ignore=leave)
    said = _refusal(lagging, [lagging.survivor, data], "--without-copies-of", "1,2")
    assert "metadata_behind_data" in said
    assert LATE in said


def test_no_quorum_is_planned_of_two_clusters(lagging: Lagging, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(lagging.survivor, other, ignore=shutil.ignore_patterns("*.index"))
    properties = other / "meta.properties"
    theirs = properties.read_text().replace(lagging.cluster.spec.cluster_id, new_uuid())
    properties.write_text(theirs)
    disks = [*lagging.brokers, lagging.survivor, other]
    assert "metadata_of_two_clusters" in _refusal(lagging, disks)


def test_inspect_shows_what_the_survivor_lacks(lagging: Lagging) -> None:
    disks = [str(disk) for disk in (*lagging.brokers, lagging.survivor)]
    done = lagging.recovery.inspect(*disks, "--format", "json")
    copies: dict[int, Any] = {copy["node"]: copy for copy in done.json["copies"]}
    assert copies.keys() == {1, 2, SURVIVOR}
    assert done.json["copies"][0]["node"] in (1, 2)
    assert copies[SURVIVOR]["relation"] == "prefix"
    lacks = " ".join(copies[SURVIVOR]["lacks"])
    assert LATE in lacks
    assert "User:bob" in lacks


def test_the_seed_never_replaces_what_is_there(lagging: Lagging) -> None:
    disks = [*lagging.brokers, lagging.survivor]
    assert lagging.recovery.plan(disks).code == 0
    for taken in disks:
        before = sorted(taken.rglob("*"))
        assert lagging.recovery.seed(taken).code == 2
        assert sorted(taken.rglob("*")) == before


def test_the_copy_that_goes_farthest_is_the_seed_and_the_survivor_follows(
    lagging: Lagging,
) -> None:
    recovery, cluster = lagging.recovery, lagging.cluster
    recovery.recover([lagging.survivor, *lagging.brokers])
    assert recovery.planned["seed"]["node"] in (1, 2)
    # Started as it was, before the brokers may have found the new one.
    cluster.start([SURVIVOR])
    view = recovery.new.wait_until_followed(recovery.node, (1, 2, SURVIVOR))
    assert (view.leader, set(view.voters)) == (recovery.node, {recovery.node})
    assert recovery.verify().code == 0
    assert {state_of_cluster(cluster, broker) == lagging.before for broker in (1, 2)} == {True}
