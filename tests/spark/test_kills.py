"""Executors, or the driver, die as one Spark job after the other begins: the same commands end with
what one process finds."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import mkdtemp

import pytest

from kafka_unclean_recovery.documents.manual_recovery import manual_recovery_json
from kafka_unclean_recovery.log_dir import watching
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.scan import scan_log_directories
from kafka_unclean_recovery.mechanisms import ScanMode
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
    spark_cluster,
    started_tool,
)
from tests.spark.conftest import CONF_FLAGS
from tests.spark.odd_disks import outage
from tests.spark.scans import files_below, in_one_process, info_in

# With these two gone the third, which fell behind, is to lead.
GONE = frozenset({1, 2})
Attacked = Callable[[Sequence[str], int], int]
"""A function that runs the tool with these words to its end, which is to be without an error, kills
something as each job of this many begins, and returns how often it did."""


@pytest.fixture(scope="module")
def disks(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return outage(tmp_path_factory.mktemp("outage"))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCluster]:
    with spark_cluster(tmp_path_factory.mktemp("cluster"), workers=2) as cluster:
        yield cluster


def test_all_executors_die_as_each_job_begins(
    cluster: SparkCluster, disks: list[Path], tmp_path: Path
) -> None:
    def attacked(words: Sequence[str], every: int) -> int:
        events = Path(mkdtemp(prefix="events-", dir=tmp_path))
        flags = ("--master", cluster.url, *DRIVER, *_told_to(events))
        until, kills = 1, 0
        with started_tool([*words, *flags], cluster.python, tmp_path) as tool:
            while not _ended(tool, events, until):
                until = _jobs_begun(events) + every
                kills += sum(worker.kill_below() for worker in cluster.workers) > 0
        return kills

    _a_mission_ends_as_in_one_process(attacked, disks, tmp_path)


def test_the_driver_dies_as_each_job_begins_and_is_started_again(
    disks: list[Path], tmp_path: Path
) -> None:
    def attacked(words: Sequence[str], every: int) -> int:
        for kills in itertools.count():
            events = Path(mkdtemp(prefix="events-", dir=tmp_path))
            flags = ("--master", "local[2]", *CONF_FLAGS, *_told_to(events))
            with started_tool([*words, *flags], Path(sys.executable), tmp_path) as tool:
                if _ended(tool, events, 1 + kills * every):
                    return kills
                tool.kill_all()
        raise AssertionError

    _a_mission_ends_as_in_one_process(attacked, disks, tmp_path)


def _a_mission_ends_as_in_one_process(
    attacked: Attacked, disks: list[Path], tmp_path: Path
) -> None:
    """Scan, plan and salvage, of which the last two have many jobs of one kind."""
    out, saved, here = (tmp_path / name for name in ("out", "saved", "here"))
    leaders, plan = tmp_path / "leaders.json", tmp_path / "plan.json"
    scan = ["spark", "scan", *map(str, disks), "--output", str(out), "--mode", "recover"]
    assert attacked(scan, 1) >= 5
    info = info_in(out)
    assert info == in_one_process(disks, info, ScanMode.RECOVER)

    summaries = ("--summaries", str(out))
    files = ("--manual-recovery-output-file", str(leaders), "--plan-output-file", str(plan))
    excluded = ("--exclude-brokers", ",".join(map(str, GONE)))
    assert attacked(["spark", "plan", *summaries, *files, *excluded], 6) >= 3
    places = [LocalLocation(root) for root in disks]
    reports = plan_from_disks(scan_log_directories(places, ScanMode.RECOVER), GONE)
    plans = [report.plan for report in reports if report.plan is not None]
    assert leaders.read_text() == manual_recovery_json(plans)

    flags = ("--plan", str(plan), "--output", str(saved))
    assert attacked(["spark", "salvage", *summaries, *flags], 3) >= 3
    designated = designated_leaders(plan.read_text(), "plan")
    sources, _ = find_replicas(places, designated, lambda _: True)
    salvage_replicas(sources, Output(here, RecordsFile), watching.Unwatched())
    (saved / "manifest.json").unlink()
    assert files_below(saved) == files_below(here) != {}


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
