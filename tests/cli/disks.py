"""Log directories and files of scans, as small as the commands that read them allow."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

from msgspec.structs import replace

from kafka_unclean_recovery.documents.replica_info import replica_info_json
from kafka_unclean_recovery.log_dir.small_files.properties_files import kafka_uuid
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import (
    EpochSpan,
    PartitionInfo,
    PartitionState,
    ReplicaInfo,
    ReplicaLog,
    Scanned,
)
from tests.log_dir.segments import checkpoint, v2

SEGMENT = f"{0:020}.log"
TOPIC_ID = UUID(int=0xC11)
_ITS_METADATA = f"version: 0\ntopic_id: {kafka_uuid(TOPIC_ID)}"


def log_directory(
    path: Path, broker: int, replicas: Mapping[str, int], cluster: str | None = "c1"
) -> Path:
    """Write a log directory. `replicas`: the log end offset of each, by its directory's name."""
    path.mkdir(parents=True)
    # Only version 0 may leave the cluster out.
    known = f"version=1\nnode.id={broker}\ncluster.id={cluster}\n"
    unknown = f"version=0\nbroker.id={broker}\n"
    (path / "meta.properties").write_text(unknown if cluster is None else known)
    for name, end in replicas.items():
        (path / name).mkdir()
        (path / name / SEGMENT).write_bytes(v2(0, end))
        (path / name / "leader-epoch-checkpoint").write_bytes(checkpoint("0 0"))
        (path / name / "partition.metadata").write_text(_ITS_METADATA)
    return path


def replica_log(broker: int, end: int, **fields: Any) -> ReplicaLog:
    log = ReplicaLog(
        broker,
        live=False,
        last_written_leader_epoch=0,
        log_start_offset=0,
        high_watermark=0,
        log_end_offset=end,
        epochs=(EpochSpan(0, 0, end),),
        source="log-dirs",
        scanned=Scanned(ScanMode.RECOVER, f"/mnt/{broker}/orders-0", str(TOPIC_ID)),
    )
    return replace(log, **fields)


def partition(number: int, *logs: ReplicaLog, leader: int = 1, **fields: Any) -> PartitionInfo:
    brokers = tuple(log.broker for log in logs)
    given: dict[str, Any] = {"leader_epoch": 0, "replicas": brokers, "isr": brokers[:1]}
    state = PartitionState("orders", str(TOPIC_ID), number, leader, **given | fields)
    return PartitionInfo(state.topic_partition, state, logs)


def info(*partitions: PartitionInfo, **fields: Any) -> ReplicaInfo:
    brokers = sorted({log.broker for part in partitions for log in part.replica_logs})
    given: dict[str, Any] = {"cluster_id": "c1", "metadata_epoch": 1, "metadata_end_offset": 9}
    return ReplicaInfo(
        scanned_at="2026-01-02T03:04:05+00:00",
        brokers=tuple(brokers),
        partitions=partitions,
        **given | fields,
    )


def write_info(path: Path, scan: ReplicaInfo) -> Path:
    """Write the file as scan-log-dirs --output does."""
    path.write_text(replica_info_json(scan))
    return path
