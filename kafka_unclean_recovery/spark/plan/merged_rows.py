"""Executors make partitions of merging.sorted_rows. The functions are for shipping.on_executors.

Settings: `scans`, [name, scanned_at, metadata_epoch, metadata_end_offset] of each; `killed`, the
brokers that did not stop in order by one of several scans.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from msgspec.structs import replace

from kafka_unclean_recovery.model import PartitionInfo, ReplicaInfo, ReplicaLog
from kafka_unclean_recovery.planning.merged_scans import merge_infos
from kafka_unclean_recovery.spark.tables import (
    GROUPED,
    STATE,
    Row,
    batch,
    partition_info,
    partition_row,
    replica_log,
    replica_row,
)

Batches = Iterator[Any]

_AT_A_TIME = 500
"""The number of partitions that are merged and planned together."""


def merge_rows(settings: Mapping[str, Any], batches: Batches) -> Batches:
    """Yield GROUPED rows: the merged partitions, each with its replicas."""
    for rows in _some(batches):
        of = {
            (row["log"]["broker"], row["log"]["directory"]): row["log"]["log_directory"]
            for row in rows
            if row["kind"] != STATE
        }
        yield batch((_grouped(info, of) for info in _merged(settings, rows)), GROUPED)


def merged_infos(settings: Mapping[str, Any], batches: Batches) -> Iterator[list[PartitionInfo]]:
    """Yield the merged partitions, some at a time, in their order."""
    return (_merged(settings, rows) for rows in _some(batches))


def _some(batches: Batches) -> Iterator[list[Row]]:
    """Yield rows of some partitions at a time."""
    every = (row for rows in batches for row in rows.to_pylist())
    together: list[Row] = []
    for number, (_, rows) in enumerate(groupby(every, _name), 1):
        together += rows
        if number % _AT_A_TIME == 0:
            yield together
            together = []
    if together:
        yield together


def _name(row: Row) -> tuple[str, int]:
    return row["topic"], row["partition"]


def _merged(settings: Mapping[str, Any], rows: Iterable[Row]) -> list[PartitionInfo]:
    heads = settings["scans"]
    by_scan: list[list[PartitionInfo]] = [[] for _ in heads]
    for _, of_one in groupby(rows, _name):
        states: dict[int, Row] = {}
        logs: dict[int, list[ReplicaLog]] = {}
        for row in of_one:
            if row["kind"] == STATE:
                states[row["scan"]] = row["state"]
            else:
                log = _as_stopped(replica_log(row["log"]), settings["killed"])
                logs.setdefault(row["scan"], []).append(log)
        for scan, state in states.items():
            by_scan[scan].append(partition_info(state, logs.get(scan, ())))
    if len(heads) == 1:
        return by_scan[0]
    named = [(head[0], _of(head, parts)) for head, parts in zip(heads, by_scan, strict=True)]
    return list(merge_infos(named).partitions)


def _as_stopped(log: ReplicaLog, killed: Container[int]) -> ReplicaLog:
    if log.scanned is None or not log.scanned.stopped_clean or log.broker not in killed:
        return log
    return replace(log, scanned=replace(log.scanned, stopped_clean=False))


def _of(head: list[Any], partitions: Iterable[PartitionInfo]) -> ReplicaInfo:
    _, scanned_at, epoch, end = head
    return ReplicaInfo(None, scanned_at, (), tuple(partitions), epoch, end)


def _grouped(info: PartitionInfo, of: Mapping[tuple[int, str], str | None]) -> dict[str, Any]:
    """Return a GROUPED row. of: the log directory of a replica by its broker and directory."""
    logs = [
        replica_row(
            info.topic_partition,
            log,
            compacted=info.compacted,
            log_directory=of.get((log.broker, log.scanned.directory)) if log.scanned else None,
        )
        for log in info.replica_logs
    ]
    return {**partition_row(info), "logs": logs}
