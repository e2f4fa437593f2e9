"""Merge scans into one, and add the disks of dead brokers to the answers of live ones; no I/O."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from msgspec.structs import replace

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import (
    Finding,
    PartitionInfo,
    PartitionState,
    ReplicaInfo,
    ReplicaLog,
    Severity,
    TopicPartition,
    WholeDisk,
)
from kafka_unclean_recovery.planning.log_trust import cross_check
from kafka_unclean_recovery.planning.started_replica import NO_DIRECTORY, with_gone

Named = tuple[str, ReplicaInfo]
"""A scan with the name that messages use for it, as (name, scan)."""


NOT_IN_NEWEST = "not_in_newest_metadata"
"""The code of the finding on a partition that only an older metadata log has."""


@dataclass(frozen=True, slots=True)
class _Source:
    name: str
    info: ReplicaInfo
    partitions: Mapping[TopicPartition, PartitionInfo]


def merge_infos(infos: Sequence[Named]) -> ReplicaInfo:
    """Merge scans: states come from the newest metadata log, each replica from its latest scan.

    `scanned_at` is that of the oldest scan: nothing here is older. Raises InputError for scans of
    different clusters.
    """
    cluster_id = _one_cluster(infos)
    newest_info = max((info for _, info in infos), key=metadata_age)
    sources = [
        _Source(name, info, {row.topic_partition: row for row in info.partitions})
        for name, info in sorted(infos, key=lambda named: _time(named[1]))
    ]
    newest = next(source for source in sources if source.info is newest_info)
    every = {tp for source in sources for tp in source.partitions}
    whole = tuple({disk.broker: disk for source in sources for disk in source.info.whole}.values())
    partitions = [with_gone_row(_merged(tp, sources, newest), whole) for tp in sorted(every)]
    return ReplicaInfo(
        cluster_id=cluster_id,
        scanned_at=sources[0].info.scanned_at,
        brokers=tuple(sorted({b for source in sources for b in source.info.brokers})),
        partitions=tuple(_with_one_stop(partitions, whole)),
        metadata_epoch=newest_info.metadata_epoch,
        metadata_end_offset=newest_info.metadata_end_offset,
        problems=tuple(f"{name}: {p}" for name, info in infos for p in info.problems),
        interrupted=any(info.interrupted for _, info in infos),
        whole=whole,
        unclean_topics=newest_info.unclean_topics,
        fencing=newest_info.fencing,
    )


def check_cluster(info: ReplicaInfo, cluster_id: str) -> None:
    """Check that disks are of the brokers' cluster. Raises InputError when they are not."""
    if info.cluster_id not in (None, cluster_id):
        raise InputError(
            f"the disks are of cluster {info.cluster_id}, the brokers of cluster {cluster_id};"
            " give disks of the cluster that is to be recovered"
        )


def add_disks(
    replica_logs: Mapping[TopicPartition, Sequence[ReplicaLog]],
    states: Mapping[TopicPartition, PartitionState],
    cluster_id: str,
    info: ReplicaInfo,
) -> dict[TopicPartition, tuple[ReplicaLog, ...]]:
    """Return `replica_logs` of a live cluster, with the disks of the replicas that are not live.

    The answer of a live broker is never replaced, not even its silence. Raises InputError for disks
    of another cluster.
    """
    check_cluster(info, cluster_id)
    rows = {row.topic_partition: row for row in info.partitions}
    return {
        tp: _beside(logs, _row_of(tp, rows, states.get(tp), info), states.get(tp), info.brokers)
        for tp, logs in replica_logs.items()
    }


def _row_of(
    tp: TopicPartition,
    rows: Mapping[TopicPartition, PartitionInfo],
    state: PartitionState | None,
    info: ReplicaInfo,
) -> PartitionInfo:
    """Return what the disks tell of a partition, which may be younger than their metadata log."""
    row = rows.get(tp) or PartitionInfo(tp, None, ())
    return replace(row, replica_logs=with_gone(state, row.replica_logs, info.whole))


def _beside(
    logs: Sequence[ReplicaLog],
    row: PartitionInfo,
    state: PartitionState | None,
    scanned: Container[int],
) -> tuple[ReplicaLog, ...]:
    disks = {log.broker: log for log in row.replica_logs}
    return cross_check(
        state,
        [_disk_of(log, disks.get(log.broker), log.broker in scanned) for log in logs],
        compacted=row.compacted,
        covered=disks,
    )


def _disk_of(log: ReplicaLog, disk: ReplicaLog | None, scanned: bool) -> ReplicaLog:
    """Return what the disk tells of a replica that is not live. A broker that may live after all
    goes on writing to its disk, so the doubt stays. scanned: some log directory of its broker was
    scanned."""
    if log.live or (disk is None and (log.unproven is not None or not scanned)):
        return log
    if disk is None:
        return replace(log, problem=NO_DIRECTORY)
    return disk if log.unproven is None else replace(disk, unproven=log.unproven)


def _one_cluster(infos: Sequence[Named]) -> str | None:
    known = [(name, info.cluster_id) for name, info in infos if info.cluster_id is not None]
    for name, cluster_id in known[1:]:
        first, its_id = known[0]
        if cluster_id != its_id:
            raise InputError(
                f"{first} is of cluster {its_id}, {name} of cluster {cluster_id}; give the disks of"
                " one cluster"
            )
    return known[0][1] if known else None


def metadata_age(info: ReplicaInfo) -> tuple[int, int]:
    """Return a pair that is greater for a newer metadata log; a scan without one has the least."""
    if info.metadata_epoch is None or info.metadata_end_offset is None:
        return -1, -1
    return info.metadata_epoch, info.metadata_end_offset


