"""What is known of a cluster, in Kafka's words: frozen values, no behaviour that needs I/O.

A broker is a process, a replica is its copy of a partition. Every offset called an *end* is
exclusive, every *start* inclusive. `None` always means unknown, never zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from kafka_unclean_recovery.choices import ScanMode

NO_LEADER = -1


@dataclass(frozen=True, slots=True, order=True)
class TopicPartition:
    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


@dataclass(frozen=True, slots=True)
class Broker:
    """A registered broker. `fenced` is unknown where the cluster does not tell (before 4.1)."""

    id: int
    host: str
    port: int
    fenced: bool = False


@dataclass(frozen=True, slots=True)
class EpochSpan:
    """The records that one leader epoch wrote: offsets [start_offset, end_offset)."""

    epoch: int
    start_offset: int
    end_offset: int


EpochLineage = tuple[EpochSpan, ...]
"""Spans in rising epoch and offset, each beginning where the one before ends."""


@dataclass(frozen=True, slots=True)
class Scanned:
    """What the files of a replica say besides how far its log goes.

    directory: the replica's own, fit to print. topic_id: of partition.metadata; None where there
    is none. size: of its segments, in bytes. record_count: of a deep scan of batches that tell it.
    damage: what the log ends at, when that is not the normal look of a log's end.
    """

    mode: ScanMode
    directory: str
    topic_id: str | None = None
    directory_id: str | None = None
    recovery_point: int | None = None
    size: int = 0
    record_count: int | None = None
    damage: str | None = None


@dataclass(frozen=True, slots=True)
class ReplicaLog:
    """How far one replica's log goes, and who says so.

    `epochs` is the whole lineage from the log start to the log end, or None when it could not be
    read. `problem` is the reason why this replica's log can't be used or wasn't seen at all; a
    replica with a problem is never designated. `suspect` is the reason why it may be corrupt
    although it reads well, up to `certain_end_offset` (exclusive) it is not: a suspect never
    outranks another. `scanned` is there when its files were read. `broker_epoch` is that of the
    process that answered, where it tells: another one has started since when it changes.
    """

    broker: int
    live: bool
    last_written_leader_epoch: int | None = None
    log_start_offset: int | None = None
    high_watermark: int | None = None
    log_end_offset: int | None = None
    epochs: EpochLineage | None = None
    source: str = "list-offsets"
    problem: str | None = None
    suspect: str | None = None
    certain_end_offset: int | None = None
    scanned: Scanned | None = None
    broker_epoch: int | None = None

    @property
    def sure(self) -> bool:
        """False when what it says is too little to count losses by."""
        fast = self.scanned is not None and self.scanned.mode is ScanMode.FAST
        return self.problem is None and self.suspect is None and not fast

    @property
    def empty(self) -> bool:
        """True when the replica is known to hold no record."""
        return self.log_end_offset is not None and self.log_end_offset == self.log_start_offset


@dataclass(frozen=True, slots=True)
class PartitionState:
    """A partition as the controller has it (DescribeTopicPartitions, else Metadata).

    `elr` and `last_known_elr` are empty where the cluster has no ELR. `offline_replicas` are
    replicas whose broker is fenced or dead, or whose log directory failed.
    """

    topic: str
    topic_id: str
    partition: int
    leader: int
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...] = ()
    elr: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()
    offline_replicas: tuple[int, ...] = ()
    adding_replicas: tuple[int, ...] = ()
    removing_replicas: tuple[int, ...] = ()

    @property
    def topic_partition(self) -> TopicPartition:
        return TopicPartition(self.topic, self.partition)

    @property
    def offline(self) -> bool:
        return self.leader == NO_LEADER

    @property
    def reassigning(self) -> bool:
        return bool(self.adding_replicas or self.removing_replicas)

    @property
    def online_replicas(self) -> tuple[int, ...]:
        """Replicas whose broker is live and unfenced and whose log directory works."""
        return tuple(r for r in self.replicas if r not in self.offline_replicas)


class Severity(StrEnum):
    """How much an operator should weigh a finding; sorted from the gravest."""

    LOSS = "loss"
    UNKNOWN = "unknown"
    NOTICE = "notice"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to weigh before electing. `code` is stable; `message` says what to do."""

    code: str
    severity: Severity
    message: str


