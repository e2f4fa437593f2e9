"""Group the rows of a scan by partition and check them against each other; no I/O."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from msgspec.structs import replace

from kafka_unclean_recovery.log_dir.directory_names import (
    DirectoryKind,
    parse_partition_directory,
)
from kafka_unclean_recovery.log_dir.metadata.image import MetadataImage, partition_states
from kafka_unclean_recovery.log_dir.replica_scan import SOURCE, Replica
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import (
    Finding,
    PartitionInfo,
    PartitionState,
    ReplicaLog,
    Scanned,
    Severity,
    TopicPartition,
)
from kafka_unclean_recovery.planning.log_trust import ZOOKEEPER_NAMELESS, cross_check

Row = tuple[Replica, ReplicaLog]


@dataclass(slots=True)
class FoundLogs:
    """The finds of one partition: its logs in the order of the directories, and (broker, path) of
    each replica that was put aside or was still being copied."""

    logs: list[ReplicaLog] = field(default_factory=list)
    strays: list[tuple[int, str]] = field(default_factory=list)


def partition_infos(
    rows: Iterable[Row],
    strays: Iterable[tuple[TopicPartition, int, str]],
    image: MetadataImage,
    wanted: Callable[[TopicPartition], bool],
    compacted: Container[str],
    covered: Container[int],
) -> tuple[PartitionInfo, ...]:
    """Return every partition that has a replica here or is in the image, by topic and partition.

    strays: (partition, broker, path). covered: brokers whose own metadata log was read, so that the
    image is no older than their replicas.
    """
    states = {s.topic_partition: s for s in partition_states(image) if wanted(s.topic_partition)}
    found: dict[TopicPartition, FoundLogs] = defaultdict(FoundLogs)
    for replica, log in rows:
        found[replica.topic_partition].logs.append(log)
    for partition, broker, path in strays:
        found[partition].strays.append((broker, path))
    return tuple(
        partition_info(
            partition,
            states.get(partition),
            found[partition],
            directories_in_metadata(image, states.get(partition)),
            compacted=partition.topic in compacted,
            covered=covered,
        )
        for partition in sorted({*states, *found})
    )


def on_zookeeper(rows: Sequence[Row]) -> list[Row]:
    """Return the rows, those in doubt that lack a topic id though others of their broker, which
    last ran on ZooKeeper, have one: it puts nothing aside, and KRaft does."""
    named = {r.broker for r, log in rows if r.zookeeper and log.scanned and log.scanned.topic_id}
    return [(r, in_doubt(log) if r.zookeeper and r.broker in named else log) for r, log in rows]


def in_doubt(log: ReplicaLog) -> ReplicaLog:
    """Return the log of a broker that last ran on ZooKeeper, in doubt if it lacks a topic id."""
    named = log.scanned is None or log.scanned.topic_id is not None
    if named or log.problem is not None or log.suspect is not None:
        return log
    return replace(log, suspect=ZOOKEEPER_NAMELESS, certain_end_offset=log.log_start_offset)


def partition_info(
    partition: TopicPartition,
    state: PartitionState | None,
    found: FoundLogs,
    directories: Sequence[str],
    *,
    compacted: bool,
    covered: Container[int],
) -> PartitionInfo:
    """Return one partition. directories: ids of the log directories of `state.replicas`, as their
    brokers told the controller; empty where they are not known. covered: as in partition_infos."""
    copies: dict[int, list[ReplicaLog]] = {}
    for log in found.logs:
        copies.setdefault(log.broker, []).append(log)
    findings = [_stray(state, *aside) for aside in found.strays if not is_copy(aside[1])]
    for broker, path in found.strays:
        if is_copy(path):
            copies.setdefault(broker, [_copied(broker, path)])
    chosen = []
    for broker in sorted(copies):
        log, odd = _one_of(copies[broker], _directory_in_metadata(state, directories, broker))
        chosen.append(log)
        findings += odd
    checked = cross_check(state, chosen, compacted=compacted, covered=covered)
    return PartitionInfo(partition, state, checked, tuple(findings), compacted)


def _stray(state: PartitionState | None, broker: int, path: str) -> Finding:
    which = "that was not assigned to it any more"
    if state is not None and broker in state.replicas:
        which = (
            "though the partition is assigned to it, as its partition.metadata was missing or of"
            " another topic of that name"
        )
    return Finding(
        "stray_directory",
        Severity.NOTICE,
        f"broker {broker} put a replica aside {which}, and keeps it: {path}; it is not looked at",
    )


def is_copy(path: str) -> bool:
    """Return True for the directory, fit to print, of a replica that was still being copied."""
    named = parse_partition_directory(path.rpartition("/")[2])
    return named is not None and named.kind is DirectoryKind.FUTURE


def _copied(broker: int, path: str) -> ReplicaLog:
    """Return the row of a replica whose own directory is not here."""
    problem = (
        "it is here only as a copy that was not finished, from another log directory of its"
        f" broker ({path}): give that directory too"
    )
    scanned = Scanned(ScanMode.FAST, path)
    return ReplicaLog(broker, live=False, source=SOURCE, problem=problem, scanned=scanned)


def directories_in_metadata(image: MetadataImage, state: PartitionState | None) -> Sequence[str]:
    """Return the directory ids that partition_info needs."""
    if state is None:
        return ()
    known = image.partitions[UUID(state.topic_id)][state.partition].directories
    return [str(id_) for id_ in known]


def _directory_in_metadata(
    state: PartitionState | None, directories: Sequence[str], broker: int
) -> str | None:
    """Return the id of the replica's log directory, as its broker told the controller."""
    if state is None or broker not in state.replicas or not directories:
        return None
    return directories[state.replicas.index(broker)]


def _one_of(copies: Sequence[ReplicaLog], named: str | None) -> tuple[ReplicaLog, list[Finding]]:
    """Choose one of several directories of the same replica, with which a broker refuses to start.
    The directory that the metadata log names is taken, else the one that reaches less far, which is
    not trusted."""
    if len(copies) == 1:
        return copies[0], []
    paths = ", ".join(_directories(copies))
    broker = copies[0].broker
    found = Finding(
        "replica_in_two_directories",
        Severity.UNKNOWN,
        f"broker {broker} has this partition in more than one directory: {paths}; it will not start"
        " like this",
    )
    registered = [c for c in copies if c.scanned and c.scanned.directory_id == named]
    if len(registered) == 1:
        return registered[0], [found]
    least = min(copies, key=_reach)
    why = f"it is in more than one directory ({paths})"
    return replace(least, suspect=why, certain_end_offset=least.log_start_offset), [found]


def _directories(copies: Sequence[ReplicaLog]) -> Iterator[str]:
    return (copy.scanned.directory for copy in copies if copy.scanned)


def _reach(log: ReplicaLog) -> tuple[int, int]:
    epoch, end = log.last_written_leader_epoch, log.log_end_offset
    return -1 if epoch is None else epoch, -1 if end is None else end
