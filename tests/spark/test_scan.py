"""Spark finds on log directories what one process finds, row for row."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.log_dir.watching import Progress
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.planning.started_replica import GONE
from kafka_unclean_recovery.spark.scan.job import Home
from kafka_unclean_recovery.spark.scan.scan_disks import scan
from tests.log_dir.test_histories import formatted_anew
from tests.log_dir.test_scan import log_directory
from tests.metadata_quorum.disks import static_log, write_node
from tests.private import open_to_others
from tests.spark.odd_disks import ABSENT, COPIED, FUTURE, TWICE, odd_disks, outage
from tests.spark.scans import asked, in_one_process, info_in, rows

FAST, RECOVER, DEEP = ScanMode


class Told:
    """A Watch that remembers what it was told."""

    stopped = False

    def __init__(self) -> None:
        self.jobs: dict[str, int] = {}
        self.last: Progress | None = None

    def tasks(self, what: str, done: int, count: int) -> None:
        self.jobs[what] = done

    def progress(self, so_far: Progress) -> None:
        self.last = so_far


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return odd_disks(tmp_path_factory.mktemp("odd"))


@pytest.mark.parametrize("mode", ScanMode)
def test_odd_disks(spark: SparkSession, odd: list[Path], tmp_path: Path, mode: ScanMode) -> None:
    # So small that every segment is read in pieces.
    told = Told()
    done = scan(spark, asked(odd, mode, share=700), Home(tmp_path / "out"), told)
    info = info_in(tmp_path / "out")
    assert info == in_one_process(odd, info, mode)
    # Pieces were put together.
    assert ("scanning" in told.jobs) == (mode is not FAST)
    assert told.last
    assert told.last.replicas_done == told.last.replicas_total > 50
    assert done
    assert len(done.summary.doubts.unusable.first or ()) == 4
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "job.json",
        "partitions",
        "replicas",
        "scan.json",
        "summary.json",
    ]


def test_an_outage(spark: SparkSession, tmp_path: Path) -> None:
    roots = outage(tmp_path / "cluster")
    scan(spark, asked(roots, RECOVER), Home(tmp_path / "out"))
    info = info_in(tmp_path / "out")
    assert info == in_one_process(roots, info, RECOVER)
    assert info.metadata_end_offset
    rows_by_name = {
        f"{p.topic_partition}": {log.broker: log for log in p.replica_logs} for p in info.partitions
    }
    assert any("never gave" in (log.suspect or "") for log in rows_by_name[FUTURE].values())
    assert all(log.log_end_offset == 302 for log in rows_by_name[TWICE].values())
    assert (rows_by_name[COPIED][3].problem, rows_by_name[COPIED][3].log_end_offset) == (None, 301)
    assert rows_by_name[ABSENT][1].problem == GONE
    assert any("which registered no log directory" in problem for problem in info.problems)
    assert [p.topic_partition.topic for p in info.partitions if p.compacted] == ["users"]


def test_of_metadata_logs_of_two_histories_none_is_believed(
    spark: SparkSession, tmp_path: Path
) -> None:
    roots = [write_node(tmp_path, 1, static_log()), formatted_anew(tmp_path, 700)]
    scan(spark, asked(roots, FAST), Home(tmp_path / "out"))
    info = info_in(tmp_path / "out")
    here = in_one_process(roots, info, FAST)
    assert (info.metadata_end_offset, here.metadata_end_offset) == (None, None)
    assert info.partitions == here.partitions == ()
    assert info.problems == here.problems
    (problem,) = info.problems
    assert "two quorums wrote them, and none is believed" in problem


def test_directories_without_a_replica(spark: SparkSession, tmp_path: Path) -> None:
    roots = [log_directory(tmp_path / "b1", 1), log_directory(tmp_path / "b2", 2)]
    scan(spark, asked(roots, DEEP), Home(tmp_path / "out"))
    info = info_in(tmp_path / "out")
    assert (info.brokers, info.partitions, info.problems) == ((1, 2), (), ())
    assert list(rows(tmp_path / "out" / "replicas")) == []
    assert open_to_others(tmp_path / "out") == []


def test_a_root_that_is_not_there_is_a_problem_and_costs_no_other(
    spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "not mounted").mkdir()
    roots = [tmp_path / "not mounted", log_directory(tmp_path / "b1", 1, {"a-0": 5})]
    scan(spark, asked(roots, DEEP), Home(tmp_path / "out"))
    info = info_in(tmp_path / "out")
    assert [str(p.topic_partition) for p in info.partitions] == ["a-0"]
    # What executors wrote too.
    assert open_to_others(tmp_path / "out") == []
    (problem,) = info.problems
    assert problem.startswith(f"{roots[0]}: no log directory here")


def test_no_log_directory_at_all_is_an_error_and_leaves_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"no root holds a log directory; the first: .*empty"):
        scan(spark, asked([tmp_path / "empty"], DEEP), Home(tmp_path / "out"))
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]


def test_disks_of_two_clusters_are_refused_and_what_was_listed_is_kept(
    spark: SparkSession, tmp_path: Path
) -> None:
    roots = [log_directory(tmp_path / f"c{n}", n, {"a-0": n}, cluster=f"c{n}") for n in (1, 2)]
    with pytest.raises(InputError, match=r"is of cluster c1, .* of cluster c2; give the disks of"):
        scan(spark, asked(roots, DEEP), Home(tmp_path / "out"))
    kept = {path.name for path in (tmp_path / "out").iterdir()}
    assert kept == {"job.json", "leave-out.csv", "work"}


def test_only_what_is_wanted_is_read(spark: SparkSession, tmp_path: Path) -> None:
    root = log_directory(tmp_path / "b1", 1, {"a-0": 5, "ab-0": 5, "b-0": 5, "b-1": 5})
    for name, fields in (("x", {"topics": "a"}), ("y", {"partitions": (("b", 1),)})):
        scan(spark, asked([root], DEEP, **fields), Home(tmp_path / name))
    found = [[str(p.topic_partition) for p in info_in(tmp_path / name).partitions] for name in "xy"]
    assert found == [["a-0"], ["b-1"]]


def test_names_that_spark_or_json_could_stumble_over(spark: SparkSession, tmp_path: Path) -> None:
    """A path that is no UTF-8, and an output that looks like a pattern."""
    strange = tmp_path / os.fsdecode(b"broken \xff disk")
    root = log_directory(strange, 1, {"__consumer_offsets-0": 5, "_.a.-0": 2})
    home = tmp_path / "out {a,b} [c]* %20"
    scan(spark, asked([root], RECOVER), Home(home))
    info = info_in(home)
    assert info == in_one_process([root], info, RECOVER)
    assert len(info.partitions) == 2
