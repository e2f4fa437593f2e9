"""Salvage by Spark writes what salvage without it writes, file for file and line for line."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow
import pyarrow.parquet
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from kafka_unclean_recovery.documents.plan import plan_json
from kafka_unclean_recovery.log_dir import watching as local
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.scan import scan_log_directories
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import (
    Cluster,
    EpochSpan,
    PartitionPlan,
    PartitionState,
    ReplicaLog,
)
from kafka_unclean_recovery.planning.plan import plan_partition
from kafka_unclean_recovery.salvage.designated import (
    DesignatedLeaders,
    designated_json,
    designated_leaders,
    parse_designated,
)
from kafka_unclean_recovery.salvage.manifest import replica_line
from kafka_unclean_recovery.salvage.parquet import RecordsFile
from kafka_unclean_recovery.salvage.replica import Output
from kafka_unclean_recovery.salvage.salvage_disks import find_replicas
from kafka_unclean_recovery.salvage.salvage_disks import salvage_replicas as salvage_here
from kafka_unclean_recovery.spark.running import Unwatched
from kafka_unclean_recovery.spark.salvage import passes
from kafka_unclean_recovery.spark.salvage.passes import Passes
from kafka_unclean_recovery.spark.salvage.salvage_replicas import How, Tables, Totals
from kafka_unclean_recovery.spark.salvage.salvage_replicas import salvage as salvage_by_spark
from kafka_unclean_recovery.spark.salvage.tasks import salvage_left
from kafka_unclean_recovery.spark.tables import (
    PARTITIONS,
    REPLICAS,
    batch,
    partition_row,
    replica_row,
    spark_schema,
)
from kafka_unclean_recovery.spark.turns import new_claims
from tests.private import open_to_others
from tests.salvage.batches import marker, numbered
from tests.salvage.disks import disk
from tests.spark.scans import files_below
from tests.spark.test_tasks import batches

TOPICS = ("__consumer_offsets", "a.b", "orders")


def _plan(topic: str, partition: int) -> PartitionPlan:
    """Return a plan: 2 lives and is to lead with ten records of epoch 0; 1 and 3 are dead."""
    topic_id = str(UUID(int=TOPICS.index(topic) + 1))
    state = PartitionState(topic, topic_id, partition, -1, 0, (1, 2, 3), offline_replicas=(1, 3))
    leader = ReplicaLog(
        2,
        live=True,
        last_written_leader_epoch=0,
        log_start_offset=0,
        log_end_offset=10,
        epochs=(EpochSpan(0, 0, 10),),
    )
    return plan_partition(state, [leader])


@pytest.fixture(scope="module")
def disks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return tails, none, a transaction, damage in a tail, and a replica without a plan."""
    root = tmp_path_factory.mktemp("disks")
    whole = numbered(0, 10)
    for index, topic in enumerate(TOPICS):
        topic_id = UUID(int=index + 1)
        for partition in range(3):
            name = f"{topic}-{partition}"
            tail = numbered(10, 4 + partition, codec="zstd") + marker(14 + partition, commit=True)
            disk(root, {0: whole + tail + bytes(64)}, broker=1, partition=name, topic_id=topic_id)
            disk(root, {0: whole}, broker=3, partition=name, topic_id=topic_id)
    torn = bytearray(numbered(10, 5))
    torn[70] ^= 1
    orders = UUID(int=TOPICS.index("orders") + 1)
    disk(root, {0: whole + bytes(torn)}, broker=3, partition="orders-3", topic_id=orders)
    disk(root, {0: numbered(0, 3)}, broker=3, partition="unplanned-0")
    return root


@pytest.fixture(scope="module")
def leaders() -> DesignatedLeaders:
    plans = [_plan(topic, partition) for topic in TOPICS for partition in range(4)]
    text = plan_json(Cluster("c1", {}), plans, "2026-01-02T03:04:05+00:00")
    return designated_leaders(text, "plan.json")


