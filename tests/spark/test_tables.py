"""Rows of a bulk scan and the model's values say the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import validate

import kafka_unclean_recovery
from kafka_unclean_recovery.documents.replica_info import TableRowsJson
from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import (
    EpochSpan,
    Finding,
    PartitionInfo,
    PartitionState,
    ReplicaLog,
    Scanned,
    Severity,
    TopicPartition,
    WholeDisk,
)
from kafka_unclean_recovery.spark.summaries import (
    SCAN,
    ScanHead,
    head_json,
    read_head,
)
from kafka_unclean_recovery.spark.tables import (
    PARTITIONS,
    REPLICAS,
    batch,
    partition_info,
    partition_row,
    replica_log,
    replica_row,
    spark_schema,
)
from tests.schemas import SCHEMAS, checked_row

SCHEMA = Path(kafka_unclean_recovery.__file__).parent / "schemas" / "spark-scan-1.schema.json"
ORDERS = TopicPartition("orders", 3)
WHOLE = (WholeDisk(1, "/data-1"), WholeDisk(2, "/data-2", stopped_clean=True))
LOGS = (
    ReplicaLog(
        1,
        live=False,
        last_written_leader_epoch=4,
        log_start_offset=5,
        high_watermark=90,
        log_end_offset=100,
        epochs=(EpochSpan(2, 5, 50), EpochSpan(4, 50, 100)),
        source="log-dirs",
        scanned=Scanned(ScanMode.DEEP, "/d/orders-3", "id", "dir", 80, 4096, 95, "the log ends"),
    ),
    ReplicaLog(
        2,
        live=False,
        log_end_offset=7,
        log_start_offset=0,
        source="log-dirs",
        suspect="offsets fall",
        certain_end_offset=3,
        scanned=Scanned(ScanMode.FAST, "/e/orders-3"),
    ),
    ReplicaLog(
        3,
        live=False,
        source="log-dirs",
        problem="no such thing",
        scanned=Scanned(ScanMode.RECOVER, "/f/orders-3"),
    ),
)
STATE = PartitionState("orders", "id", 3, -1, 9, (1, 2, 3), (1,), (2,), (3,), (1,), (2,), (3,))


@pytest.mark.parametrize("state", [STATE, None])
def test_nothing_is_lost_on_the_way_through_the_tables(state: PartitionState | None) -> None:
    found = Finding("stray_directory", Severity.NOTICE, "put aside")
    info = PartitionInfo(ORDERS, state, LOGS, (found,), compacted=True)
    rows = [replica_row(ORDERS, log, compacted=True, log_directory="/d") for log in LOGS]
    logs = [replica_log(row) for row in batch(rows, REPLICAS).to_pylist()]
    (row,) = batch([partition_row(info)], PARTITIONS).to_pylist()
    assert partition_info(row, logs) == info
    checked_row("partitions", row)
    for replica in batch(rows, REPLICAS).to_pylist():
        checked_row("replicas", replica)


@pytest.mark.parametrize(("table", "columns"), [("replicas", REPLICAS), ("partitions", PARTITIONS)])
def test_a_schema_has_every_column_and_says_which_may_be_null(table: str, columns: Any) -> None:
    schema = SCHEMAS[f"spark-{table}-1.schema.json"]
    assert schema["required"] == list(schema["properties"]) == columns.names
    nullable = {name for name, of in schema["properties"].items() if "null" in of.get("type", ())}
    assert nullable == {column.name for column in columns if column.nullable}


def test_spark_knows_every_column() -> None:
    assert spark_schema(REPLICAS).fieldNames() == REPLICAS.names
    assert spark_schema(PARTITIONS).fieldNames() == PARTITIONS.names


@pytest.mark.parametrize(
    "head",
    [
        ScanHead("c", "2026-01-02T03:04:05+00:00", ScanMode.DEEP, (1, 2), 3, 400, ("x",), WHOLE),
        ScanHead(None, "2026-01-02T03:04:05+00:00", ScanMode.FAST, (), None, None),
        ScanHead(
            None,
            "2026-01-02T03:04:05+00:00",
            ScanMode.FAST,
            (),
            None,
            None,
            rows=TableRowsJson(3, 2),
        ),
    ],
)
def test_the_head_of_a_scan_is_read_back(tmp_path: Path, head: ScanHead) -> None:
    (tmp_path / SCAN).write_text(head_json(head))
    validate(json.loads(head_json(head)), json.loads(SCHEMA.read_text()))
    assert read_head(tmp_path) == head


def test_a_scan_that_did_not_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has not ended; run that again"):
        read_head(tmp_path)
