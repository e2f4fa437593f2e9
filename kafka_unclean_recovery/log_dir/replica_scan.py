"""Scan one replica's files for how far its log goes, as LogLoader would read them.

Source: org.apache.kafka.storage.internals.log.LogLoader (recoverLog) and LogSegment.recover.

Where the log ends once its broker has started is told by start/log_end.py. A broker checks neither
base offsets nor leader epochs; batch_log.py does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.replica_files import (
    ReplicaFiles,
    Segment,
    kept_snapshots,
    recovered_from,
    replica_files,
    with_swaps,
)
from kafka_unclean_recovery.log_dir.segments.batch_log import (
    BatchLog,
    Doubt,
    first_contradiction,
    first_fall,
    spans_within,
)
from kafka_unclean_recovery.log_dir.segments.segment_reads import SegmentReads
from kafka_unclean_recovery.log_dir.small_files.checkpoints import LEADER_EPOCHS
from kafka_unclean_recovery.log_dir.small_files.properties_files import (
    PARTITION_METADATA,
    parse_partition_metadata,
)
from kafka_unclean_recovery.log_dir.start.fate import EndsBroker
from kafka_unclean_recovery.log_dir.start.log_end import Stop, read_log
from kafka_unclean_recovery.log_dir.start.recovered_log import Reads
from kafka_unclean_recovery.log_dir.start.text_files import Crash, DiskError, leader_epochs
from kafka_unclean_recovery.log_dir.tree import Folder, Unreadable
from kafka_unclean_recovery.log_dir.watching import Meter
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import EpochLineage, ReplicaLog, Scanned, TopicPartition
from kafka_unclean_recovery.planning.started_replica import NO_SEGMENT

SOURCE = "log-dirs"
_NEVER_WROTE = -1
Assigned = tuple[tuple[int, int], ...]
"""The (leader epoch, start offset) pairs of leader-epoch-checkpoint."""


@dataclass(frozen=True, slots=True)
class Replica:
    """A replica as its log directory tells it: offsets from the checkpoints, None where they leave
    it out. compacted: gaps between its offsets say nothing. zookeeper: its broker last ran on
    ZooKeeper. deleted: its directory is about to be deleted."""

    broker: int
    topic_partition: TopicPartition
    directory: str
    directory_id: str | None = None
    high_watermark: int | None = None
    recovery_point: int | None = None
    log_start: int | None = None
    stopped_clean: bool = False
    compacted: bool = False
    zookeeper: bool = False
    deleted: bool = False


def scan_replica(folder: Folder, replica: Replica, mode: ScanMode, meter: Meter) -> ReplicaLog:
    """Scan one replica; `folder` is its own. If it can't be read, the row's `problem` says why.
    Raises Stopped."""
    return scan_by(SegmentReads(folder, meter), folder, replica, mode)


def scan_by(reads: Reads, folder: Folder, replica: Replica, mode: ScanMode) -> ReplicaLog:
    """Scan a replica as `scan_replica` does, with its segments read by `reads`."""
    try:
        return _scan(reads, folder, replica, mode)
    except Unreadable as error:
        return unreadable(replica, mode, str(error))


def unreadable(replica: Replica, mode: ScanMode, problem: str) -> ReplicaLog:
    """Return the row of a replica that could not be read."""
    scanned = Scanned(
        mode,
        replica.directory,
        directory_id=replica.directory_id,
        stopped_clean=replica.stopped_clean,
    )
    return ReplicaLog(replica.broker, live=False, source=SOURCE, problem=problem, scanned=scanned)


def planned_bytes(files: ReplicaFiles, recovery_point: int | None, mode: ScanMode) -> int:
    """Return about how many bytes a scan in this mode reads of the replica's segments."""
    if mode is ScanMode.FAST:
        return 0
    first = 0 if mode is ScanMode.DEEP else recovered_from(files.segments, recovery_point)
    return sum(segment.size for segment in files.segments[first:])


