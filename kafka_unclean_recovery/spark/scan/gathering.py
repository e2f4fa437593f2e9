"""Spark brings together all that was found of each partition, and tasks check its replicas against
each other.

A row of the shuffle is a state of the newest metadata log, a directory that a broker put aside, or
a replica that was read. Rows are sorted by partition, so that a task needs one partition at a time
in memory.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import Any

from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import lit, struct

from kafka_unclean_recovery.log_dir.clean_stop import as_counted
from kafka_unclean_recovery.log_dir.future_replicas import settled
from kafka_unclean_recovery.log_dir.scan_rows import FoundLogs, in_doubt, partition_info
from kafka_unclean_recovery.log_dir.whole_disks import (
    ReadDirectories,
    ReadDirectory,
    by_id,
    with_gone_replicas,
)
from kafka_unclean_recovery.model import PartitionInfo, ReplicaLog, TopicPartition, WholeDisk
from kafka_unclean_recovery.spark.doubts import Doubts, doubts_of
from kafka_unclean_recovery.spark.new_files import read_rows, whole_rows
from kafka_unclean_recovery.spark.result_paths import ResultPath, in_task, read_table
from kafka_unclean_recovery.spark.scan.bundles import strays_file
from kafka_unclean_recovery.spark.scan.job import Home
from kafka_unclean_recovery.spark.scan.listing import STRAYS
from kafka_unclean_recovery.spark.scan.metadata import STATES
from kafka_unclean_recovery.spark.scan.scanning import DONE, done_directory
from kafka_unclean_recovery.spark.summaries import PARTITIONS as PARTITIONS_DIRECTORY
from kafka_unclean_recovery.spark.summaries import REPLICAS as REPLICAS_DIRECTORY
from kafka_unclean_recovery.spark.tables import (
    PARTITIONS,
    REPLICAS,
    partition_row,
    replica_log,
    replica_row,
)
from kafka_unclean_recovery.spark.tables import (
    partition_info as state_of_row,
)
from kafka_unclean_recovery.spark.tasks import told

_STATE, _STRAY, _LOG = range(3)


@dataclass(frozen=True, slots=True)
class Known:
    """What all log directories tell together. covered: as partition_info has it. clean: how the
    controller counts the stop of each broker. named: brokers that last ran on ZooKeeper, and of
    which some replica has a topic id."""

    compacted: Container[str]
    covered: Container[int]
    read: ReadDirectories
    clean: Mapping[int, bool]
    named: Container[int]


@dataclass(slots=True)
class ScanSummary:
    """The counts of the tables."""

    partitions: int = 0
    replicas: int = 0
    doubts: Doubts = field(default_factory=Doubts)

    def add(self, info: PartitionInfo) -> None:
        self.partitions += 1
        self.replicas += len(info.replica_logs)
        for log in info.replica_logs:
            self.doubts.add(info.topic_partition, log)


def rows_of_partitions(spark: SparkSession, home: Home, tasks: int) -> DataFrame:
    """Return the rows for `gather` in `tasks` tasks, sorted by partition within each of them."""
    states = read_table(spark, home.states, STATES).select(
        "topic", "partition", lit(_STATE).alias("kind"), struct("*").alias("state")
    )
    strays = read_table(spark, strays_file(home), STRAYS).select(
        "topic", "partition", lit(_STRAY).alias("kind"), "place", "broker", "path"
    )
    logs = read_table(spark, done_directory(home), DONE).select(
        "log.topic", "log.partition", lit(_LOG).alias("kind"), "place", "log"
    )
    rows = states.unionByName(strays, allowMissingColumns=True).unionByName(
        logs, allowMissingColumns=True
    )
    return rows.repartition(tasks, "topic", "partition").sortWithinPartitions(
        "topic", "partition", "kind", "place", "path"
    )


def gather(settings: Mapping[str, Any], batches: Iterable[Any]) -> Iterator[Any]:
    """Write this task's part of both tables below the settings' directory, and yield their Summary.
    The function is for DataFrame.mapInArrow over rows_of_partitions."""
    task = TaskContext.get()
    assert task is not None
    rows = (row for batch in batches for row in batch.to_pylist())
    yield told(asdict(_written(settings, rows, task.partitionId())))


def _written(
    settings: Mapping[str, Any], rows: Iterable[Mapping[str, Any]], part: int
) -> ScanSummary:
    """Write the tables' part from `rows`, which are sorted, and return its Summary."""
    name = f"part-{part:05}.parquet"
    replicas, partitions = tables_in(in_task(settings["tables"]))
    known = _known(settings)
    summary = ScanSummary()
    with (
        whole_rows(replicas / name, REPLICAS) as add_replica,
        whole_rows(partitions / name, PARTITIONS) as add_partition,
    ):
        for topic_partition, found in groupby(rows, key=_partition_of):
            info, places = _gathered(topic_partition, found, known)
            summary.add(info)
            add_partition(partition_row(info))
            for log in info.replica_logs:
                add_replica(_replica_row(info, log, places))
    return summary


