"""What one or more scans left is read, one partition after the other, so that a task holds a few at
a time: merged_scans.merge_infos itself merges those of several scans (merged_rows.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from math import ceil
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.model import ReplicaInfo
from kafka_unclean_recovery.planning.merged_scans import merge_infos
from kafka_unclean_recovery.spark import summaries
from kafka_unclean_recovery.spark.new_files import count_rows
from kafka_unclean_recovery.spark.result_paths import ResultPath, read_table
from kafka_unclean_recovery.spark.running import TASKS_A_CORE, cores_of
from kafka_unclean_recovery.spark.shipping import on_executors
from kafka_unclean_recovery.spark.summaries import ScanHead, read_head
from kafka_unclean_recovery.spark.tables import (
    GROUPED,
    KEY,
    LOG,
    PARTITIONS,
    REPLICAS,
    STATE,
    spark_schema,
)
from kafka_unclean_recovery.wording import count_text

_SCAN = "scan"
_ROWS_OF_A_TASK = 10_000


@dataclass(frozen=True, slots=True)
class Scans:
    """The directories of spark scan, their heads, and the heads merged: `merged` has no
    partitions. rows: of all tables."""

    directories: tuple[ResultPath, ...]
    heads: tuple[ReplicaInfo, ...]
    merged: ReplicaInfo
    rows: int


def read_scans(directories: Sequence[ResultPath]) -> Scans:
    """Read the heads of scans, and count the rows. Raises InputError for a directory without an
    ended scan, for a table with other rows than its scan wrote, and for different clusters."""
    read = [read_head(directory) for directory in directories]
    heads = tuple(map(_info, read))
    named = [(str(name), head) for name, head in zip(directories, heads, strict=True)]
    merged = merge_infos(named)
    rows = sum(_counted(name, head) for name, head in zip(directories, read, strict=True))
    return Scans(tuple(directories), heads, merged, rows)


def _counted(directory: ResultPath, head: ScanHead) -> int:
    tables = (summaries.REPLICAS, summaries.PARTITIONS)
    found = [count_rows(directory / table) for table in tables]
    told = found if head.rows is None else [head.rows.replicas, head.rows.partitions]
    for table, rows, written in zip(tables, found, told, strict=True):
        if rows != written:
            raise InputError(
                f"{directory / table}: {count_text(rows, 'row')}, where the scan wrote {written}:"
                " files are missing, or are not of this scan; copy the directory anew, or scan"
                " again"
            )
    return sum(found)


def _info(head: ScanHead) -> ReplicaInfo:
    return ReplicaInfo(
        head.cluster_id,
        head.scanned_at,
        head.brokers,
        (),
        head.metadata_epoch,
        head.metadata_end_offset,
        head.problems,
        whole=head.whole,
    )


def sorted_rows(spark: SparkSession, scans: Scans) -> DataFrame:
    """Return the rows of both tables of all scans, sorted by partition: its `state` in each scan,
    then its replicas, each a `log`."""
    states = _read(spark, scans, summaries.PARTITIONS, PARTITIONS).select(
        *KEY, _SCAN, F.lit(STATE).alias("kind"), F.struct(*PARTITIONS.names).alias("state")
    )
    logs = _read(spark, scans, summaries.REPLICAS, REPLICAS).select(
        *KEY, _SCAN, F.lit(LOG).alias("kind"), F.struct(*REPLICAS.names).alias("log")
    )
    rows = states.unionByName(logs, allowMissingColumns=True)
    ranged = rows.repartitionByRange(tasks_of(spark, scans), *KEY)
    return ranged.sortWithinPartitions(*KEY, "kind", _SCAN, "log.broker")


def merge_settings(spark: SparkSession, scans: Scans) -> dict[str, object]:
    """Return what merged_rows and plan_rows have to know of the scans."""
    killed = _killed(spark, scans) if len(scans.heads) > 1 else set()
    return {
        "scans": [
            [str(name), head.scanned_at, head.metadata_epoch, head.metadata_end_offset]
            for name, head in zip(scans.directories, scans.heads, strict=True)
        ],
        "killed": sorted(killed),
        "whole": [
            (disk.broker, disk.directory, disk.stopped_clean and disk.broker not in killed)
            for disk in scans.merged.whole
        ],
    }


def read_merged(spark: SparkSession, scans: Scans) -> tuple[DataFrame, DataFrame]:
    """Return (replicas, partitions) of all scans."""
    if len(scans.heads) == 1:
        tables = (summaries.REPLICAS, REPLICAS), (summaries.PARTITIONS, PARTITIONS)
        replicas, partitions = (_read(spark, scans, *table).drop(_SCAN) for table in tables)
        return replicas, partitions
    work = on_executors(
        "kafka_unclean_recovery.spark.plan.merged_rows:merge_rows", merge_settings(spark, scans)
    )
    merged = sorted_rows(spark, scans).mapInArrow(work, spark_schema(GROUPED)).persist()
    replicas = merged.select(F.explode("logs").alias("log")).select("log.*")
    return replicas, merged.select(*PARTITIONS.names)


def _read(spark: SparkSession, scans: Scans, name: str, schema: Any) -> DataFrame:
    """Read one table of all scans, and add the place of each row's scan."""
    tables = (
        read_table(spark, directory / name, schema).withColumn(_SCAN, F.lit(place))
        for place, directory in enumerate(scans.directories)
    )
    return reduce(DataFrame.unionByName, tables)


def _killed(spark: SparkSession, scans: Scans) -> set[int]:
    """Return the brokers that did not stop in order by one of their log directories, which may be
    in several scans."""
    replicas = _read(spark, scans, summaries.REPLICAS, REPLICAS)
    found = replicas.where(~F.col("stopped_clean")).select("broker").distinct().collect()
    whole = {disk.broker for disk in scans.merged.whole if not disk.stopped_clean}
    return whole.union(row.broker for row in found)


def tasks_of(spark: SparkSession, scans: Scans) -> int:
    """Return in how many tasks the planner, or merging, goes through all partitions: the driver
    takes the texts of one task at a time, and has a GiB of memory unless told otherwise."""
    return max(cores_of(spark) * TASKS_A_CORE, ceil(scans.rows / _ROWS_OF_A_TASK))
