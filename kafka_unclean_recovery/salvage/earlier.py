"""Earlier scans of the disks spare a salvage the replicas that hold nothing to save. This module
does no I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.log_dir.replica_scan import Replica
from kafka_unclean_recovery.model import PartitionInfo, ReplicaInfo, ReplicaLog, TopicPartition
from kafka_unclean_recovery.salvage.designated import DesignatedLeaders
from kafka_unclean_recovery.salvage.replica import Salvaged, nothing_lost

UNSURE = ("replica_in_two_directories", "replica_scanned_twice")
"""The findings after which a directory other than the one that counted may hold more."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """The rows that earlier scans give for the plan's partitions, without the designated leaders'
    own.

    settled: replicas that hold nothing beyond the designated leader's log, so that they need not be
    read again. left: the other replicas. problems: the problems of the scans.
    """

    settled: Sequence[Salvaged] = ()
    left: Sequence[Salvaged] = ()
    problems: Sequence[str] = ()

    def spared(self, replicas: Iterable[Replica]) -> Iterator[Replica]:
        """Yield the settled ones of these replicas, each in the same directory as scanned."""
        scanned = {_which(row.replica): row.replica for row in self.settled}
        for replica in replicas:
            known = scanned.get(_which(replica))
            if known is not None and _same_directory(known, replica):
                yield replica

    def missing(self, replicas: Iterable[Replica]) -> Iterator[Salvaged]:
        """Yield the rows of `left` that are not among these replicas, as not read."""
        found = {_which(replica) for replica in replicas}
        for row in self.left:
            if _which(row.replica) not in found:
                row.problem(
                    f"not read: the scan of {row.scanned_at} found it in {row.replica.directory},"
                    " and no log directory of its broker that was read here has it"
                )
                yield row


def earlier_scans(
    info: ReplicaInfo, leaders: DesignatedLeaders, wanted: Callable[[TopicPartition], bool]
) -> Earlier:
    """Sort the scanned replicas into settled ones and others. Raises InputError for disks of
    another cluster than the plan's."""
    if info.cluster_id not in (None, leaders.cluster_id):
        raise InputError(
            f"the scans are of cluster {info.cluster_id}, the plan of cluster"
            f" {leaders.cluster_id}; give scans of the plan's cluster"
        )
    settled: list[Salvaged] = []
    left: list[Salvaged] = []
    problems = list(info.problems)
    for part in info.partitions:
        designated = leaders.partitions.get(part.topic_partition)
        if designated is None or not wanted(part.topic_partition):
            continue
        doubts = [finding.message for finding in part.findings if finding.code in UNSURE]
        problems += [f"{part.topic_partition}: {doubt}" for doubt in doubts]
        for log in part.replica_logs:
            if designated.log is not None and designated.log.broker == log.broker:
                continue
            row = Salvaged(_replica(part, log), designated, scanned_at=info.scanned_at)
            lost = None if doubts else nothing_lost(designated, log)
            if lost is None:
                left.append(row)
            else:
                row.log, row.lost = log, lost
                settled.append(row)
    return Earlier(settled, left, problems)


def _replica(part: PartitionInfo, log: ReplicaLog) -> Replica:
    scanned = log.scanned
    return Replica(
        log.broker,
        part.topic_partition,
        scanned.directory if scanned else "",
        scanned.directory_id if scanned else None,
        compacted=part.compacted,
    )


def _which(replica: Replica) -> tuple[TopicPartition, int]:
    return replica.topic_partition, replica.broker


def _same_directory(one: Replica, other: Replica) -> bool:
    """Compare the log directories by their ids, which stay the same wherever a disk is mounted.
    Older log directories have no id, and are compared by path."""
    if one.directory_id is not None and other.directory_id is not None:
        return one.directory_id == other.directory_id
    return one.directory == other.directory