def _time(info: ReplicaInfo) -> datetime:
    return datetime.fromisoformat(info.scanned_at)


def _merged(
    topic_partition: TopicPartition,
    sources: Sequence[_Source],
    newest: _Source,
) -> PartitionInfo:
    """Merge the rows of one partition; `sources` has the oldest scan first."""
    rows = [
        (s.name, s.partitions[topic_partition]) for s in sources if topic_partition in s.partitions
    ]
    in_newest = newest.partitions.get(topic_partition)
    state = in_newest.state if in_newest else None
    logs: dict[int, tuple[str, ReplicaLog]] = {}
    found = [finding for _, row in rows for finding in row.findings]
    if state is None and any(row.state for _, row in rows):
        found.append(_not_in_newest(newest.name))
    if state is not None:
        others = ((name, row.state) for name, row in rows if row.state is not None)
        found += [odd for name, other in others if (odd := _odd(newest.name, state, name, other))]
    for name, row in rows:
        for log in row.replica_logs:
            before = logs.get(log.broker)
            if before is not None and _differs(before[1], log):
                found.append(_scanned_twice(before, (name, log)))
            elif before is not None and _depth(before[1]) > _depth(log):
                continue
            logs[log.broker] = name, log
    compacted = any(row.compacted for _, row in rows)
    # Each scan has already checked its replicas against the metadata logs that it found itself.
    checked = cross_check(
        state,
        [log for _, (_, log) in sorted(logs.items())],
        compacted=compacted,
        covered=(),
    )
    return PartitionInfo(topic_partition, state, checked, tuple(_once(found)), compacted)


def with_gone_row(row: PartitionInfo, whole: tuple[WholeDisk, ...]) -> PartitionInfo:
    """Return the partition with a row for each replica that is gone from a disk read whole."""
    return replace(row, replica_logs=with_gone(row.state, row.replica_logs, whole))


def _with_one_stop(
    rows: Sequence[PartitionInfo], whole: Iterable[WholeDisk]
) -> Iterator[PartitionInfo]:
    """Yield the partitions, with brokers that did not stop in order wherever they lie: a broker
    stops once, and its log directories may be in several scans."""
    killed = {log.broker for row in rows for log in row.replica_logs if _stopped(log) is False}
    killed.update(disk.broker for disk in whole if not disk.stopped_clean)
    for row in rows:
        if any(log.broker in killed and _stopped(log) for log in row.replica_logs):
            logs = tuple(_killed(log) if log.broker in killed else log for log in row.replica_logs)
            yield replace(row, replica_logs=logs)
        else:
            yield row


def _stopped(log: ReplicaLog) -> bool | None:
    return None if log.scanned is None else log.scanned.stopped_clean


def _killed(log: ReplicaLog) -> ReplicaLog:
    if log.scanned is None or not log.scanned.stopped_clean:
        return log
    return replace(log, scanned=replace(log.scanned, stopped_clean=False))


def _depth(log: ReplicaLog) -> int:
    return list(ScanMode).index(log.scanned.mode) if log.scanned else -1


def _once(findings: Iterable[Finding]) -> Iterator[Finding]:
    return iter(dict.fromkeys(findings))


def _not_in_newest(name: str) -> Finding:
    return Finding(
        NOT_IN_NEWEST,
        Severity.UNKNOWN,
        f"the newest metadata log, that of {name}, does not have this partition, an older one has:"
        " it was deleted, or left out of that scan; if it is wanted, scan those disks for it",
    )


def _odd(newest: str, state: PartitionState, name: str, other: PartitionState) -> Finding | None:
    """Return a finding where an older metadata log has what the newest can't have forgotten: which
    of two logs is newer is certain only where one quorum wrote both."""
    if other.topic_id != state.topic_id:
        what = (
            f"the newest metadata log, that of {newest}, has topic id {state.topic_id} for this"
            f" topic, that of {name} {other.topic_id}: it was deleted and made anew"
        )
    elif other.leader_epoch > state.leader_epoch:
        what = (
            f"the newest metadata log, that of {newest}, has leader epoch {state.leader_epoch},"
            f" that of {name} has {other.leader_epoch}: that was never committed"
        )
    else:
        return None
    return Finding(
        NOT_IN_NEWEST,
        Severity.UNKNOWN,
        f"{what}, or two quorums wrote these logs (controllers that were formatted anew, an earlier"
        " recovery); then leave out the scan of the one that the brokers do not follow",
    )


def _differs(before: ReplicaLog, after: ReplicaLog) -> bool:
    return _seen(before) != _seen(after)


def _seen(log: ReplicaLog) -> tuple[object, ...]:
    """Return where the log was found and how far it goes, regardless of the scan's mode."""
    directory = log.scanned.directory if log.scanned else None
    return (
        directory,
        log.last_written_leader_epoch,
        log.log_start_offset,
        log.log_end_offset,
        log.epochs,
        log.problem,
        log.suspect,
    )


def _scanned_twice(before: tuple[str, ReplicaLog], after: tuple[str, ReplicaLog]) -> Finding:
    return Finding(
        "replica_scanned_twice",
        Severity.UNKNOWN,
        f"the disk of broker {after[1].broker} was scanned more than once: {_told(*before)},"
        f" {_told(*after)}; the latter, scanned later, counts. If it is the wrong one, leave"
        " it out",
    )


def _told(name: str, log: ReplicaLog) -> str:
    where = log.scanned.directory if log.scanned else "an unknown directory"
    end = "unknown" if log.log_end_offset is None else log.log_end_offset
    return f"log end offset {end} in {where} ({name})"
