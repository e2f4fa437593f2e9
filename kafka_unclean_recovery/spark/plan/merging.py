"""The summaries of one or more scans are merged into one, by the rules of merged_scans.merge_infos.

A single scan has checked its replicas against each other itself. Of several scans, a partition that
only one has, without a suspect, passes as it is: checking it again would change nothing. The other
partitions go through merge_infos itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from kafka_unclean_recovery.model import BROKER_LISTS, ReplicaInfo
from kafka_unclean_recovery.planning.merged_scans import merge_infos, metadata_age, not_in_newest
from kafka_unclean_recovery.spark import summaries
from kafka_unclean_recovery.spark.places import spark_path
from kafka_unclean_recovery.spark.running import cores_of
from kafka_unclean_recovery.spark.shipping import on_executors
from kafka_unclean_recovery.spark.summaries import ScanHead, read_head
from kafka_unclean_recovery.spark.tables import (
    GROUPED,
    KEY,
    PARTITIONS,
    REPLICAS,
    spark_schema,
)

_SCAN = "scan"
_TASKS_A_CORE = 4


@dataclass(frozen=True, slots=True)
class Scans:
    """The directories of spark scan, their heads, and the heads merged: `merged` has no
    partitions."""

    directories: tuple[Path, ...]
    heads: tuple[ReplicaInfo, ...]
    merged: ReplicaInfo

    @property
    def newest(self) -> int:
        """Return the place of the scan with the newest metadata log."""
        return max(range(len(self.heads)), key=lambda place: metadata_age(self.heads[place]))


def read_scans(directories: Sequence[Path]) -> Scans:
    """Read the heads of scans. Raises InputError for a directory without an ended scan, and for
    different clusters."""
    heads = tuple(_info(read_head(directory)) for directory in directories)
    named = [(str(name), head) for name, head in zip(directories, heads, strict=True)]
    return Scans(tuple(directories), heads, merge_infos(named))


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


def read_merged(spark: SparkSession, scans: Scans) -> tuple[DataFrame, DataFrame]:
    """Return (replicas, partitions) of all scans."""
    replicas = _read(spark, scans, summaries.REPLICAS, REPLICAS)
    partitions = _read(spark, scans, summaries.PARTITIONS, PARTITIONS)
    if len(scans.heads) == 1:
        return replicas.drop(_SCAN), partitions.drop(_SCAN)
    delicate = _delicate(replicas, partitions).persist()
    merged = _merged(
        replicas.join(delicate, [*KEY], "left_semi"),
        partitions.join(delicate, [*KEY], "left_semi"),
        scans,
    ).persist()
    logs = _with_addresses(merged.select(F.explode("logs").alias("log")).select("log.*"), replicas)
    whole = replicas.join(delicate, [*KEY], "left_anti").drop(_SCAN)
    states = _of_one_scan(partitions.join(delicate, [*KEY], "left_anti"), scans)
    return whole.unionByName(logs), states.unionByName(merged.select(*PARTITIONS.names))


def _with_addresses(logs: DataFrame, replicas: DataFrame) -> DataFrame:
    """Add the log directories from the scans: merged logs do not tell theirs."""
    key = [*KEY, "broker", "directory"]
    addresses = replicas.select(*key, "log_directory").dropDuplicates(key)
    return logs.drop("log_directory").join(addresses, key, "left").select(*REPLICAS.names)


def _read(spark: SparkSession, scans: Scans, name: str, schema: Any) -> DataFrame:
    """Read one table of all scans, and add the place of each row's scan."""
    reader = spark.read.schema(spark_schema(schema))
    tables = (
        reader.parquet(spark_path(directory.absolute() / name)).withColumn(_SCAN, F.lit(place))
        for place, directory in enumerate(scans.directories)
    )
    return reduce(DataFrame.unionByName, tables)


def _delicate(replicas: DataFrame, partitions: DataFrame) -> DataFrame:
    suspect = replicas.where(F.col("trust") == "suspect").select(*KEY)
    several = partitions.groupBy(*KEY).agg(F.count("*").alias("scans")).where("scans > 1")
    return suspect.union(several.select(*KEY)).distinct()


def _of_one_scan(partitions: DataFrame, scans: Scans) -> DataFrame:
    """Return partitions that need no merge. Those that only an older scan has, and whose state it
    knew, are not in the newest metadata log: they lose their state and get a finding."""
    in_newest = F.col(_SCAN) == scans.newest
    missing = not_in_newest(str(scans.directories[scans.newest]))
    told = (missing.code, missing.severity.value, missing.message)
    finding = F.struct(
        *(F.lit(v).alias(k) for k, v in zip(("code", "severity", "message"), told, strict=True))
    )
    findings = F.when(in_newest | F.col("topic_id").isNull(), F.col("findings")).otherwise(
        F.array_append("findings", finding)
    )
    state = {"topic_id", "leader", "leader_epoch", *BROKER_LISTS, "tiered"}
    return partitions.select(
        *(
            findings.alias(name)
            if name == "findings"
            else F.when(in_newest, F.col(name)).alias(name)
            if name in state
            else F.col(name)
            for name in PARTITIONS.names
        )
    )


def group(replicas: DataFrame, partitions: DataFrame) -> DataFrame:
    """Return a row for each partition: its columns, and `logs`, its replicas that were found."""
    # Spark goes by bytes, which are few, and would give all partitions to one task.
    tasks = tasks_of(partitions.sparkSession)
    replicas, partitions = (rows.repartition(tasks, *KEY) for rows in (replicas, partitions))
    logs = replicas.groupBy(*KEY).agg(F.collect_list(F.struct(*replicas.columns)).alias("logs"))
    none = F.array().cast(logs.schema["logs"].dataType)
    return partitions.join(logs, [*KEY], "left").withColumn("logs", F.coalesce("logs", none))


def tasks_of(spark: SparkSession) -> int:
    """Return in how many tasks the planner, or merging, goes through all partitions."""
    return cores_of(spark) * _TASKS_A_CORE


def _merged(replicas: DataFrame, partitions: DataFrame, scans: Scans) -> DataFrame:
    states = partitions.groupBy(*KEY).agg(
        F.collect_list(F.struct(*partitions.columns)).alias("states")
    )
    work = on_executors(
        "kafka_unclean_recovery.spark.plan.plan_rows:merge_rows",
        {
            "scans": [
                [str(name), head.scanned_at, head.metadata_epoch, head.metadata_end_offset]
                for name, head in zip(scans.directories, scans.heads, strict=True)
            ]
        },
    )
    return group(replicas, states).mapInArrow(work, spark_schema(GROUPED))
