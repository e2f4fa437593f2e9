"""What scan-log-dirs writes for others to read: schemas/replica-info-1.schema.json. Pure.

A plan may rest on such a file alone, so it is read strictly: what it does not say is an error and
never taken as unknown.
"""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.files.json_fields import Fields
from kafka_unclean_recovery.files.json_text import Place, load_object
from kafka_unclean_recovery.files.plan_file import (
    Json,
    finding_json,
    partitions_by_line,
    replica_log_json,
)
from kafka_unclean_recovery.files.plan_reading import read_finding, read_topic
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import (
    EpochLineage,
    EpochSpan,
    PartitionInfo,
    PartitionState,
    ReplicaInfo,
    ReplicaLog,
    Scanned,
    TopicPartition,
)

FORMAT_VERSION = 1
KIND = "replica-info"

_HEAD_KEYS = (
    "format_version",
    "kind",
    "cluster_id",
    "scanned_at",
    "brokers",
    "metadata",
    "problems",
    "interrupted",
    "partitions",
)
_STATE_IDS = (
    "replicas",
    "isr",
    "elr",
    "last_known_elr",
    "offline_replicas",
    "adding_replicas",
    "removing_replicas",
)
_STATE_KEYS = ("topic_id", "leader", "leader_epoch", *_STATE_IDS)
_PARTITION_KEYS = ("topic", "partition", *_STATE_KEYS, "compacted", "findings", "replica_logs")
_LOG_KEYS = (
    "broker",
    "live",
    "last_written_leader_epoch",
    "log_start_offset",
    "high_watermark",
    "log_end_offset",
    "epochs",
    "source",
    "problem",
    "suspect",
    "certain_end_offset",
    "scanned",
    "broker_epoch",
)
_SCANNED_KEYS = (
    "mode",
    "directory",
    "topic_id",
    "directory_id",
    "recovery_point",
    "size",
    "record_count",
    "damage",
    "stopped_clean",
)


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
    return partitions_by_line(head, map(_partition_json, info.partitions), {})


def _partition_json(row: PartitionInfo) -> Json:
    return {
        "topic": row.topic_partition.topic,
        "partition": row.topic_partition.partition,
        **_state_json(row.state),
        "compacted": row.compacted,
        "findings": [finding_json(finding) for finding in row.findings],
        "replica_logs": [replica_log_json(log) for log in row.replica_logs],
    }


def _state_json(state: PartitionState | None) -> Json:
    if state is None:
        return dict.fromkeys(_STATE_KEYS)
    return {
        "topic_id": state.topic_id,
        "leader": state.leader,
        "leader_epoch": state.leader_epoch,
        "replicas": list(state.replicas),
        "isr": list(state.isr),
        "elr": list(state.elr),
        "last_known_elr": list(state.last_known_elr),
        "offline_replicas": list(state.offline_replicas),
        "adding_replicas": list(state.adding_replicas),
        "removing_replicas": list(state.removing_replicas),
    }


def parse_replica_info(text: str, source: str) -> ReplicaInfo:
    """The scan that `text` is; `source` is what errors call the file. Raises InputError."""
    document = Fields(Place(source), load_object(text, source))
    _check_kind(document, source)
    document.only(_HEAD_KEYS)
    metadata = _metadata(document)
    return ReplicaInfo(
        cluster_id=document.text_or_unknown("cluster_id"),
        scanned_at=_time(document, "scanned_at"),
        brokers=document.broker_ids("brokers"),
        partitions=_partitions(document),
        metadata_epoch=metadata[0] if metadata else None,
        metadata_end_offset=metadata[1] if metadata else None,
        problems=document.texts("problems"),
        interrupted=document.flag("interrupted"),
    )


def _check_kind(document: Fields, source: str) -> None:
    if document.values.get("kind") != KIND:
        raise InputError(
            f'{source}: kind: is not "{KIND}"; give a file that scan-log-dirs --output wrote'
        )
    version = document.values.get("format_version")
    if version != FORMAT_VERSION or isinstance(version, bool):  # True == 1
        raise InputError(
            f"{source}: format_version: only {FORMAT_VERSION} is known here; "
            "use the version of this tool that scanned"
        )


def _time(fields: Fields, key: str) -> str:
    text = fields.text(key)
    try:
        zone = datetime.fromisoformat(text).tzinfo
    except ValueError:
        zone = None
    if zone is None:
        raise fields.place.at(key).error(
            "must be a time in ISO 8601 with its offset from UTC, as 2026-01-02T03:04:05+00:00"
        )
    return text