@pytest.fixture(scope="module")
def tables(disks: Path, spark: SparkSession) -> Tables:
    info = scan_log_directories([LocalLocation(disks)], ScanMode.RECOVER)
    rows = [
        replica_row(
            part.topic_partition,
            log,
            compacted=part.compacted,
            log_directory=str(disks / f"broker-{log.broker}"),
        )
        for part in info.partitions
        for log in part.replica_logs
    ]
    return Tables(
        _table(spark, rows, REPLICAS),
        _table(spark, [partition_row(part) for part in info.partitions], PARTITIONS),
        "2026-01-02T03:04:05+00:00",
        ("said",),
    )


def _table(spark: SparkSession, rows: list[dict[str, Any]], schema: Any) -> DataFrame:
    return spark.createDataFrame(batch(rows, schema).to_pylist(), spark_schema(schema))


def _salvage(
    spark: SparkSession, tables: Tables, leaders: DesignatedLeaders, root: Path, *, raw: bool
) -> tuple[Totals, Any]:
    """Return (what it says, its manifest)."""
    now = "2026-01-03T00:00:00+00:00"
    how = How(raw_only=raw)
    totals, differing = salvage_by_spark(spark, tables, leaders, root, now, Unwatched(), how)
    assert differing == ()
    return totals, json.loads((root / "manifest.json").read_text())


def test_files_and_lines_are_those_of_one_process(
    spark: SparkSession, disks: Path, leaders: DesignatedLeaders, tables: Tables, tmp_path: Path
) -> None:
    here = tmp_path / "here"
    sources, _ = find_replicas([LocalLocation(disks)], leaders, lambda _: True)
    salvage_here(sources, Output(here, RecordsFile), local.Unwatched())
    elsewhere = tmp_path / "spark"
    elsewhere.mkdir()
    totals, manifest = _salvage(spark, tables, leaders, elsewhere, raw=False)
    (elsewhere / "manifest.json").unlink()
    assert [open_to_others(path) for path in sorted(elsewhere.iterdir())] == [[], []]
    assert files_below(elsewhere) == files_below(here) != {}
    # What holds nothing more was not read again: its row is the scan's, and says the same.
    assert [row.pop("scanned_at") for row in manifest["replicas"]].count(None) == 10
    expected = [json.loads(replica_line(source.row)) for source in sources]
    for row in expected:
        del row["scanned_at"]
    assert manifest["replicas"] == expected
    assert (totals.replicas, totals.with_more, totals.in_doubt) == (19, 9, 1)
    assert totals.first_doubt is not None
    assert totals.first_doubt.startswith("orders-3 of broker 3: the log ends at batch crc")
    assert totals.records == sum(row["records"] or 0 for row in expected) > 0
    assert manifest["problems"] == ["said"]


def test_spark_reads_the_records_as_one_table_by_topic(
    spark: SparkSession, leaders: DesignatedLeaders, tables: Tables, tmp_path: Path
) -> None:
    _salvage(spark, tables, leaders, tmp_path, raw=False)
    table = spark.read.parquet(str(tmp_path / "records"))
    counts = table.groupBy("topic", "partition").count().collect()
    counted = {(row.topic, row.partition): row["count"] for row in counts}
    assert counted == {(topic, p): 5 + p for topic in TOPICS for p in range(3)}


def test_a_plan_row_goes_to_executors_whole(leaders: DesignatedLeaders) -> None:
    for designated in leaders.partitions.values():
        assert parse_designated(designated_json(designated)) == designated


def test_a_disk_that_is_gone_is_a_problem_of_its_rows_alone(
    spark: SparkSession, leaders: DesignatedLeaders, tables: Tables, tmp_path: Path
) -> None:
    there = F.col("log_directory")
    moved = F.when(F.col("topic") == "a.b", F.lit("/nowhere")).otherwise(there)
    gone = replace(tables, replicas=tables.replicas.withColumn("log_directory", moved))
    _, manifest = _salvage(spark, gone, leaders, tmp_path, raw=True)
    problems = {(row["topic"], row["broker"]): row["problems"] for row in manifest["replicas"]}
    assert problems["a.b", 1] == [f"on {os.uname().nodename}: /nowhere: No such file or directory"]
    assert problems["__consumer_offsets", 1] == []
    assert list((tmp_path / "segments" / "orders-0").iterdir()) != []
    assert not (tmp_path / "records").exists()


