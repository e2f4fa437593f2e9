"""What more than one document holds."""

from __future__ import annotations

from kafka_unclean_recovery.documents.values import (
    BrokerId,
    Code,
    Entry,
    Int32,
    Int64,
    OrNone,
    Witnessed,
)
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import Severity


class TopicPartitionJson(Entry, frozen=True):
    """One partition."""

    topic: str
    partition: Int32


class EpochSpanJson(Entry, frozen=True):
    """The records that one leader epoch wrote: offsets [start_offset, end_offset).

    epoch: The leader epoch.
    start_offset: First offset of the epoch, inclusive.
    end_offset: End of the epoch, exclusive.
    """

    epoch: Int32
    start_offset: Int64
    end_offset: Int64


class LossJson(Entry, frozen=True):
    """Records given up by electing one replica, counted as offsets. Null is unknown, never 0.

    certain: Records that live replicas will be made to truncate; each (leader epoch, offset) is
        counted once.
    possible: Records that dead or silent replicas may hold beyond the elected log.
    at_least: Records of both together that witnesses tell of, at least: high watermarks, and
        offsets that groups committed with a leader epoch. Offsets that groups commit are evidence,
        not proof. Null where they tell of none.
    """

    certain: Int64 | None
    possible: Int64 | None
    at_least: Witnessed | None = None


class FindingJson(Entry, frozen=True):
    """Something to weigh before electing.

    code: Stable name of the finding.
    severity: How grave it is, from the gravest: loss, unknown, notice.
    message: One sentence; says what to do.
    """

    code: Code
    severity: Severity
    message: str


class DivergenceJson(Entry, frozen=True):
    """Where one live replica would be truncated under a candidate.

    broker: The broker of the truncated replica.
    offset: What it keeps ends here, exclusive; the record at this offset is the first to go.
    records: How many records it truncates, counted as offsets.
    """

    broker: BrokerId
    offset: Int64
    records: Int64


class ScannedJson(Entry, frozen=True):
    """What the files of a replica say besides how far its log goes.

    mode: How much was looked at. fast: checkpoints and the last headers; recover: CRCs from the
        recovery point on, as a broker does after an unclean stop; deep: CRCs of everything. Losses
        are counted from recover and deep only.
    directory: The directory of the replica, as it was scanned.
    topic_id: Topic id in partition.metadata, as 8-4-4-4-12 hex digits; null where there is none.
    directory_id: Id of the log directory in meta.properties; null where it has none.
    recovery_point: Offset up to which the broker had flushed the log, exclusive; null where its
        checkpoint leaves the partition out.
    size: Bytes in its segments.
    record_count: Records in the log, by a deep scan; null where that is not known.
    damage: What the log ends at when that is not the normal look of a log's end; a broker's own
        recovery would end it there too.
    stopped_clean: Whether its broker was shut down in order: .kafka_cleanshutdown is there. Null
        where that is not known.
    """

    mode: ScanMode
    directory: str
    topic_id: str | None
    directory_id: str | None
    recovery_point: Int64 | None
    size: Int64
    record_count: Int64 | None
    damage: str | None
    stopped_clean: bool | None = None


class ReplicaLogJson(Entry, frozen=True):
    """How far one replica's log goes, and who says so. Null is unknown.

    live: True when the broker is up, unfenced and its log directory works.
    last_written_leader_epoch: Leader epoch of the last record in the log; -1 where no record was
        ever written.
    log_start_offset: First offset in the log, inclusive.
    high_watermark: High watermark that this replica knew, exclusive.
    log_end_offset: End of the log, exclusive; may be past the high watermark.
    epochs: The whole lineage from log start to log end, epochs rising; null when it could not be
        read.
    source: What the figures come from: list-offsets or replica-log-info (a live broker), log-dirs
        (its files).
    problem: Why this log can't be used or was not seen; such a replica is never designated.
    suspect: Why the log may be corrupt although it reads well; it never outranks one that is not.
    certain_end_offset: Up to here, exclusive, a suspect log is certain.
    scanned: There when its files were read, else null.
    broker_epoch: Epoch of the broker's process that answered, where the transport tells it
        (GetReplicaLogInfo); another one means that the broker has started again.
    unproven: Why nothing shows that this broker is the one that answered, and what would; null
        where it is proven, or nothing was answered. No loss is counted by such a log.
    """

    broker: BrokerId
    live: bool
    last_written_leader_epoch: OrNone | None
    log_start_offset: Int64 | None
    high_watermark: Int64 | None
    log_end_offset: Int64 | None
    epochs: tuple[EpochSpanJson, ...] | None
    source: str
    problem: str | None
    suspect: str | None
    certain_end_offset: Int64 | None
    scanned: ScannedJson | None
    broker_epoch: Int64 | None = None
    unproven: str | None = None
