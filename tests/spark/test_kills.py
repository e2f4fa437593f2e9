"""Executors, or the driver, die as one Spark job after the other begins: the same commands end with
what one process finds."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

import pytest

from kafka_unclean_recovery.documents.manual_recovery import manual_recovery_json
from kafka_unclean_recovery.documents.plan import plan_json
from kafka_unclean_recovery.log_dir import watching
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.scan import scan_log_directories
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import Cluster, PartitionPlan
from kafka_unclean_recovery.planning.offline_plan import plan_from_disks
from kafka_unclean_recovery.salvage.designated import designated_leaders
from kafka_unclean_recovery.salvage.parquet import RecordsFile
from kafka_unclean_recovery.salvage.replica import Output
from kafka_unclean_recovery.salvage.salvage_disks import find_replicas, salvage_replicas
from tests.real.waiting import wait_until
from tests.spark.cluster import (
    DRIVER,
    JOB_SECONDS,
    Daemon,
    SparkCluster,
    run_tool,
    spark_cluster,
    started_tool,
)
from tests.spark.conftest import CONF_FLAGS
from tests.spark.odd_disks import outage
from tests.spark.scans import files_below, in_one_process, info_in

_HERE = ("--master", "local[2]", *CONF_FLAGS)
# With these two gone the third, which fell behind, is to lead.
GONE = frozenset({1, 2})
Attack = Callable[[Sequence[str], int], int]
"""A function that runs the tool with these words to its end, which is to be without an error, kills
something as each job of this many begins, and returns how often it did."""


@dataclass(frozen=True, slots=True)
class Outage:
    """Disks, the summaries of a scan of them that nothing disturbed, and the plans for them."""

    disks: list[Path]
    summaries: Path
    plans: list[PartitionPlan]

    @property
    def places(self) -> list[LocalLocation]:
        return [LocalLocation(root) for root in self.disks]


@pytest.fixture(scope="module")
def scanned(tmp_path_factory: pytest.TempPathFactory) -> Outage:
    disks = outage(tmp_path_factory.mktemp("outage"))
    home = tmp_path_factory.mktemp("scanned")
    done = run_tool([*_scan(disks, home / "out"), *_HERE], Path(sys.executable), home)
    assert done.returncode in (0, 1), done.stderr
    places = [LocalLocation(root) for root in disks]
    reports = plan_from_disks(scan_log_directories(places, ScanMode.RECOVER), GONE)
    return Outage(disks, home / "out", [report.plan for report in reports if report.plan])


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCluster]:
    with spark_cluster(tmp_path_factory.mktemp("cluster"), workers=2) as cluster:
        yield cluster


@pytest.fixture(params=[0, 1], ids=["from the first job on", "from between the first two on"])
def later(request: pytest.FixtureRequest) -> int:
    """Return how many of the jobs between two attacks begin before the first one, in halves: two
    tests share the places, as all of them cost a slow machine ten minutes."""
    found: int = request.param
    return found


@pytest.fixture(params=["all executors die", "the driver dies and is started again"])
def attacked(request: pytest.FixtureRequest, tmp_path: Path, later: int) -> Attack:
    if request.param == "all executors die":
        return partial(_without_executors, request.getfixturevalue("cluster"), tmp_path, later)
    return partial(_without_driver, tmp_path, later)


def _without_executors(
    cluster: SparkCluster, tmp_path: Path, later: int, words: Sequence[str], every: int
) -> int:
    events = Path(mkdtemp(prefix="events-", dir=tmp_path))
    flags = ("--master", cluster.url, *DRIVER, *_told_to(events))
    until, kills = 1 + later * every // 2, 0
    with started_tool([*words, *flags], cluster.python, tmp_path) as tool:
        while not _ended(tool, events, until):
            until = _jobs_begun(events) + every
            kills += sum(worker.kill_below() for worker in cluster.workers) > 0
    return kills


def _without_driver(tmp_path: Path, later: int, words: Sequence[str], every: int) -> int:
    first = 1 + later * every // 2
    for kills in itertools.count():
        events = Path(mkdtemp(prefix="events-", dir=tmp_path))
        flags = (*_HERE, *_told_to(events))
        with started_tool([*words, *flags], Path(sys.executable), tmp_path) as tool:
            if _ended(tool, events, first + kills * every):
                return kills
            tool.kill_all()
    raise AssertionError


def test_a_scan_ends_as_in_one_process(attacked: Attack, scanned: Outage, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert attacked(_scan(scanned.disks, out), 2) >= 3
    info = info_in(out)
    assert info == in_one_process(scanned.disks, info, ScanMode.RECOVER)


def test_a_plan_ends_as_in_one_process(attacked: Attack, scanned: Outage, tmp_path: Path) -> None:
    leaders, plan = tmp_path / "leaders.json", tmp_path / "plan.json"
    words = ["spark", "plan", "--summaries", str(scanned.summaries)]
    files = ("--manual-recovery-output-file", str(leaders), "--plan-output-file", str(plan))
    excluded = ("--exclude-brokers", ",".join(map(str, GONE)))
    # It has many jobs of one kind, as a salvage has.
    assert attacked([*words, *files, *excluded], 8) >= 2
    assert leaders.read_text() == manual_recovery_json(scanned.plans)


def test_a_salvage_ends_as_in_one_process(
    attacked: Attack, scanned: Outage, tmp_path: Path
) -> None:
    saved, here, plan = (tmp_path / name for name in ("saved", "here", "plan.json"))
    of = Cluster(str(info_in(scanned.summaries).cluster_id), {})
    plan.write_text(plan_json(of, scanned.plans, "2026-01-02T03:04:05+00:00"))
    words = ["spark", "salvage", "--summaries", str(scanned.summaries), "--plan", str(plan)]
    assert attacked([*words, "--output", str(saved)], 6) >= 2
    designated = designated_leaders(plan.read_text(), "plan")
    sources, _ = find_replicas(scanned.places, designated, lambda _: True)
    salvage_replicas(sources, Output(here, RecordsFile), watching.Unwatched())
    (saved / "manifest.json").unlink()
    assert files_below(saved) == files_below(here) != {}


def _scan(disks: Sequence[Path], out: Path) -> list[str]:
    return ["spark", "scan", *map(str, disks), "--output", str(out), "--mode", "recover"]


def _ended(tool: Daemon, events: Path, jobs: int) -> bool:
    """Wait until so many jobs have begun, or the tool has ended; return whether it has, which must
    not be with an error."""
    wait_until(
        lambda: tool.process.poll() is not None or _jobs_begun(events) >= jobs,
        JOB_SECONDS,
        tool.log.read_text,
    )
    if tool.process.poll() is None:
        return False
    assert tool.process.returncode in (0, 1), tool.log.read_text()
    return True


def _told_to(events: Path) -> tuple[str, ...]:
    """Return flags by which Spark writes there what it does as it does it."""
    settings = ("enabled=true", f"dir=file:{events}", "compress=false", "rolling.enabled=false")
    return tuple(word for each in settings for word in ("--conf", f"spark.eventLog.{each}"))


def _jobs_begun(events: Path) -> int:
    return sum(path.read_text().count('"SparkListenerJobStart"') for path in events.iterdir())
