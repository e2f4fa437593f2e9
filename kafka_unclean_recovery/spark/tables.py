"""The tables of a bulk scan, version 1: what their columns mean, and rows as the model's values.

`replicas` has a row for each replica that was found, `partitions` one for each partition that has
a replica or that the newest metadata log knows. Offsets called end are exclusive, starts inclusive.
Null is unknown, never 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow
from pyspark.sql.types import StructType

from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import (
    BROKER_LISTS,
    EpochSpan,
    Finding,
    PartitionInfo,
    PartitionState,
    ReplicaLog,
    Scanned,
    Severity,
    TopicPartition,
)

SCHEMA_VERSION = 1
KEY = ("topic", "partition")

_arrow: Any = pyarrow

Row = Mapping[str, Any]


def _needed(name: str, kind: Any) -> Any:
    return _arrow.field(name, kind, nullable=False)


_EPOCH_SPAN = _arrow.struct(
    [
        _needed("epoch", _arrow.int32()),
        _needed("start_offset", _arrow.int64()),
        _needed("end_offset", _arrow.int64()),
    ]
)
_FINDING = _arrow.struct(
    [
        _needed("code", _arrow.string()),
        _needed("severity", _arrow.string()),
        _needed("message", _arrow.string()),
    ]
)
_BROKERS = _arrow.list_(_needed("element", _arrow.int32()))

# What the columns of both tables mean is in documents/spark_tables.py.
REPLICAS: Any = _arrow.schema(
    [
        _needed("topic", _arrow.string()),
        _needed("partition", _arrow.int32()),
        _needed("broker", _arrow.int32()),
        ("topic_id", _arrow.string()),
        ("directory_id", _arrow.string()),
        _needed("mode", _arrow.string()),
        ("log_start_offset", _arrow.int64()),
        ("log_end_offset", _arrow.int64()),
        ("last_written_leader_epoch", _arrow.int32()),
        ("epochs", _arrow.list_(_needed("element", _EPOCH_SPAN))),
        ("high_watermark", _arrow.int64()),
        ("recovery_point", _arrow.int64()),
        _needed("size", _arrow.int64()),
        ("record_count", _arrow.int64()),
        _needed("trust", _arrow.string()),
        ("reason", _arrow.string()),
        ("certain_end_offset", _arrow.int64()),
        ("damage", _arrow.string()),
        ("stopped_clean", _arrow.bool_()),
        _needed("compacted", _arrow.bool_()),
        _needed("directory", _arrow.string()),
        ("log_directory", _arrow.string()),
    ],
    metadata={"kafka_unclean_recovery.replicas": str(SCHEMA_VERSION)},
)

PARTITIONS: Any = _arrow.schema(
    [
        _needed("topic", _arrow.string()),
        _needed("partition", _arrow.int32()),
        ("topic_id", _arrow.string()),
        ("leader", _arrow.int32()),
        ("leader_epoch", _arrow.int32()),
        *((name, _BROKERS) for name in BROKER_LISTS),
        ("tiered", _arrow.string()),
        _needed("compacted", _arrow.bool_()),
        _needed("findings", _arrow.list_(_needed("element", _FINDING))),
    ],
    metadata={"kafka_unclean_recovery.partitions": str(SCHEMA_VERSION)},
)

STATE, LOG = range(2)
"""The kinds of rows of merging.sorted_rows."""

# Partitions with the replicas that were found of each.
GROUPED: Any = _arrow.schema([*PARTITIONS, _needed("logs", _arrow.list_(_arrow.struct(REPLICAS)))])


def spark_schema(schema: Any) -> StructType:
    """Return the Spark schema with the columns of a pyarrow schema."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)


def batch(rows: Iterable[Row], schema: Any) -> Any:
    """Return a pyarrow record batch of rows; a column that a row does not have is null."""
    return _arrow.RecordBatch.from_pylist(list(rows), schema)


