"""The rows of the tables that spark scan writes, for those who read them: schemas are made of these
types. What is in the Parquet files is in spark/tables.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from kafka_unclean_recovery.documents.shared import EpochSpanJson, FindingJson
from kafka_unclean_recovery.documents.values import (
    BrokerId,
    BrokerIds,
    Entry,
    Int32,
    Int64,
    OrNone,
    TopicName,
)
from kafka_unclean_recovery.mechanisms import ScanMode


class SparkReplicaJson(Entry, frozen=True):
    """One replica that was found. Ends of offset ranges are exclusive, starts inclusive; null is
    unknown, never 0.

    broker: Broker in meta.properties of the log directory.
    topic_id: Topic id in partition.metadata, as 8-4-4-4-12 hex digits.
    directory_id: Id of the log directory in meta.properties.
    mode: How much of the files was looked at. fast: checkpoints and the last headers; recover: CRCs
        from the recovery point on; deep: CRCs of everything.
    log_start_offset: First offset in the log, inclusive.
    log_end_offset: End of the log, exclusive.
    last_written_leader_epoch: Leader epoch of the last record in the log; -1 where no record was
        ever written.
    epochs: The whole lineage from log start to log end, epochs rising.
    high_watermark: High watermark in the checkpoint of the broker, exclusive.
    recovery_point: Offset up to which the broker had flushed the log, exclusive.
    size: Bytes in its segments.
    record_count: Records in the log, by a deep scan of batches that tell their number.
    trust: How far the log is to be believed. suspect: it reads well, and may be corrupt from
        certain_end_offset on; unusable: it could not be read, or is another topic's.
    reason: Why the log is suspect or unusable.
    certain_end_offset: Up to here, exclusive, a suspect log is certain.
    damage: What the log ends at when that is not the normal look of a log's end.
    stopped_clean: Whether its broker was shut down in order.
    compacted: True where gaps between the offsets say nothing.
    directory: The directory of the replica, fit to print.
    log_directory: Path or URI of the log directory that it lies in.
    """

    topic: TopicName
    partition: Int32
    broker: BrokerId
    topic_id: str | None
    directory_id: str | None
    mode: ScanMode
    log_start_offset: Int64 | None
    log_end_offset: Int64 | None
    last_written_leader_epoch: OrNone | None
    epochs: tuple[EpochSpanJson, ...] | None
    high_watermark: Int64 | None
    recovery_point: Int64 | None
    size: Int64
    record_count: Int64 | None
    trust: Literal["trusted", "suspect", "unusable"]
    reason: str | None
    certain_end_offset: Int64 | None
    damage: str | None
    stopped_clean: bool | None
    compacted: bool
    directory: str
    log_directory: str | None


class SparkPartitionJson(Entry, frozen=True):
    """One partition that has a replica, or that the newest metadata log knows. What the controller
    knew is null where no metadata log has the partition.

    topic_id: Topic id in the metadata log, as 8-4-4-4-12 hex digits.
    leader: Broker id of the leader; -1 when there was none.
    offline_replicas: Replicas whose broker was fenced or whose log directory had failed.
    tiered: Why a part of the log may lie in remote storage, which is not read; null where none can.
    compacted: True where gaps between the offsets say nothing.
    findings: What to weigh about the directories of the partition.
    """

    topic: TopicName
    partition: Int32
    topic_id: str | None
    leader: OrNone | None
    leader_epoch: OrNone | None
    replicas: BrokerIds | None
    isr: BrokerIds | None
    elr: BrokerIds | None
    last_known_elr: BrokerIds | None
    offline_replicas: BrokerIds | None
    adding_replicas: BrokerIds | None
    removing_replicas: BrokerIds | None
    tiered: str | None
    compacted: bool
    findings: tuple[FindingJson, ...]


ROWS: Mapping[str, tuple[type[Entry], str]] = {
    "spark-replicas": (
        SparkReplicaJson,
        "A row of the table replicas of kafka-unclean-recovery spark scan, format 1",
    ),
    "spark-partitions": (
        SparkPartitionJson,
        "A row of the table partitions of kafka-unclean-recovery spark scan, format 1",
    ),
}
"""Of each table the type of its rows, and a title."""
