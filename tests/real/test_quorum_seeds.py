"""Seeds of damaged copies: never one that the real controller refuses, or takes for something else
than we said. Kafka's own tool reads what we wrote.

QUORUM_STARTS in the environment is how many damaged copies are tried; those that get a plan are
started, each as a process of its own. Many more are loaded by the controller's classes alone:
test_seeds_by_kafkas_controller.py.
"""

from __future__ import annotations

import os
import random
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.real.cli import Cli
from tests.real.cluster import KafkaCluster
from tests.real.new_controllers import SERVERS, NewControllers
from tests.real.quorum_recipe import LAST, NAMES, ORDERS, three_controllers_and_two_brokers
from tests.real.quorum_recovery import NEW, QuorumRecovery
from tests.real.quorum_view import wait_for_quorum

METADATA = "__cluster_metadata-0"
SEEDS = int(os.environ.get("QUORUM_STARTS", "10"))


@dataclass(frozen=True)
class Copies:
    """Disks of a stopped cluster with a dynamic quorum."""

    cluster: KafkaCluster
    recovery: QuorumRecovery
    whole: Path

    def segment(self, disks: Path) -> Path:
        return max((disks / METADATA).glob("*.log"))


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copies]:
    home = tmp_path_factory.mktemp("seeds")
    made = three_controllers_and_two_brokers(home / "cluster", dynamic_quorum=True)
    with made as cluster, NewControllers(cluster) as new:
        cluster.kill_all()
        whole = home / "whole"
        # Without the data, which would tell of records that a damaged copy lacks.
        topics = (f"{topic}-*" for topic in (ORDERS, NAMES, LAST))
        leave = shutil.ignore_patterns("*.index", "*.timeindex", *topics)
        shutil.copytree(cluster.log_dir(1), whole, ignore=leave)
        yield Copies(cluster, QuorumRecovery(Cli(home), new), whole)


def test_kafkas_tool_reads_the_seed_as_we_said(copies: Copies, tmp_path: Path) -> None:
    recovery = copies.recovery
    assert recovery.plan([copies.whole], "--without-copies-of", "2").code == 0
    assert recovery.seed(tmp_path / "seed").code == 0
    segment = copies.segment(tmp_path / "seed")
    flags = ("--cluster-metadata-decoder", "--files", str(segment))
    told = copies.cluster.script("kafka-dump-log", *flags).stdout
    last = told[told.rindex("baseOffset") :]
    assert re.search(r"isControl: true.* isvalid: true", last)
    assert f'"voterId":{NEW}' in last.replace(" ", "")
    assert "LeaderChange" in last
    assert "KRaftVoters" in last


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_damaged_copy_is_refused_or_becomes_a_controller_that_leads(
    copies: Copies, tmp_path: Path, seed: int
) -> None:
    damaged = tmp_path / "damaged"
    shutil.copytree(copies.whole, damaged)
    _damage(copies.segment(damaged), random.Random(seed))
    recovery = copies.recovery
    recovery.plan_file.unlink(missing_ok=True)
    planned = recovery.plan([damaged], "--without-copies-of", "2")
    assert planned.code in (0, 1), planned.stderr
    if planned.code == 1:
        return
    new = copies.recovery.new
    shutil.rmtree(new.log_dir(NEW), ignore_errors=True)
    assert recovery.seed().code == 0
    new.configure(NEW, recovery.address, {SERVERS: recovery.address})
    new.start(NEW)
    try:
        plan = recovery.planned
        wait_for_quorum(
            recovery.address,
            lambda view: view.leader == NEW and view.high_watermark > plan["seed"]["end_offset"],
            "the new controller leads",
        )
        assert "fatal" not in new.output(NEW).read_text(errors="replace").lower()
    finally:
        new.kill(NEW)


def _damage(segment: Path, chance: random.Random) -> None:
    """Damage the last three quarters, so that enough is left to begin from. Half of the time the
    end is cut off, which is all that a plan forgives."""
    data = bytearray(segment.read_bytes())
    at = chance.randrange(len(data) // 4, len(data))
    if chance.random() < 0.5:
        del data[at:]
    else:
        data[at] ^= 1 << chance.randrange(8)
    segment.write_bytes(data)
