"""What the start of a broker makes of one replica that the metadata puts on it; no I/O.

Source: kafka.log.LogManager (loadLog, isStrayKraftReplica) and kafka.cluster.Partition
(createLogIfNotExists): a replica whose directory is not there, has no topic id or another one
begins anew, at offset 0; on ZooKeeper only one whose directory is not there. The old log is put
aside as `-stray`, and nobody asks whether the replica may lead.
"""

from __future__ import annotations

from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import (
    NO_TOPIC_ID,
    PartitionState,
    ReplicaLog,
    Scanned,
    WholeDisk,
)
from kafka_unclean_recovery.planning.log_trust import NAMELESS

_SOURCE = "log-dirs"
GONE = "its directory is not on the disk: its broker begins it empty"
"""The problem of a replica that the metadata puts on a disk that was read, and that is not there.
"""

NO_SEGMENT = "there is no segment in its directory"
"""The doubt of a replica whose broker makes an empty one, at its log start."""

NO_DIRECTORY = "has no directory for this partition among those that were scanned"
"""The problem of a replica of a broker of which log directories were scanned, where nobody knows
whether these were all, or the partition was left out of the scan."""


def gone(broker: int, directory: str, mode: ScanMode, stopped_clean: bool | None) -> ReplicaLog:
    """Return the row of a replica that is not on its disk. directory: where it would be."""
    scanned = Scanned(mode, directory, stopped_clean=stopped_clean)
    return ReplicaLog(broker, live=False, source=_SOURCE, problem=GONE, scanned=scanned)


def begins_empty(state: PartitionState, log: ReplicaLog) -> str | None:
    """Return why the replica is empty once its broker has started; None where the start keeps its
    log, or that is not known."""
    if log.problem == GONE:
        return GONE
    scanned = log.scanned
    if log.live or scanned is None or state.topic_id in NO_TOPIC_ID:
        return None
    if scanned.topic_id is None:
        return NAMELESS if log.problem == NAMELESS else None
    if scanned.topic_id == state.topic_id:
        lost = log.suspect == NO_SEGMENT and log.log_end_offset == 0
        return f"{NO_SEGMENT}: its broker begins it empty" if lost else None
    return (
        f"its partition.metadata names another topic (topic id {scanned.topic_id}): its broker puts"
        " it aside as -stray, and begins it empty"
    )


def empty_log(broker: int) -> ReplicaLog:
    """Return the log of a replica that has just begun."""
    return ReplicaLog(
        broker,
        live=False,
        last_written_leader_epoch=-1,
        log_start_offset=0,
        log_end_offset=0,
        epochs=(),
        source=_SOURCE,
    )


def as_started(state: PartitionState, log: ReplicaLog) -> ReplicaLog:
    """Return the replica's log as its broker has it after the start, before it follows anybody."""
    return log if begins_empty(state, log) is None else empty_log(log.broker)


def with_gone(
    state: PartitionState | None, logs: tuple[ReplicaLog, ...], whole: tuple[WholeDisk, ...]
) -> tuple[ReplicaLog, ...]:
    """Return the scanned logs, with a row for each replica that the metadata puts on a disk that
    was read whole, and that is not there."""
    if state is None or not whole:
        return logs
    there = {log.broker for log in logs}
    name = f"{state.topic}-{state.partition}"
    lacking = [disk for disk in whole if disk.broker in state.replicas and disk.broker not in there]
    added = (
        gone(disk.broker, f"{disk.directory}/{name}", ScanMode.RECOVER, disk.stopped_clean)
        for disk in lacking
    )
    return tuple(sorted((*logs, *added), key=lambda log: log.broker))
