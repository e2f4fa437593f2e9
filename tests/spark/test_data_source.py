"""Log directories as a DataFrame: the rows of a scan; what a filter leaves out is never opened."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from pyspark import cloudpickle
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession, datasource
from pyspark.sql import functions as f

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.scan import scan_log_directories
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import ReplicaLog
from kafka_unclean_recovery.spark.notebook.data_source import FORMAT, KafkaLogDirs, register
from kafka_unclean_recovery.spark.notebook.exploring import explored, jobs_to_read, rows_of
from kafka_unclean_recovery.spark.tables import REPLICAS, replica_log
from kafka_unclean_recovery.stores.store_options import StoreOptions
from tests.log_dir import replica_directories as disks
from tests.log_dir.segments import checkpoint
from tests.spark.cluster import bare_python, environment
from tests.spark.conftest import CONF

EXAMPLE = Path(__file__).parents[2] / "examples" / "explore_log_dirs.py"
LOGS = (disks.plain_log(), disks.upgraded_log(), disks.compacted_log(), disks.old_log())


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return two brokers' disks, with a segment cut short and names that others drop."""
    root = tmp_path_factory.mktemp("tree")
    for broker in (1, 2):
        path = disks.write_log_directory(root / f"broker-{broker}", broker, LOGS)
        for directory in ("__consumer_offsets-49", "a.b_c-0", "orders-10"):
            disks.write_files(path / directory, disks.replica_files(LOGS[0]))
    cut = root / "broker-2" / LOGS[0].directory / LOGS[0].segments[2].name
    cut.write_bytes(cut.read_bytes()[:-5])
    return root


@pytest.fixture(scope="module")
def reading(spark: SparkSession) -> SparkSession:
    register(spark)
    return spark


def logs(frame: DataFrame) -> list[tuple[str, int, ReplicaLog]]:
    rows = [row.asDict(recursive=True) for row in frame.collect()]
    return in_order((r["topic"], r["partition"], replica_log(r)) for r in rows)


def in_order(
    found: Iterable[tuple[str, int, ReplicaLog]],
) -> list[tuple[str, int, ReplicaLog]]:
    return sorted(found, key=lambda of: (of[0], of[1], of[2].broker))


@pytest.mark.parametrize("mode", [ScanMode.FAST, ScanMode.DEEP])
def test_rows_are_those_of_a_scan(reading: SparkSession, tree: Path, mode: ScanMode) -> None:
    info = scan_log_directories([LocalLocation(tree)], mode)
    expected = in_order(
        (p.topic_partition.topic, p.topic_partition.partition, log)
        for p in info.partitions
        for log in p.replica_logs
    )
    found = logs(reading.read.format(FORMAT).option("mode", mode.value).load(str(tree)))
    assert found == expected
    assert len(found) == 14


def test_several_paths_and_no_replica_at_all(
    reading: SparkSession, tree: Path, tmp_path: Path
) -> None:
    paths = [str(tree / "broker-1"), str(tree / "broker-2")]
    frame = reading.read.format(FORMAT).load(paths)
    counted = frame.groupBy("broker").count().collect()
    assert {row.broker: row["count"] for row in counted} == {1: 7, 2: 7}
    disks.write_files(tmp_path, disks.log_directory_files(3, ()))
    assert reading.read.format(FORMAT).load(str(tmp_path)).count() == 0


def filtered_by_spark(frame: DataFrame) -> set[str]:
    plan = frame._jdf.queryExecution().executedPlan().toString()
    (line,) = [line for line in plan.splitlines() if "Filter" in line and "BatchScan" not in line]
    return set(re.findall(r"([a-z_]+)#", line))


def test_what_a_filter_leaves_out_is_never_opened(
    reading: SparkSession, tree: Path, tmp_path: Path
) -> None:
    """A replica that can't be read would be an unusable row."""
    disks.write_log_directory(tmp_path / "broker-1", 1, LOGS)
    disks.write_log_directory(tmp_path / "broker-2", 2, LOGS)
    for path in (tmp_path / "broker-1").glob("*-0/00*.log"):
        path.unlink()
        path.mkdir()
    everything = reading.read.format(FORMAT).load(str(tmp_path))
    assert everything.where("trust = 'unusable'").count() == len(LOGS)
    of_two = everything.where("broker > 1 and topic in ('orders', 'users') and partition = 0")
    # What was taken Spark does not look at again. Before 4.1 it lets nothing be taken.
    if hasattr(datasource, "EqualTo"):
        assert filtered_by_spark(of_two.where("size > 0")) == {"size"}
    assert sorted(row.topic for row in of_two.where("size > 0").collect()) == ["orders", "users"]
    assert of_two.where("size < 0").count() == 0
    (row,) = everything.where(f.col("topic").startswith("up") & (f.col("broker") == 2)).collect()
    assert (row.topic, row.trust) == ("upgraded", "trusted")


def test_jobs_name_no_replica_that_is_left_out(tree: Path) -> None:
    asked = explored({"path": str(tree), "mode": "deep"})
    (job,) = jobs_to_read(
        asked, [("broker", "EqualTo", 2, False), ("topic", "EqualTo", "a.b_c", False)]
    )
    assert [name for name, _ in json.loads(job)["replicas"]] == ["a.b_c-0"]
    (found,) = rows_of(job)
    assert found.schema.equals(REPLICAS)
    assert found["directory"].to_pylist() == [str(tree / "broker-2" / "a.b_c-0")]
    assert jobs_to_read(asked, [("broker", "EqualTo", 9, False)]) == []