def _metadata(document: Fields) -> tuple[int, int] | None:
    """(leader epoch, end offset) of the metadata log."""
    if not document.known("metadata"):
        return None
    fields = document.object_at("metadata")
    fields.only(("epoch", "end_offset"))
    return fields.int32("epoch"), fields.int64("end_offset")


def _partitions(document: Fields) -> tuple[PartitionInfo, ...]:
    seen: dict[TopicPartition, PartitionInfo] = {}
    for fields in document.objects("partitions"):
        row = _partition(fields)
        if row.topic_partition in seen:
            raise fields.place.error(f"{row.topic_partition} was already there; keep one of them")
        seen[row.topic_partition] = row
    return tuple(row for _, row in sorted(seen.items()))


def _partition(fields: Fields) -> PartitionInfo:
    fields.only(_PARTITION_KEYS)
    topic_partition = TopicPartition(read_topic(fields), fields.int32("partition"))
    return PartitionInfo(
        topic_partition,
        _state(fields, topic_partition),
        _replica_logs(fields),
        tuple(read_finding(found) for found in fields.objects("findings")),
        fields.flag("compacted"),
    )


def _state(fields: Fields, topic_partition: TopicPartition) -> PartitionState | None:
    """All or nothing: half a state is none that a plan may rest on."""
    known = [key for key in _STATE_KEYS if fields.known(key)]
    if not known:
        return None
    if len(known) < len(_STATE_KEYS):
        missing = next(key for key in _STATE_KEYS if key not in known)
        raise fields.place.at(missing).error(f"is null, but {known[0]} is not; scan again")
    state = PartitionState(
        topic_partition.topic,
        fields.text("topic_id"),
        topic_partition.partition,
        fields.int32("leader", least=-1),
        fields.int32("leader_epoch", least=-1),
        *(fields.broker_ids(key) for key in _STATE_IDS),
    )
    if not state.replicas:
        raise fields.place.at("replicas").error("is empty, but every partition has one; scan again")
    return state


def _replica_logs(fields: Fields) -> tuple[ReplicaLog, ...]:
    seen: dict[int, ReplicaLog] = {}
    for row in fields.objects("replica_logs"):
        log = replica_log_of(row)
        if log.live:
            raise row.place.at("live").error("must be false: a scan of disks sees no live broker")
        _check_offsets(log, row.place)
        _check_lineage(log.epochs or (), row.place.at("epochs"))
        if log.broker in seen:
            raise row.place.error(f"broker {log.broker} was already there; keep one of the two")
        seen[log.broker] = log
    return tuple(seen.values())


def replica_log_of(fields: Fields) -> ReplicaLog:
    """What replica_log_json (plan_file.py) wrote. Raises InputError."""
    fields.only(_LOG_KEYS)
    # Files that were written before it was told are without.
    told = "broker_epoch" in fields.values
    return ReplicaLog(
        broker=fields.int32("broker"),
        live=fields.flag("live"),
        last_written_leader_epoch=fields.int32_or_unknown("last_written_leader_epoch", least=-1),
        log_start_offset=fields.int64_or_unknown("log_start_offset"),
        high_watermark=fields.int64_or_unknown("high_watermark"),
        log_end_offset=fields.int64_or_unknown("log_end_offset"),
        epochs=_lineage(fields),
        source=fields.text("source"),
        problem=fields.text_or_unknown("problem"),
        suspect=fields.text_or_unknown("suspect"),
        certain_end_offset=fields.int64_or_unknown("certain_end_offset"),
        scanned=_scanned(fields.object_at("scanned")) if fields.known("scanned") else None,
        broker_epoch=fields.int64_or_unknown("broker_epoch") if told else None,
    )


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


def _lineage(fields: Fields) -> EpochLineage | None:
    if not fields.known("epochs"):
        return None
    return tuple(_span(span) for span in fields.objects("epochs"))


def _span(fields: Fields) -> EpochSpan:
    fields.only(("epoch", "start_offset", "end_offset"))
    return EpochSpan(
        fields.int32("epoch"), fields.int64("start_offset"), fields.int64("end_offset")
    )


def _scanned(fields: Fields) -> Scanned:
    fields.only(_SCANNED_KEYS)
    # Files that were written before it was told are without.
    told = fields.values.get("stopped_clean") is not None
    return Scanned(
        mode=ScanMode(fields.one_of("mode", [mode.value for mode in ScanMode])),
        directory=fields.text("directory"),
        topic_id=fields.text_or_unknown("topic_id"),
        directory_id=fields.text_or_unknown("directory_id"),
        recovery_point=fields.int64_or_unknown("recovery_point"),
        size=fields.int64("size"),
        record_count=fields.int64_or_unknown("record_count"),
        damage=fields.text_or_unknown("damage"),
        stopped_clean=fields.flag("stopped_clean") if told else None,
    )
