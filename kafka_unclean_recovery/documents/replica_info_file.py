"""What scan-log-dirs writes for others to read: schemas/replica-info-1.schema.json. Pure.

A plan may rest on such a file alone, so it is read strictly: what it does not say is an error and
never taken as unknown.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from itertools import pairwise

from kafka_unclean_recovery.documents.plan_file import Json, partitions_by_line
from kafka_unclean_recovery.documents.plan_reading import check_topic
from kafka_unclean_recovery.documents.reading.codec import decode, load_kind, to_json, to_model
from kafka_unclean_recovery.documents.reading.json_text import Place
from kafka_unclean_recovery.documents.reading.json_values import each_once
from kafka_unclean_recovery.documents.replica_info import PartitionJson, ReplicaInfoJson
from kafka_unclean_recovery.documents.shared import ReplicaLogJson
from kafka_unclean_recovery.model import (
    BROKER_LISTS,
    EpochLineage,
    Finding,
    PartitionInfo,
    PartitionState,
    ReplicaInfo,
    ReplicaLog,
    TopicPartition,
    WholeDisk,
)

FORMAT_VERSION = 1
KIND = "replica-info"

_STATE_KEYS = ("topic_id", "leader", "leader_epoch", *BROKER_LISTS)


def replica_info_json(info: ReplicaInfo) -> str:
    """One object, a line for each partition."""
    metadata = None
    if info.metadata_epoch is not None and info.metadata_end_offset is not None:
        metadata = {"epoch": info.metadata_epoch, "end_offset": info.metadata_end_offset}
    head: Json = {
        "format_version": FORMAT_VERSION,
        "kind": KIND,
        "cluster_id": info.cluster_id,
        "scanned_at": info.scanned_at,
        "brokers": list(info.brokers),
        "metadata": metadata,
        "problems": list(info.problems),
        "interrupted": info.interrupted,
    }
    tail: Json = {"whole": to_json(info.whole)}
    return partitions_by_line(head, map(_partition_json, info.partitions), tail)


def _partition_json(row: PartitionInfo) -> Json:
    return {
        "topic": row.topic_partition.topic,
        "partition": row.topic_partition.partition,
        **_state_json(row.state),
        "compacted": row.compacted,
        "findings": to_json(row.findings),
        "replica_logs": to_json(row.replica_logs),
        "tiered": None if row.state is None else row.state.tiered,
    }


def _state_json(state: PartitionState | None) -> Json:
    return {key: None if state is None else getattr(state, key) for key in _STATE_KEYS}


def parse_replica_info(text: str, source: str) -> ReplicaInfo:
    """The scan that `text` is; `source` is what errors call the file. Raises InputError."""
    give = "give a file that scan-log-dirs --output wrote"
    document = load_kind(text, source, KIND, give, "use the version of this tool that scanned")
    place = Place(source)
    read = decode(document, ReplicaInfoJson, place)
    _check_time(read.scanned_at, place.at("scanned_at"))
    each_once(read.brokers, place.at("brokers"))
    return ReplicaInfo(
        cluster_id=read.cluster_id,
        scanned_at=read.scanned_at,
        brokers=read.brokers,
        partitions=_partitions(read.partitions, place.at("partitions")),
        metadata_epoch=read.metadata.epoch if read.metadata else None,
        metadata_end_offset=read.metadata.end_offset if read.metadata else None,
        problems=read.problems,
        interrupted=read.interrupted,
        whole=tuple(to_model(disk, WholeDisk) for disk in read.whole),
    )


def _check_time(text: str, place: Place) -> None:
    try:
        zone = datetime.fromisoformat(text).tzinfo
    except ValueError:
        zone = None
    if zone is None:
        raise place.error(
            "must be a time in ISO 8601 with its offset from UTC, as 2026-01-02T03:04:05+00:00"
        )


def _partitions(rows: Iterable[PartitionJson], place: Place) -> tuple[PartitionInfo, ...]:
    seen: dict[TopicPartition, PartitionInfo] = {}
    for index, entry in enumerate(rows):
        row = _partition(entry, place.item(index))
        if row.topic_partition in seen:
            raise place.item(index).error(
                f"{row.topic_partition} was already there; keep one of them"
            )
        seen[row.topic_partition] = row
    return tuple(row for _, row in sorted(seen.items()))


def _partition(row: PartitionJson, place: Place) -> PartitionInfo:
    check_topic(row.topic, place)
    return PartitionInfo(
        TopicPartition(row.topic, row.partition),
        _state(row, place),
        _replica_logs(row.replica_logs, place.at("replica_logs")),
        tuple(to_model(found, Finding) for found in row.findings),
        row.compacted,
    )


def _state(row: PartitionJson, place: Place) -> PartitionState | None:
    """All or nothing: half a state is none that a plan may rest on."""
    told = {key: getattr(row, key) for key in _STATE_KEYS}
    known = [key for key, value in told.items() if value is not None]
    if not known:
        return None
    if len(known) < len(told):
        lacking = next(key for key in told if key not in known)
        raise place.at(lacking).error(f"is null, but {known[0]} is not; scan again")
    for key in BROKER_LISTS:
        each_once(told[key], place.at(key))
    if not row.replicas:
        raise place.at("replicas").error("is empty, but every partition has one; scan again")
    return PartitionState(row.topic, partition=row.partition, tiered=row.tiered, **told)


def _replica_logs(rows: Iterable[ReplicaLogJson], place: Place) -> tuple[ReplicaLog, ...]:
    seen: dict[int, ReplicaLog] = {}
    for index, row in enumerate(rows):
        log, where = to_model(row, ReplicaLog), place.item(index)
        if log.live:
            raise where.at("live").error("must be false: a scan of disks sees no live broker")
        _check_offsets(log, where)
        _check_lineage(log.epochs or (), where.at("epochs"))
        if log.broker in seen:
            raise where.error(f"broker {log.broker} was already there; keep one of the two")
        seen[log.broker] = log
    return tuple(seen.values())


def _check_offsets(log: ReplicaLog, place: Place) -> None:
    start, end = log.log_start_offset, log.log_end_offset
    if start is not None and end is not None and end < start:
        raise place.at("log_end_offset").error(f"{end} is below the log start {start}; scan again")
    if not log.epochs:
        return
    if start is not None and log.epochs[0].start_offset < start:
        raise place.at("epochs").error(f"begin below the log start {start}; scan again")
    if end is not None and log.epochs[-1].end_offset > end:
        raise place.at("epochs").error(f"go beyond the log end offset {end}; scan again")


def _check_lineage(epochs: EpochLineage, place: Place) -> None:
    for index, span in enumerate(epochs):
        if span.end_offset <= span.start_offset:
            raise (
                place.item(index).at("end_offset").error("must be above start_offset; scan again")
            )
    for index, (before, after) in enumerate(pairwise(epochs), 1):
        if after.epoch <= before.epoch or after.start_offset != before.end_offset:
            raise place.item(index).error(
                "must be of a newer epoch and begin where the one before ends; scan again"
            )