@dataclass(frozen=True, slots=True)
class Loss:
    """Records, counted as offsets, that electing one replica gives up; None is unknown.

    certain: on live replicas, each (leader epoch, offset) once; they will be truncated.
    possible: what dead or silent replicas may hold beyond the elected log.
    """

    certain: int | None
    possible: int | None


@dataclass(frozen=True, slots=True)
class Divergence:
    """Where one live replica would be truncated under a candidate: it keeps [.., offset)."""

    broker: int
    offset: int
    records: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """A replica that can be elected, and what every other live replica would lose by it."""

    log: ReplicaLog
    loss: Loss
    divergences: tuple[Divergence, ...] = ()


@dataclass(frozen=True, slots=True)
class PartitionPlan:
    """The designated leader of one offline partition, or the reason why there is none.

    `ranking` holds every candidate, best first. `order` is the whole replica set as it is to be
    written: candidates by rank, then the other live ones, then the dead in assignment order.
    """

    state: PartitionState
    replica_logs: tuple[ReplicaLog, ...]
    ranking: tuple[Candidate, ...]
    designated_leader: int | None
    order: tuple[int, ...]
    findings: tuple[Finding, ...]
    refusal: str | None = None


class OutcomeKind(StrEnum):
    ELECTED = "elected"
    ALREADY_ONLINE = "already_online"
    NO_CANDIDATE = "no_candidate"
    REFUSED = "refused"
    FAILED = "failed"

    @property
    def success(self) -> bool:
        return self in (OutcomeKind.ELECTED, OutcomeKind.ALREADY_ONLINE)


@dataclass(frozen=True, slots=True)
class Outcome:
    kind: OutcomeKind
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class PartitionReport:
    """One row of the artefact. `state` is the newest that was seen; None if there is no such
    partition. `outcome` is None when nothing was to be done (no --automated-recovery)."""

    topic_partition: TopicPartition
    state: PartitionState | None
    plan: PartitionPlan | None = None
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True)
class Cluster:
    """The cluster as one broker describes it. `brokers` are the live, unfenced ones."""

    cluster_id: str
    brokers: Mapping[int, Broker]
    fenced: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """All that a run found and did. `problems` are sentences about the cluster as a whole."""

    cluster: Cluster
    partitions: tuple[PartitionReport, ...]
    problems: tuple[str, ...] = ()
    silent_brokers: Mapping[int, str] = field(default_factory=dict)
    interrupted: bool = False


@dataclass(frozen=True, slots=True)
class PartitionInfo:
    """What disks say of one partition. `state` is the controller's, as the newest metadata log
    that was found has it; None without one. `findings` are about its directories. `compacted`:
    compaction may have left gaps between its offsets, as far as was found."""

    topic_partition: TopicPartition
    state: PartitionState | None
    replica_logs: tuple[ReplicaLog, ...]
    findings: tuple[Finding, ...] = ()
    compacted: bool = False


@dataclass(frozen=True, slots=True)
class ReplicaInfo:
    """What the log directories of some brokers say; partitions are sorted.

    scanned_at: ISO 8601 with its offset from UTC. metadata_epoch and metadata_end_offset
    (exclusive): how far the metadata log goes that the states are from; the greater is the newer.
    """

    cluster_id: str | None
    scanned_at: str
    brokers: tuple[int, ...]
    partitions: tuple[PartitionInfo, ...]
    metadata_epoch: int | None = None
    metadata_end_offset: int | None = None
    problems: tuple[str, ...] = ()
    interrupted: bool = False
