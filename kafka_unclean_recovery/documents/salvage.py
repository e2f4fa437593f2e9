"""manifest.json: what was salvaged, from where, and what could not be."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from kafka_unclean_recovery.documents.values import (
    BrokerId,
    Entry,
    Int32,
    Int64,
    ToldNumber,
    published,
)

Sha256 = Annotated[str, Meta(extra_json_schema={"pattern": "^[0-9a-f]{64}$"})]
Ended = Annotated[str, Meta(extra_json_schema={"enum": ["committed", "aborted", "open"]})]


class SpanJson(Entry, frozen=True):
    """Records of one leader epoch: offsets [start_offset, end_offset).

    epoch: Leader epoch; null where it is not known.
    start_offset: First offset of these records, inclusive.
    end_offset: End of these records, exclusive.
    """

    epoch: Int32 | None
    start_offset: Int64
    end_offset: Int64


class LogJson(Entry, frozen=True):
    """How far a log goes.

    log_start_offset: First offset in the log, inclusive.
    log_end_offset: End of the log, exclusive.
    epochs: The lineage of the log.
    """

    log_start_offset: Int64 | None
    log_end_offset: Int64 | None
    epochs: tuple[SpanJson, ...] | None


class SegmentJson(Entry, frozen=True):
    """A file of batches as they were in the replica's log.

    file: Path of the file, relative to the directory of the manifest.
    first_offset: First offset in the file, inclusive.
    end_offset: End of the offsets in the file, exclusive.
    batches: How many batches it has.
    size: Bytes of the file.
    sha256: SHA-256 of the file.
    salvaged: What `lost` has of the batch in this file, where that batch straddles the cut; null
        for every other file.
    """

    file: str
    first_offset: Int64
    end_offset: Int64
    batches: Int64
    size: Int64
    sha256: Sha256
    salvaged: tuple[SpanJson, ...] | None


class GapJson(Entry, frozen=True):
    """Offsets [start_offset, end_offset).

    start_offset: First offset of the gap, inclusive.
    end_offset: End of the gap, exclusive.
    """

    start_offset: Int64
    end_offset: Int64


class TransactionJson(Entry, frozen=True):
    """A transaction on one partition.

    first_offset: Offset of the transaction's first record on the partition; null where none is
        left.
    marker_offset: Offset of the marker that ended it; null where there is none.
    ending: How it ended, by the replica's own markers.
    """

    producer_id: int
    producer_epoch: int
    first_offset: ToldNumber | None
    marker_offset: ToldNumber | None
    ending: Ended


class TransactionsJson(Entry, frozen=True):
    """Counts of those that wrote what is in `lost`, or ended there, by the replica's own markers.

    committed: How many of them were committed.
    aborted: How many of them were aborted.
    open: How many of them have no marker on this replica.
    ended_beyond_the_cut: Transactions that began before `lost` and end in it: without the marker
        they stay open in the designated leader's log.
    not_ended: Transactions that wrote there and have no marker on this replica.
    """

    committed: Int64
    aborted: Int64
    open: Int64
    ended_beyond_the_cut: tuple[TransactionJson, ...]
    not_ended: tuple[TransactionJson, ...]


class ReplicaJson(Entry, frozen=True, kw_only=True):
    """What was salvaged of one replica.

    topic_id: Topic id in the plan.
    directory: The replica's own, as it was found; of a live replica, the broker that it was fetched
        from.
    directory_id: Id of the log directory in meta.properties; null where it has none.
    designated_leader: How far the log of the designated leader goes.
    designated_log: The designated leader's log, by the plan.
    log: The replica's log, as read; null when it was not.
    suspect: Why it may be corrupt although it reads well; null when nothing says so.
    lost: What the designated leader lacks of it; null when that can't be told.
    below_log_start: What it lacks because its log starts later; not salvaged.
    segments: Files with the records, as they were in the replica's log.
    records_file: The Parquet file, from the directory of the manifest; null without one. Its topic
        is told by the directory that it is in.
    records: Records in it, markers apart.
    markers: Markers of transactions in it.
    missing: Offsets of `lost` that no batch holds; compaction leaves such gaps.
    transactions: How the transactions of these records ended.
    scanned_at: When the earlier scan was begun, the oldest of several, that is all that is known of
        the replica, as `salvaged_at`; null when it was read.
    problems: What could not be read, or is in doubt, and why.
    """

    topic: str
    partition: Int32
    topic_id: str
    broker: BrokerId
    directory: str
    directory_id: str | None
    designated_leader: BrokerId | None
    designated_log: LogJson | None
    log: LogJson | None
    suspect: str | None
    lost: tuple[SpanJson, ...] | None
    below_log_start: tuple[SpanJson, ...] | None
    segments: tuple[SegmentJson, ...]
    records_file: str | None
    records: Int64 | None
    markers: Int64 | None
    missing: tuple[GapJson, ...]
    transactions: TransactionsJson
    scanned_at: str | None
    problems: tuple[str, ...]


@published("manifest.json of kafka-unclean-recovery salvage, format 1")
class SalvageJson(Entry, frozen=True, kw_only=True):
    """What was salvaged, from where, and what could not be. Every offset called an end is
    exclusive, every other inclusive.

    cluster_id: Id of the Kafka cluster, by the plan.
    salvaged_at: ISO 8601 with the offset from UTC.
    problems: Sentences about the log directories as a whole.
    replicas: What was salvaged of each replica, by topic, partition and broker.
    """

    format_version: Literal[1] = 1
    kind: Literal["salvage"] = "salvage"
    cluster_id: str
    salvaged_at: str
    problems: tuple[str, ...]
    replicas: tuple[ReplicaJson, ...]