def test_what_is_missing_where_a_task_ran_is_salvaged_where_it_is_there(
    spark: SparkSession,
    disks: Path,
    leaders: DesignatedLeaders,
    tables: Tables,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Here the disk comes to the host, in place of a task that goes to another one."""
    monkeypatch.setattr(passes, "on_one_machine", lambda _: False)
    expected, root = tmp_path / "expected", tmp_path / "root"
    for directory in (expected, root):
        directory.mkdir()
    _salvage(spark, tables, leaders, expected, raw=True)
    mounted, away = disks / "broker-1", disks / "away"
    everywhere = Passes._everywhere

    def with_the_mount(self: Passes, left: DataFrame) -> None:
        if away.exists():
            away.rename(mounted)
        everywhere(self, left)

    monkeypatch.setattr(Passes, "_everywhere", with_the_mount)
    mounted.rename(away)
    now = "2026-01-03T00:00:00+00:00"
    how = How(raw_only=True)
    _, differing = salvage_by_spark(spark, tables, leaders, root, now, Unwatched(), how)
    assert files_below(root) == files_below(expected)
    said = f"can't be read on {os.uname().nodename}: {mounted}; it is read where it can be"
    assert differing == (said,)


def test_what_no_host_has_is_a_problem_with_the_host_in_the_end(
    spark: SparkSession,
    leaders: DesignatedLeaders,
    tables: Tables,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(passes, "on_one_machine", lambda _: False)
    moved = tables.replicas.withColumn("log_directory", F.lit("/nowhere"))
    totals, manifest = _salvage(spark, replace(tables, replicas=moved), leaders, tmp_path, raw=True)
    assert totals.replicas == 19
    problems = {tuple(row["problems"]) for row in manifest["replicas"]}
    assert problems == {(), (f"on {os.uname().nodename}: /nowhere: No such file or directory",)}


def test_of_what_is_left_a_task_takes_what_is_here_and_nobody_took(
    disks: Path, leaders: DesignatedLeaders, tmp_path: Path
) -> None:
    info = scan_log_directories([LocalLocation(disks)], ScanMode.RECOVER)
    rows = [
        {
            **replica_row(part.topic_partition, log, compacted=False, log_directory=where),
            "designated": designated_json(leaders.partitions[part.topic_partition]),
            "unsure": False,
        }
        for part in info.partitions
        for log in part.replica_logs
        if part.topic_partition.topic == "a.b"
        for where in [str(disks / "broker-1") if log.broker == 1 else "/nowhere"]
    ]
    left = tmp_path / "left"
    left.mkdir()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), left / "part-0.parquet")
    settings = {
        "root": str(tmp_path / "root"),
        "cluster_id": "c1",
        "scanned_at": "2026-01-02T03:04:05+00:00",
        "store": {},
        "raw_only": True,
        "left": str(left),
        "claims": str(new_claims(tmp_path)),
    }
    first, second = (
        [row for found in salvage_left(settings, batches(7)) for row in found.to_pylist()]
        for _ in range(2)
    )
    assert [(row["partition"], row["broker"], row["problems"]) for row in first] == [
        (partition, 1, 0) for partition in range(3)
    ]
    assert second == []


def test_what_may_lie_in_a_second_directory_is_said_and_read_again(
    spark: SparkSession, leaders: DesignatedLeaders, tables: Tables, tmp_path: Path
) -> None:
    twice = F.struct(
        F.lit("replica_in_two_directories").alias("code"),
        F.lit("unknown").alias("severity"),
        F.lit("broker 3 has it twice").alias("message"),
    )
    found = F.when(F.col("topic") == "a.b", F.array(twice)).otherwise(F.col("findings"))
    doubtful = replace(tables, partitions=tables.partitions.withColumn("findings", found))
    totals, manifest = _salvage(spark, doubtful, leaders, tmp_path, raw=True)
    said = [f"a.b-{partition}: broker 3 has it twice" for partition in range(3)]
    assert totals.problems == manifest["problems"] == ["said", *said]
    read = {row["scanned_at"] for row in manifest["replicas"] if row["topic"] == "a.b"}
    assert read == {None}
