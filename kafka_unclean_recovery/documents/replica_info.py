"""What scan-log-dirs writes for others to read: schemas/replica-info-1.schema.json. Pure.

A plan may rest on such a file alone, so it is read strictly: what it does not say is an error and
never taken as unknown.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from itertools import pairwise
from typing import Literal

from msgspec import UNSET, UnsetType

from kafka_unclean_recovery.documents.plan import check_topic
from kafka_unclean_recovery.documents.reading.codec import decode, load_kind, to_json, to_model
from kafka_unclean_recovery.documents.reading.json_text import Place
from kafka_unclean_recovery.documents.reading.json_values import each_once
from kafka_unclean_recovery.documents.shared import (
    FindingJson,
    ReplicaLogJson,
)
from kafka_unclean_recovery.documents.values import (
    ABSENT,
    BrokerId,
    BrokerIds,
    Entry,
    Int32,
    Int64,
    OrNone,
    TopicName,
    published,
)
from kafka_unclean_recovery.documents.writing import Json, partitions_by_line
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import (
    BROKER_LISTS,
    EpochLineage,
    Fencing,
    Finding,
    PartitionInfo,
    PartitionState,
    ReplicaInfo,
    ReplicaLog,
    TopicPartition,
    WholeDisk,
)


class PartitionJson(Entry, frozen=True):
    """One partition. From topic_id to removing_replicas it is as the newest metadata log has it,
    and all null where none has.

    topic_id: Topic id, as 8-4-4-4-12 hex digits.
    leader: Broker id of the leader; -1 when there was none.
    offline_replicas: Replicas whose broker was fenced or whose log directory had failed.
    compacted: True when compaction may have left gaps between the offsets, as far as was found.
    findings: What to weigh about its directories.
    replica_logs: A row for each broker whose disk has a replica of it.
    tiered: Why a part of the log may lie in remote storage, which is not read, by the newest
        metadata log; null where none can.
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
    compacted: bool
    findings: tuple[FindingJson, ...]
    replica_logs: tuple[ReplicaLogJson, ...]
    tiered: str | None = None


class MetadataJson(Entry, frozen=True):
    """How far the metadata log goes that the states are from; the greater is the newer.

    epoch: Leader epoch of its last record.
    end_offset: End of the metadata log, exclusive.
    """

    epoch: Int32
    end_offset: Int64


class WholeDiskJson(Entry, frozen=True):
    """A broker of which every log directory was read: what is not there is nowhere.

    broker: Id of the broker.
    directory: One of its log directories.
    stopped_clean: Whether it was shut down in order: .kafka_cleanshutdown is in each of them.
    """

    broker: BrokerId
    directory: str
    stopped_clean: bool


class UnfencedJson(Entry, frozen=True):
    """A broker that is registered and not fenced, whether it runs or not.

    epoch: Broker epoch of its registration.
    in_controlled_shutdown: True where it was shutting down in order, and leads nothing any more.
    """

    broker: BrokerId
    epoch: Int64
    in_controlled_shutdown: bool


class FencingJson(Entry, frozen=True):
    """What decides who may lead once the controllers have fenced all brokers after a power cut.

    unfenced: Brokers that are not fenced, as a controller goes through its registrations.
    elr: True where eligible.leader.replicas.version is above 0.
    by_hash: True where controllers are of 4.0 or later, which fence in the order of a hash table;
        null where that is not known.
    min_isr: The min.insync.replicas of all brokers; null where the metadata log has none.
    min_isr_of_topics: The min.insync.replicas of topics that have their own.
    """

    unfenced: tuple[UnfencedJson, ...]
    elr: bool
    by_hash: bool | None
    min_isr: Int32 | None
    min_isr_of_topics: dict[TopicName, Int32]


@published("Replica info of kafka-unclean-recovery, format 1")
class ReplicaInfoJson(Entry, frozen=True):
    """What the log directories of some brokers say. Ends of offset ranges are exclusive, starts
    inclusive; unknown is null.

    cluster_id: Id of the Kafka cluster in meta.properties; null where it has none.
    scanned_at: When the scan began: ISO 8601 with the offset from UTC.
    brokers: Brokers whose log directories were scanned.
    metadata: Null where no metadata log could be read.
    problems: Sentences about the directories as a whole.
    interrupted: True when a signal ended the scan before all was read.
    partitions: The partitions that were found, by topic and partition.
    whole: Brokers of which every log directory was read, as far as that is known.
    unclean_topics: Topics for which the metadata log says that unclean.leader.election.enable is
        true; null where nobody looked.
    fencing: What the metadata log tells of a fencing to come; missing where nobody looked.
    """

    format_version: Literal[1]
    kind: Literal["replica-info"]
    cluster_id: str | None
    scanned_at: str
    brokers: BrokerIds
    metadata: MetadataJson | None
    problems: tuple[str, ...]
    interrupted: bool
    partitions: tuple[PartitionJson, ...]
    whole: tuple[WholeDiskJson, ...] = ()
    unclean_topics: tuple[TopicName, ...] | None = None
    fencing: FencingJson | UnsetType = ABSENT


class TableRowsJson(Entry, frozen=True):
    """How many rows both tables have; one that has others is not whole.

    replicas: Rows of the table replicas.
    partitions: Rows of the table partitions.
    """

    replicas: Int64
    partitions: Int64


@published("scan.json of kafka-unclean-recovery spark scan, format 1")
class SparkScanJson(Entry, frozen=True, kw_only=True):
    """What holds for the tables replicas and partitions beside it. It is written last: without it
    the scan has not ended.

    cluster_id: Null where no log directory names one.
    scanned_at: When the scan began, ISO 8601 with the offset from UTC.
    mode: How much of the files was looked at, as for a replica's `scanned`.
    brokers: Brokers with a log directory that was read.
    metadata: How far the metadata log reaches that the states of partitions are from; null where
        there is none.
    problems: What could not be looked at, and what is odd about log directories as a whole.
    whole: Brokers of which every log directory was read.
    rows: How many rows the tables have; missing where an older version wrote it.
    """

    format_version: Literal[1] = 1
    kind: Literal["spark-scan"] = "spark-scan"
    cluster_id: str | None
    scanned_at: str
    mode: ScanMode
    brokers: BrokerIds
    metadata: MetadataJson | None
    problems: tuple[str, ...]
    whole: tuple[WholeDiskJson, ...] = ()
    rows: TableRowsJson | UnsetType = ABSENT


FORMAT_VERSION = 1
KIND = "replica-info"

_STATE_KEYS = ("topic_id", "leader", "leader_epoch", *BROKER_LISTS)


def replica_info_json(info: ReplicaInfo) -> str:
    """Return a scan as a JSON object with a line for each partition."""
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
    tail: Json = {"whole": to_json(info.whole), "unclean_topics": info.unclean_topics}
    if info.fencing is not None:
        tail["fencing"] = to_json(info.fencing)
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
    """Return the scan that `text` is; `source` is what errors call the file. Raises InputError."""
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
        unclean_topics=read.unclean_topics,
        fencing=None if read.fencing is UNSET else _fencing(read.fencing, place.at("fencing")),
    )


def _fencing(read: FencingJson, place: Place) -> Fencing:
    each_once([each.broker for each in read.unfenced], place.at("unfenced"))
    return to_model(read, Fencing)


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
    """Return the state of the partition, None where all of it is null. Half a state is refused: no
    plan may rest on it."""
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