def summary_of(told_by_tasks: Iterable[Mapping[str, Any]]) -> ScanSummary:
    """Add up what all tasks of `gather` told."""
    whole = ScanSummary()
    for row in told_by_tasks:
        whole.partitions += row["partitions"]
        whole.replicas += row["replicas"]
        whole.doubts.join(doubts_of(row["doubts"]))
    return whole


def tables_in(directory: ResultPath) -> tuple[ResultPath, ResultPath]:
    return directory / REPLICAS_DIRECTORY, directory / PARTITIONS_DIRECTORY


def _known(settings: Mapping[str, Any]) -> Known:
    read = (
        ReadDirectory(id_, WholeDisk(broker, where, clean), frozenset(left_out))
        for id_, broker, where, clean, left_out in settings["read"]
    )
    return Known(
        frozenset(settings["compacted"]),
        frozenset(settings["covered"]),
        by_id(read),
        dict(settings["clean"]),
        frozenset(settings["named"]),
    )


def _partition_of(row: Mapping[str, Any]) -> TopicPartition:
    return TopicPartition(row["topic"], row["partition"])


def _gathered(
    topic_partition: TopicPartition, rows: Iterable[Mapping[str, Any]], known: Known
) -> tuple[PartitionInfo, dict[str, str]]:
    """Return (what is known of the partition, the log directory of each replica's directory)."""
    found, state = FoundLogs(), None
    directories: Sequence[str] = ()
    places: dict[str, str] = {}
    for row in rows:
        if row["kind"] == _STATE:
            state = state_of_row(row["state"], ()).state
            directories = row["state"]["directories"]
        elif row["kind"] == _STRAY:
            found.strays.append((row["broker"], row["path"]))
        else:
            found.logs.append(_counted(replica_log(row["log"]), known))
            places[row["log"]["directory"]] = row["log"]["log_directory"]
    info = partition_info(
        topic_partition,
        state,
        settled(found, state, directories),
        directories,
        compacted=topic_partition.topic in known.compacted,
        covered=known.covered,
    )
    return with_gone_replicas(info, directories, known.read), places


def _counted(log: ReplicaLog, known: Known) -> ReplicaLog:
    counted = as_counted(log, known.clean)
    return in_doubt(counted) if log.broker in known.named else counted


def named_brokers(home: Home, of: Collection[int]) -> set[int]:
    """Return which of the brokers have a replica with a topic id. Raises OSError."""
    paths = done_directory(home).glob("[!.]*.parquet") if of else ()
    logs = (row["log"] for path in paths for row in read_rows(path))
    return {log["broker"] for log in logs if log["topic_id"] is not None}.intersection(of)


def _replica_row(info: PartitionInfo, log: ReplicaLog, places: Mapping[str, str]) -> dict[str, Any]:
    where = places.get(log.scanned.directory) if log.scanned else None
    return replica_row(info.topic_partition, log, compacted=info.compacted, log_directory=where)