def replica_row(
    topic_partition: TopicPartition,
    log: ReplicaLog,
    *,
    compacted: bool,
    log_directory: str | None,
) -> dict[str, Any]:
    """Return a scanned log as a row of `replicas`."""
    scanned = log.scanned
    if scanned is None:
        raise ValueError(f"the log of broker {log.broker} was not scanned")
    return {
        "topic": topic_partition.topic,
        "partition": topic_partition.partition,
        "broker": log.broker,
        "topic_id": scanned.topic_id,
        "directory_id": scanned.directory_id,
        "mode": scanned.mode.value,
        "log_start_offset": log.log_start_offset,
        "log_end_offset": log.log_end_offset,
        "last_written_leader_epoch": log.last_written_leader_epoch,
        "epochs": None if log.epochs is None else [_span_row(span) for span in log.epochs],
        "high_watermark": log.high_watermark,
        "recovery_point": scanned.recovery_point,
        "size": scanned.size,
        "record_count": scanned.record_count,
        "trust": "unusable" if log.problem else "suspect" if log.suspect else "trusted",
        "reason": log.problem or log.suspect,
        "certain_end_offset": log.certain_end_offset,
        "damage": scanned.damage,
        "stopped_clean": scanned.stopped_clean,
        "compacted": compacted,
        "directory": scanned.directory,
        "log_directory": log_directory,
    }


def _span_row(span: EpochSpan) -> dict[str, int]:
    return {"epoch": span.epoch, "start_offset": span.start_offset, "end_offset": span.end_offset}


def replica_log(row: Row) -> ReplicaLog:
    """Return the log that a row of `replicas` tells of."""
    epochs = row["epochs"]
    return ReplicaLog(
        broker=row["broker"],
        live=False,
        last_written_leader_epoch=row["last_written_leader_epoch"],
        log_start_offset=row["log_start_offset"],
        high_watermark=row["high_watermark"],
        log_end_offset=row["log_end_offset"],
        epochs=None if epochs is None else tuple(_span(span) for span in epochs),
        source="log-dirs",
        problem=row["reason"] if row["trust"] == "unusable" else None,
        suspect=row["reason"] if row["trust"] == "suspect" else None,
        certain_end_offset=row["certain_end_offset"],
        scanned=Scanned(
            ScanMode(row["mode"]),
            row["directory"],
            topic_id=row["topic_id"],
            directory_id=row["directory_id"],
            recovery_point=row["recovery_point"],
            size=row["size"],
            record_count=row["record_count"],
            damage=row["damage"],
            stopped_clean=row["stopped_clean"],
        ),
    )


def _span(row: Row) -> EpochSpan:
    return EpochSpan(row["epoch"], row["start_offset"], row["end_offset"])


def partition_row(info: PartitionInfo) -> dict[str, Any]:
    """Return a partition as a row of `partitions`; its replicas are rows of their own."""
    state = info.state
    return {
        "topic": info.topic_partition.topic,
        "partition": info.topic_partition.partition,
        "topic_id": state.topic_id if state else None,
        "leader": state.leader if state else None,
        "leader_epoch": state.leader_epoch if state else None,
        **{key: list(getattr(state, key)) if state else None for key in BROKER_LISTS},
        "tiered": state.tiered if state else None,
        "compacted": info.compacted,
        "findings": [
            {"code": f.code, "severity": f.severity.value, "message": f.message}
            for f in info.findings
        ],
    }


def partition_info(row: Row, replica_logs: Iterable[ReplicaLog]) -> PartitionInfo:
    """Return the partition that a row of `partitions` and the logs of its replicas tell of."""
    topic_partition = TopicPartition(row["topic"], row["partition"])
    state = None
    if row["topic_id"] is not None:
        lists: dict[str, Any] = {key: tuple(row[key]) for key in BROKER_LISTS}
        state = PartitionState(
            topic_partition.topic,
            row["topic_id"],
            topic_partition.partition,
            row["leader"],
            row["leader_epoch"],
            **lists,
            tiered=row["tiered"],
        )
    findings = tuple(
        Finding(f["code"], Severity(f["severity"]), f["message"]) for f in row["findings"]
    )
    return PartitionInfo(topic_partition, state, tuple(replica_logs), findings, row["compacted"])