def _scan(reads: Reads, folder: Folder, replica: Replica, mode: ScanMode) -> ReplicaLog:
    files = replica_files(folder)
    segments = with_swaps(files, reads.end_of)
    stop = Stop(
        replica.stopped_clean,
        replica.recovery_point,
        replica.log_start or 0,
        tuple(kept_snapshots(files, reads.end_of)),
        replica.deleted,
    )
    try:
        log, damage = read_log(reads, segments, stop, mode, compacted=replica.compacted)
    except EndsBroker:
        if files.odd:
            # A broker may fail over this one before, which takes the log directory alone.
            raise Unreadable(files.odd[0]) from None
        raise
    assigned, unassigned = _assigned(folder, files)
    log.finish(max(replica.high_watermark or 0, replica.recovery_point or 0))
    log_start, log_end, lost = _bounds(log, segments, replica.log_start)
    topic_id, nameless = _topic_id(folder, files)
    at_odds = None if assigned is None else first_contradiction(log.runs, assigned, log_start)
    begun = _begins_behind(assigned or (), log_end)
    rotten = f"its broker stopped in order, but {damage}" if replica.stopped_clean else None
    reasons = (nameless, unassigned, damage and rotten)
    odd = (Doubt(reason, 0) for reason in files.odd)
    doubt = _least_certain(
        [
            *odd,
            log.doubt,
            at_odds or first_fall(log.runs),
            lost,
            begun,
            *(Doubt(reason, log_end) for reason in reasons if reason),
        ]
    )
    first = recovered_from(segments, replica.recovery_point)
    whole = damage is None and (mode is ScanMode.DEEP or (first == 0 and mode is not ScanMode.FAST))
    if not assigned and whole:
        assigned = tuple((run.epoch, run.start_offset) for run in log.runs)
    return ReplicaLog(
        replica.broker,
        live=False,
        last_written_leader_epoch=_last_written(log, assigned or (), log_start, log_end),
        log_start_offset=log_start,
        high_watermark=replica.high_watermark,
        log_end_offset=log_end,
        epochs=None if at_odds else _lineage(assigned, log_start, log_end),
        source=SOURCE,
        suspect=None if doubt is None else doubt.reason,
        certain_end_offset=None if doubt is None else max(0, min(doubt.certain_end, log_end)),
        scanned=Scanned(
            mode,
            replica.directory,
            topic_id,
            replica.directory_id,
            replica.recovery_point,
            size=sum(segment.size for segment in segments),
            record_count=log.records if mode is ScanMode.DEEP else None,
            damage=damage,
            stopped_clean=replica.stopped_clean,
        ),
    )


def _least_certain(doubts: Iterable[Doubt | None]) -> Doubt | None:
    return min(filter(None, doubts), key=lambda doubt: doubt.certain_end, default=None)


def _bounds(
    log: BatchLog, segments: Sequence[Segment], checkpoint: int | None
) -> tuple[int, int, Doubt | None]:
    """Return (log start, log end, doubt). A broker deletes a log that ends below its log start."""
    if not segments:
        start = checkpoint or 0
        return start, start, Doubt(NO_SEGMENT, start)
    begins = segments[0].base_offset if log.begins is None else log.begins
    log_end = segments[0].base_offset if log.end is None else log.end
    log_start = checkpoint or 0
    if log_end < log_start:
        why = (
            f"the log ends at {log_end}, below its log start {log_start}: a broker would delete it"
        )
        return log_start, log_start, Doubt(why, log_end)
    if log_end < begins:
        raise Unreadable(
            f"its offsets fall below the first segment, {begins}, and end at {log_end}, which is no"
            " log that any broker writes"
        )
    return max(log_start, begins), log_end, None


def _begins_behind(assigned: Assigned, log_end: int) -> Doubt | None:
    """Return a doubt if the epochs begin beyond the log end: a broker deletes no such records."""
    if not assigned or assigned[0][1] <= log_end:
        return None
    begin = assigned[0][1]
    return Doubt(
        f"the log ends at {log_end}, below {begin}, where leader-epoch-checkpoint begins: what was"
        " written last is gone",
        log_end,
    )


def _last_written(log: BatchLog, assigned: Assigned, log_start: int, log_end: int) -> int | None:
    """Return the epoch of the last batch: the checkpoint's last epoch may have written nothing. For
    a log without records it is the newest epoch the checkpoint knows, or -1 if nothing was ever
    written."""
    if log.batches or log_start != log_end:
        return log.epoch
    if log_end == 0:
        return _NEVER_WROTE
    return assigned[-1][0] if assigned else None


def _lineage(assigned: Assigned | None, log_start: int, log_end: int) -> EpochLineage | None:
    """Return the lineage; None when it is not known, also for records whose leader epoch nobody
    wrote down. It is empty where all records were deleted, even if their segments are still
    there."""
    if log_start == log_end or (assigned and assigned[0][1] == log_end):
        return ()
    return spans_within(assigned or (), log_start, log_end) or None


def _assigned(folder: Folder, files: ReplicaFiles) -> tuple[Assigned | None, str | None]:
    """Return (the entries of leader-epoch-checkpoint as a broker takes them, why they can't be
    told). A file without an entry counts as no file: a broker that recovers the log then reads the
    epochs out of its batches."""
    if not files.has_leader_epochs:
        return None, None
    data = folder.read_whole(LEADER_EPOCHS) or b""
    try:
        return leader_epochs(data) or None, None
    except (DiskError, Crash) as error:
        return None, f"{LEADER_EPOCHS}: {error}"


def _topic_id(folder: Folder, files: ReplicaFiles) -> tuple[str | None, str | None]:
    """Return (the topic id in partition.metadata, why it can't be told)."""
    if not files.has_partition_metadata:
        return None, None
    try:
        return parse_partition_metadata(folder.read_whole(PARTITION_METADATA) or b""), None
    except BadFormat as error:
        return None, str(error)
