"""A bulk scan beside the scan of one process of the same directories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet
from msgspec.structs import replace

from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.scan import scan_log_directories
from kafka_unclean_recovery.log_dir.tree import Location
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import PartitionInfo, ReplicaInfo, ReplicaLog, TopicPartition
from kafka_unclean_recovery.spark.places import address_of
from kafka_unclean_recovery.spark.scan.job import ScanOptions
from kafka_unclean_recovery.spark.summaries import PARTITIONS, REPLICAS, read_head
from kafka_unclean_recovery.spark.tables import partition_info, replica_log

_parquet: Any = pyarrow.parquet


def asked(roots: Sequence[Path], mode: ScanMode, **fields: Any) -> ScanOptions:
    return ScanOptions(tuple(address_of(LocalLocation(root)) for root in roots), mode, **fields)


def rows(directory: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table; what is no Parquet there would not do."""
    for path in sorted(directory.iterdir()):
        yield from _parquet.read_table(path, partitioning=None).to_pylist()


def info_in(home: Path) -> ReplicaInfo:
    """Return what the summaries in a directory say."""
    head = read_head(home)
    logs: dict[TopicPartition, list[ReplicaLog]] = {}
    for row in rows(home / REPLICAS):
        partition = TopicPartition(row["topic"], row["partition"])
        logs.setdefault(partition, []).append(replica_log(row))
    found = []
    for row in rows(home / PARTITIONS):
        of = logs.pop(TopicPartition(row["topic"], row["partition"]), [])
        found.append(partition_info(row, sorted(of, key=lambda log: log.broker)))
    assert logs == {}
    return ReplicaInfo(
        cluster_id=head.cluster_id,
        scanned_at=head.scanned_at,
        brokers=head.brokers,
        partitions=tuple(sorted(found, key=lambda info: info.topic_partition)),
        metadata_epoch=head.metadata_epoch,
        metadata_end_offset=head.metadata_end_offset,
        problems=head.problems,
        whole=head.whole,
    )


def in_one_process(
    roots: Sequence[Path | Location], like: ReplicaInfo, mode: ScanMode
) -> ReplicaInfo:
    """Return what scan_log_directories says, as far as tables hold it, at the time of `like`."""
    places = [LocalLocation(root) if isinstance(root, Path) else root for root in roots]
    info = scan_log_directories(places, mode)
    partitions = tuple(map(_as_in_tables, info.partitions))
    # Tables do not hold configs: start-order asks for them, and reads no tables.
    at, configs = like.scanned_at, None
    told = replace(info, partitions=partitions, scanned_at=at)
    return replace(told, unclean_topics=configs, fencing=configs)


def _as_in_tables(info: PartitionInfo) -> PartitionInfo:
    """Return the partition as in tables, where a log is either of no use or suspect."""
    logs = (replace(log, suspect=None) if log.problem else log for log in info.replica_logs)
    return replace(info, replica_logs=tuple(logs))


def files_below(root: Path) -> dict[str, bytes]:
    """Return what each file below a directory holds, by its path from there."""
    found = (path for path in root.rglob("*") if path.is_file())
    return {str(path.relative_to(root)): path.read_bytes() for path in found}
