"""A scan's answer as the directory of summaries that spark scan would have written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet

from kafka_unclean_recovery.documents.replica_info import TableRowsJson
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import ReplicaInfo
from kafka_unclean_recovery.spark.summaries import (
    PARTITIONS as PARTITIONS_DIRECTORY,
)
from kafka_unclean_recovery.spark.summaries import (
    REPLICAS as REPLICAS_DIRECTORY,
)
from kafka_unclean_recovery.spark.summaries import (
    SCAN,
    ScanHead,
    head_json,
)
from kafka_unclean_recovery.spark.tables import (
    PARTITIONS,
    REPLICAS,
    batch,
    partition_row,
    replica_row,
)

_parquet: Any = pyarrow.parquet
_arrow: Any = pyarrow


def write_summaries(directory: Path, info: ReplicaInfo) -> Path:
    """Make `directory` anew with the summaries. Every log of `info` was scanned."""
    replicas = [
        replica_row(part.topic_partition, log, compacted=part.compacted, log_directory="/data")
        for part in info.partitions
        for log in part.replica_logs
    ]
    partitions = [partition_row(part) for part in info.partitions]
    for name, rows, schema in (
        (REPLICAS_DIRECTORY, replicas, REPLICAS),
        (PARTITIONS_DIRECTORY, partitions, PARTITIONS),
    ):
        (directory / name).mkdir(parents=True)
        table = _arrow.Table.from_batches([batch(rows, schema)])
        _parquet.write_table(table, directory / name / "part-0.parquet")
    head = ScanHead(
        info.cluster_id,
        info.scanned_at,
        ScanMode.DEEP,
        info.brokers,
        info.metadata_epoch,
        info.metadata_end_offset,
        info.problems,
        info.whole,
        TableRowsJson(len(replicas), len(partitions)),
    )
    (directory / SCAN).write_text(head_json(head))
    return directory
