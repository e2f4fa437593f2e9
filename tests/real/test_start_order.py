"""The order of starting after a power cut comes true on real brokers.

POWER_CUTS in the environment is how many cuts there are, of each release.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.real.cli import Cli, Finished
from tests.real.cluster import KafkaCluster
from tests.real.power_cuts import power_cuts
from tests.real.records import create_topic
from tests.real.releases import ONE, TESTED
from tests.real.waiting import wait_until

# The first one with several steps, elections, and an order that loses records.
SEED = 3
CUTS = int(os.environ.get("POWER_CUTS", "1"))


@pytest.mark.parametrize("version", TESTED)
def test_who_leads_and_what_is_lost_after_a_power_cut_is_as_foretold(
    version: str, tmp_path: Path
) -> None:
    with power_cuts(tmp_path, version, SEED) as found:
        for _ in range(CUTS):
            # Of one alone the order that is named counts.
            found.round(blind=CUTS > 1)
            assert found.tally.wrong == []
    print(found.tally)
    # Else nothing was said that could come true.
    assert found.tally.came["elected"] + found.tally.came["by itself"] > 5 * CUTS
    assert CUTS < 5 or found.tally.came["blind and lost"]


def test_a_controller_whose_log_begins_with_a_snapshot_tells_all_once_no_broker_runs(
    tmp_path: Path,
) -> None:
    often = {"metadata.log.max.record.bytes.between.snapshots": "1"}
    with KafkaCluster.create(tmp_path / "c", ONE, brokers=1, properties=often) as cluster:
        cluster.start()
        create_topic(cluster.connection(), "orders", [(1,)])
        cluster.wait_until_partitions("orders", lambda p: p.leader == 1)
        (controller,) = cluster.spec.controller_ids
        disk = ("--log-dirs", str(cluster.log_dir(1)), "--format", "json")
        asked = ("start-order", "--bootstrap-controller", cluster.controller_address(controller))
        runs = Cli(tmp_path).offline(*asked, *disk)
        assert (runs.code, runs.stdout) == (2, "")
        assert "broker 1 runs; give --bootstrap-server" in runs.stderr
        cluster.kill(1)
        _keep_the_newest_snapshot(cluster, controller)
        told: list[Finished] = []

        def nobody_runs() -> bool:
            told[:] = [Cli(tmp_path).offline(*asked, *disk)]
            return told[0].code == 0

        wait_until(nobody_runs, 60, lambda: f"no broker runs: {told}")
        found = told[0].json
        assert (found["unknown"], found["rests_on"]) == ([], None)
        assert [(row["leader"], row["step"]) for row in found["partitions"]] == [(1, 1)]


def _keep_the_newest_snapshot(cluster: KafkaCluster, controller: int) -> None:
    """Let the controller begin with a snapshot alone: its log then begins at the snapshot's end."""
    log = cluster.log_dir(controller) / "__cluster_metadata-0"
    before = max(log.glob("*.checkpoint"))
    wait_until(lambda: max(log.glob("*.checkpoint")) > before, 30, lambda: "a newer snapshot")
    cluster.kill(controller)
    for segment in (*log.glob("*.log"), *log.glob("*index"), *log.glob("leader-epoch-checkpoint")):
        segment.unlink()
    cluster.start([controller])
