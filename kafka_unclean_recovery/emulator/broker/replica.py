"""A Replica is a partition's replica on one broker, with its rules as leader or follower. No I/O,
no clock.

Source: kafka.cluster.Partition and Replica; KIP-966 for the high watermark, KIP-101, KIP-279 and
KIP-595 (diverging epochs in fetch answers).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from kafka_unclean_recovery.emulator.broker.log import NO_EPOCH, EpochEnd, Log
from kafka_unclean_recovery.emulator.broker.producers import Producers
from kafka_unclean_recovery.emulator.disks.indexes import NOTHING_INDEXED, Indexed
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.kraft_rules.partition import PartitionRegistration
from kafka_unclean_recovery.kraft_rules.records import NO_LEADER, Ids, TopicIdPartition

_UNKNOWN = -1


@dataclass(slots=True)
class Follower:
    """A leader's knowledge of one follower. end_offset: exclusive, -1 before the follower's first
    fetch in this leader epoch. broker_epoch: that of the process which fetched, -1 before it
    (KIP-903, ReplicaState). Times are in seconds: caught_up_at is when the follower last had all
    records, fetched_at when it last fetched."""

    end_offset: int = _UNKNOWN
    broker_epoch: int = _UNKNOWN
    caught_up_at: float = float("-inf")
    fetched_at: float = float("-inf")
    leader_end_at_fetch: int = 0


@dataclass(slots=True)
class Replica:
    """A replica on one broker.

    flushed: all records below this offset are on the disk and survive a loss of power; exclusive.
    epoch_start: the log end when this broker became leader, None while it does not lead.
    """

    key: TopicIdPartition
    topic: str
    directory: Path
    log: Log
    high_watermark: int = 0
    flushed: int = 0
    indexed: Indexed = NOTHING_INDEXED
    leader: int = NO_LEADER
    leader_epoch: int = NO_EPOCH
    partition_epoch: int = -1
    replicas: Ids = ()
    isr: Ids = ()
    epoch_start: int | None = None
    followers: dict[int, Follower] = field(default_factory=dict)
    producers: Producers = field(default_factory=Producers)

    @property
    def topic_partition(self) -> tuple[str, int]:
        return self.topic, self.key.partition

    @property
    def leads(self) -> bool:
        return self.epoch_start is not None


def follow_metadata(
    replica: Replica, broker: int, partition: PartitionRegistration, now: float
) -> None:
    """Take over what the controller has decided. A leader of a new epoch begins it at its log end,
    and gives the ISR time to fetch."""
    newer = partition.leader_epoch > replica.leader_epoch or not replica.leads
    replica.leader, replica.leader_epoch = partition.leader, partition.leader_epoch
    replica.partition_epoch = partition.partition_epoch
    replica.replicas, replica.isr = partition.replicas, partition.isr
    if partition.leader != broker:
        replica.epoch_start, replica.followers = None, {}
        return
    if newer:
        replica.epoch_start, replica.followers = replica.log.end_offset, {}
        replica.log.assign_epoch(partition.leader_epoch, replica.log.end_offset)
    others = [other for other in partition.replicas if other != broker]
    replica.followers = {
        other: replica.followers.get(other) or _unheard(other in partition.isr, now)
        for other in others
    }


def _unheard(in_sync: bool, now: float) -> Follower:
    return Follower(caught_up_at=now) if in_sync else Follower()


# The functions from here are the leader's.


def note_fetch(replica: Replica, follower: int, fetch_offset: int, now: float) -> None:
    """Note that a follower holds all records below its fetch offset (Replica.updateFetchState)."""
    known, end = replica.followers[follower], replica.log.end_offset
    if fetch_offset >= end:
        known.caught_up_at = now
    elif fetch_offset >= known.leader_end_at_fetch:
        known.caught_up_at = max(known.caught_up_at, known.fetched_at)
    known.end_offset, known.fetched_at, known.leader_end_at_fetch = fetch_offset, now, end


def in_sync(replica: Replica, follower: int) -> bool:
    """Return whether the follower may join the ISR: it has all committed records, and has reached
    this leader's epoch (Partition.isFollowerInSync)."""
    end = replica.followers[follower].end_offset
    return replica.epoch_start is not None and end >= max(
        replica.high_watermark, replica.epoch_start
    )


def lagging(replica: Replica, now: float, lag_time_max: float) -> Ids:
    """Return the members of the ISR that have lagged for longer than `lag_time_max`, which is
    replica.lag.time.max.ms in seconds (KIP-16)."""
    end = replica.log.end_offset
    return tuple(
        member
        for member in replica.isr
        if (known := replica.followers.get(member)) is not None
        and known.end_offset != end
        and now - known.caught_up_at > lag_time_max
    )


def below_min_isr(replica: Replica, min_isr: int) -> bool:
    """Return whether the ISR is below min ISR. `min_isr` is the configured value; a partition with
    fewer replicas needs them all."""
    return len(replica.isr) < min(min_isr, len(replica.replicas))


def committed_end(replica: Replica, min_isr: int) -> int:
    """Return the offset that the high watermark may reach: the least log end in the ISR, but no
    more than now while the ISR is below min ISR (KIP-966, "Additional High Watermark advancement
    requirement")."""
    if below_min_isr(replica, min_isr):
        return replica.high_watermark
    ends = [known.end_offset for id_, known in replica.followers.items() if id_ in replica.isr]
    return max(replica.high_watermark, min([replica.log.end_offset, *ends]))


# The functions from here read records.


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of a fetch: an error, or the epoch end at which the log parts from the fetcher's,
    or a piece of the segment, (position, length) in bytes."""

    error: int = Errors.NONE
    diverging: EpochEnd | None = None
    piece: tuple[int, int] = (0, 0)


def epoch_error(replica: Replica, current_leader_epoch: int) -> int:
    """Return the error of a request that goes by this leader epoch, -1 for none (KIP-320)."""
    if current_leader_epoch == NO_EPOCH or current_leader_epoch == replica.leader_epoch:
        return Errors.NONE
    if current_leader_epoch < replica.leader_epoch:
        return Errors.FENCED_LEADER_EPOCH
    return Errors.UNKNOWN_LEADER_EPOCH


def read(
    replica: Replica, offset: int, last_fetched_epoch: int, end_offset: int, max_bytes: int
) -> Reading:
    """Read from `offset` on, below `end_offset`. A last fetched epoch of -1 compares none
    (Partition.readRecords)."""
    if last_fetched_epoch != NO_EPOCH:
        known = replica.log.end_of_epoch(last_fetched_epoch)
        if known is None:
            return Reading(Errors.OFFSET_OUT_OF_RANGE)
        if known.epoch < last_fetched_epoch or known.end_offset < offset:
            return Reading(diverging=known)
    if not 0 <= offset <= replica.log.end_offset:
        return Reading(Errors.OFFSET_OUT_OF_RANGE)
    return Reading(piece=replica.log.slice(offset, end_offset, max_bytes))