def test_a_mount_that_an_executor_lacks_fails_its_task_unless_problems_are_ignored(
    tmp_path: Path,
) -> None:
    """The driver has listed the disk, and another executor may have it."""
    disk = disks.write_log_directory(tmp_path / "broker-1", 1, LOGS[:2])
    paths = {"path": str(tmp_path), "mode": "deep"}
    (job,), (ignoring,) = (
        jobs_to_read(explored({**paths, "ignoreProblems": ignored}), [])
        for ignored in ("false", "true")
    )
    shutil.rmtree(disk)
    with pytest.raises(RuntimeError, match=f"broker-1 can't be read on {os.uname().nodename}:"):
        list(rows_of(job))
    (found,) = rows_of(ignoring)
    assert set(found["trust"].to_pylist()) == {"unusable"}


def test_it_is_unpickled_where_the_package_is_not(reading: SparkSession) -> None:
    """As it is pickled when it is registered. Only then can it look for what was sent along."""
    reader = KafkaLogDirs({"path": "/x"}).reader(KafkaLogDirs({}).schema())
    code = (
        "import pickle, sys; sys.modules['kafka_unclean_recovery'] = None\n"
        "source, reader = pickle.load(sys.stdin.buffer)\n"
        "from pyspark.sql.datasource import InputPartition\n"
        "print(source.name(), list(reader.read(InputPartition(None))))"
    )
    pickled = cloudpickle.dumps((KafkaLogDirs, reader))  # type: ignore[no-untyped-call]
    done = subprocess.run([sys.executable, "-c", code], input=pickled, capture_output=True)
    assert done.stdout.decode() == f"{FORMAT} []\n", done.stderr.decode()


def test_executors_of_another_python_on_this_machine_get_the_package(
    tree: Path, tmp_path: Path
) -> None:
    """That one has what Spark needs, and nothing of ours."""
    driver = tmp_path / "driver.py"
    driver.write_text(
        "from pyspark.sql import SparkSession\n"
        "from kafka_unclean_recovery.spark.notebook.data_source import register\n"
        f"light = SparkSession.builder.config(map={CONF!r})\n"
        "spark = light.master('local[1]').getOrCreate()\n"
        "register(spark)\n"
        f"frame = spark.read.format('kafka_log_dirs').load({str(tree)!r})\n"
        "print('rows', frame.where('broker = 1').count())\n"
    )
    done = subprocess.run(
        [sys.executable, str(driver)],
        env={**environment(bare_python(tmp_path / "bare")), "PYTHONPATH": str(EXAMPLE.parents[1])},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "rows 7" in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({}, "needs paths"),
        ({"path": "/x", "mod": "deep"}, "has no option mod"),
        ({"path": "/x", "mode": "quick"}, "'quick' is none of fast, recover, deep"),
        ({"path": "/x", "ignoreProblems": "yes"}, "'yes' is neither true nor false"),
        ({"paths": "/x"}, "not a JSON array"),
        ({"paths": "[1]"}, "not a JSON array"),
        ({"paths": "[]"}, "needs paths"),
    ],
)
def test_options_that_mean_nothing_are_refused(options: dict[str, str], why: str) -> None:
    with pytest.raises(InputError, match=why):
        explored(options)


def test_options_are_taken_in_any_case() -> None:
    asked = explored(
        {
            "Path": "/a,b",
            "PATHS": '["s3://c"]',
            "Mode": "recover",
            "ENDPOINT": "http://h:1",
            "region": "here",
            "ignoreProblems": "TRUE",
        }
    )
    assert asked.paths == ("/a,b", "s3://c")
    assert asked.mode is ScanMode.RECOVER
    assert asked.store == StoreOptions("http://h:1", "here")
    assert asked.ignore_problems


def test_a_disk_that_cannot_be_read_is_named_or_left_out(
    reading: SparkSession, tree: Path, tmp_path: Path
) -> None:
    disks.write_log_directory(tmp_path / "broker-1", 1, LOGS[:2])
    disks.write_files(tmp_path / "broken", {"meta.properties": b"nothing"})
    disks.write_files(tmp_path / "broker-1", {"replication-offset-checkpoint": checkpoint("x")})
    frame = reading.read.format(FORMAT).load(str(tmp_path))
    with pytest.raises(PySparkException, match=r"broken: left out: meta\.properties") as refused:
        frame.count()
    assert "ignoreProblems" in str(refused.value)
    ignoring = reading.read.format(FORMAT).option("ignoreProblems", "true").load(str(tmp_path))
    assert {row.high_watermark for row in ignoring.collect()} == {None}
    with pytest.raises(AnalysisException, match="no log directory here"):
        reading.read.format(FORMAT).load(str(tmp_path / "nowhere")).count()


def test_the_example_runs(
    reading: SparkSession,
    tree: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE), str(tree)])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    shown = capsys.readouterr().out
    assert "orders" in shown
    assert "the log ends at" in shown
