"""The model of a cluster, in Kafka's words: frozen values without behaviour that needs I/O.

A broker is a process, a replica is its copy of a partition. Every offset called an *end* is
exclusive, every *start* inclusive. `None` always means unknown, never zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from msgspec import Struct, field

from kafka_unclean_recovery.kafka_names import REMOTE_STORAGE_ENABLE
from kafka_unclean_recovery.mechanisms import ScanMode

NO_LEADER = -1

NO_TOPIC_ID = ("", "00000000-0000-0000-0000-000000000000")
"""Brokers from before topic ids tell one of these."""

TIERED = f"its {REMOTE_STORAGE_ENABLE} is true"
"""The value of PartitionState.tiered where that is known."""


class TopicPartition(NamedTuple):
    """A partition by its name; a tuple because it is the key of most dictionaries."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class Broker(Struct, frozen=True):
    """A registered broker. `fenced` is False where the cluster does not tell it (before 4.1)."""

    id: int
    host: str
    port: int
    fenced: bool = False
    rack: str | None = None


class EpochSpan(Struct, frozen=True):
    """The records that one leader epoch wrote: offsets [start_offset, end_offset)."""

    epoch: int
    start_offset: int
    end_offset: int


EpochLineage = tuple[EpochSpan, ...]
"""The spans of a log in rising epoch and offset, each beginning where the one before ends."""


class Scanned(Struct, frozen=True):
    """The facts in a replica's files besides how far its log goes.

    directory: the replica's own, fit to print. topic_id: from partition.metadata; None where there
    is none. size: the size of its segments, in bytes. record_count: from a deep scan, where the
    batches tell it. damage: the damage that the log ends at, None when its end looks normal.
    stopped_clean: its broker was shut down in order.
    """

    mode: ScanMode
    directory: str
    topic_id: str | None = None
    directory_id: str | None = None
    recovery_point: int | None = None
    size: int = 0
    record_count: int | None = None
    damage: str | None = None
    stopped_clean: bool | None = None


class ReplicaLog(Struct, frozen=True):
    """How far one replica's log goes, and which source says so.

    `epochs` is the whole lineage from the log start to the log end, or None when it could not be
    read. `problem` is the reason why this replica's log can't be used or wasn't seen at all; a
    replica with a problem is never designated. `suspect` is the reason why the log may be corrupt
    although it reads well; up to `certain_end_offset` (exclusive) it is not. A suspect never
    outranks a log that is not. `unproven` is the reason why nothing shows that this broker is the
    one that answered, or that it is down: no loss is counted by such a log. `scanned` is there when
    the replica's files were read. `broker_epoch` is the epoch of the broker process that answered,
    where the broker tells it: when it changes, another process has started since.
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
    unproven: str | None = None

    @property
    def sure(self) -> bool:
        """Return False when the log tells too little to count losses by."""
        return self.unproven is None and self.tells_enough

    @property
    def tells_enough(self) -> bool:
        """Return False when the log tells too little to count losses by, whosever it is."""
        if self.problem is not None or self.suspect is not None:
            return False
        return self.scanned is None or self.scanned.mode is not ScanMode.FAST

    @property
    def ends_below_its_high_watermark(self) -> bool:
        """Return True when committed records that the log once held are gone from it."""
        end, known = self.log_end_offset, self.high_watermark
        return end is not None and known is not None and end < known

    @property
    def empty(self) -> bool:
        """Return True when the replica is known to hold no record."""
        return self.log_end_offset is not None and self.log_end_offset == self.log_start_offset


class PartitionState(Struct, frozen=True, dict=True):
    """A partition as the controller has it (DescribeTopicPartitions, else Metadata).

    `elr` and `last_known_elr` are empty where the cluster has no ELR. `offline_replicas` are
    replicas whose broker is fenced or dead, or whose log directory failed. `unregistered_replicas`
    are those whose broker was unregistered, as far as what lists the brokers tells: the controllers
    refuse every list that names one. `tiered` is the reason why a part of the log may lie in remote
    storage, which is not read; None where none can.
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
    unregistered_replicas: tuple[int, ...] = ()
    tiered: str | None = None

    # Kept, for a recovery of thousands of partitions asks each dozens of times.
    @cached_property
    def topic_partition(self) -> TopicPartition:
        return TopicPartition(self.topic, self.partition)

    @property
    def offline(self) -> bool:
        return self.leader == NO_LEADER

    @property
    def reassigning(self) -> bool:
        """Return whether replicas are about to be added, or removed, other than those of
        unregistered brokers, which nothing keeps."""
        removing = set(self.removing_replicas) - set(self.unregistered_replicas)
        return bool(self.adding_replicas or removing)

    @cached_property
    def online_replicas(self) -> tuple[int, ...]:
        """Return the replicas whose broker is live and unfenced and whose log directory works."""
        offline = self.offline_replicas
        return tuple([r for r in self.replicas if r not in offline]) if offline else self.replicas


BROKER_LISTS = (
    "replicas",
    "isr",
    "elr",
    "last_known_elr",
    "offline_replicas",
    "adding_replicas",
    "removing_replicas",
)
"""The fields of PartitionState that hold broker ids, in their order there."""


class Severity(StrEnum):
    """How much an operator should weigh a finding, from the gravest."""

    LOSS = "loss"
    UNKNOWN = "unknown"
    NOTICE = "notice"


class Finding(Struct, frozen=True):
    """A fact to weigh before an election. `code` is stable; `message` says what to do."""

    code: str
    severity: Severity
    message: str


class Loss(Struct, frozen=True):
    """Records, counted as offsets, that electing one replica gives up; None is unknown.

    certain: records on live replicas, each (leader epoch, offset) once; they will be truncated.
    possible: records that dead or silent replicas may hold beyond the elected log. at_least: a
    lower bound of both together, as far as committed offsets and high watermarks tell; None where
    they tell of none. Offsets that groups commit are evidence, not proof, so nothing is ranked by
    this bound.
    """

    certain: int | None
    possible: int | None
    at_least: int | None = None


class Divergence(Struct, frozen=True):
    """Where a live replica would be truncated under a candidate: the replica keeps [.., offset)."""

    broker: int
    offset: int
    records: int


class Commit(Struct, frozen=True):
    """A group's committed offset. offset: the next offset that the group reads. leader_epoch: the
    epoch of the last record that it read; None where the client did not say.

    A share group (KIP-932) commits none: `offset` is then the end of what it is done with at all,
    `share_done_to` the end of what it is done with without a gap, and leader_epoch the newest that
    can have written what it read. `share_done_to` is None for all other groups.
    """

    group: str
    topic_partition: TopicPartition
    offset: int
    leader_epoch: int | None
    share_done_to: int | None = None


class GroupBeyond(Struct, frozen=True):
    """A group that has read records which a log does not have. resume: the offset in that log from
    which on all is new to the group. refilled: other records lie where the gone ones were, and a
    consumer may skip them without a word."""

    commit: Commit
    resume: int
    refilled: bool

    @property
    def reset_to(self) -> int:
        """Return the offset to reset to; a share group is done with all that lies below it."""
        start = self.commit.share_done_to
        return self.resume if start is None else min(self.resume, start)

    @property
    def gone(self) -> int:
        """Return the number of offsets that the group was past, and whose records are gone."""
        return self.commit.offset - self.resume


class Candidate(Struct, frozen=True):
    """A replica that can be elected, the losses of every other live replica under it, and the
    groups that claim to have read more than its log has, the furthest first."""

    log: ReplicaLog
    loss: Loss
    divergences: tuple[Divergence, ...] = ()
    groups: tuple[GroupBeyond, ...] = ()


class Effect(StrEnum):
    """The effect that the return of a dead broker would have on a recovery.

    LOSSLESS: no committed record is lost, on the condition that is said with it. BETTER: its log
    ranks above the designated one. NO_BETTER: its log is known not to. WORSE: the controller then
    elects a leader by itself, and others are truncated to its log.
    """

    LOSSLESS = "lossless"
    BETTER = "better"
    NO_BETTER = "no_better"
    WORSE = "worse"
    UNKNOWN = "unknown"


class Evidence(StrEnum):
    """The evidence for a verdict on waiting: membership recorded by the controller, or the disk."""

    ISR = "isr"
    ELR = "elr"
    LAST_KNOWN_ELR = "last_known_elr"
    DISK = "disk"


class Waiting(Struct, frozen=True):
    """The effect of waiting for one dead broker on one partition.

    records: how many records its log holds beyond the designated one, where its disk tells; for
    WORSE how many records others lose. why: a sentence.
    """

    broker: int
    effect: Effect
    records: int | None
    why: str
    evidence: tuple[Evidence, ...] = ()


class MoveKind(StrEnum):
    """Why a partition gets other replicas before its election.

    EMPTY: all of its replicas are lost for good, so live brokers without one start it anew. BACK:
    a reassignment in progress is given up, and those that had the partition before it stay.
    """

    EMPTY = "empty"
    BACK = "back"


class Move(Struct, frozen=True):
    """The whole replica set that a partition gets before its election, the one to lead first."""

    kind: MoveKind
    order: tuple[int, ...]


class PartitionPlan(Struct, frozen=True):
    """The designated leader of one offline partition, or the reason why there is none.

    `ranking` holds every candidate, best first. `order` is the whole replica set as it is to be
    written: candidates by rank, then the other live replicas, then the dead in assignment order.
    `waiting` has each dead broker, in assignment order. `move`: the other replicas that it gets
    first, to which a person has consented by a flag of its own; None where it keeps its own.
    `gone`: brokers whose disks are lost for good, as a person said, and which `waiting` leaves out.
    """

    state: PartitionState
    replica_logs: tuple[ReplicaLog, ...]
    ranking: tuple[Candidate, ...]
    designated_leader: int | None
    order: tuple[int, ...]
    findings: tuple[Finding, ...]
    refusal: str | None = None
    waiting: tuple[Waiting, ...] = ()
    move: Move | None = None
    gone: frozenset[int] = frozenset()


class OutcomeKind(StrEnum):
    ELECTED = "elected"
    ALREADY_ONLINE = "already_online"
    NO_CANDIDATE = "no_candidate"
    REFUSED = "refused"
    FAILED = "failed"

    @property
    def success(self) -> bool:
        return self in (OutcomeKind.ELECTED, OutcomeKind.ALREADY_ONLINE)


class Outcome(Struct, frozen=True):
    """The end of one partition's way through a run. unweighed: brokers whose replicas were not live
    when the partition was observed for its election, and were or may have been when that was
    carried out: what only they hold is lost, and nobody knows how much. in_doubt: a leader may have
    been elected, or was, and what became of that is not known. lost: the records that brokers told
    of in this run and that whoever leads in the end lacks, beyond what the election was known to
    cost."""

    kind: OutcomeKind
    reason: str | None = None
    unweighed: tuple[int, ...] = ()
    in_doubt: bool = False
    lost: int = 0


class PartitionReport(Struct, frozen=True):
    """One row of the artefact. `state` is the newest that was seen; None if there is no such
    partition. `outcome` is None when there was nothing to do (no --automated-recovery)."""

    topic_partition: TopicPartition
    state: PartitionState | None
    plan: PartitionPlan | None = None
    outcome: Outcome | None = None


class Cluster(Struct, frozen=True):
    """The cluster as one broker describes it. `brokers` are the live, unfenced brokers.
    `lists_fenced`: False where fenced brokers are not told (before 4.0), and `fenced` is empty.
    `fenced_at`: the fenced brokers, which may run all the same, with their addresses."""

    cluster_id: str
    brokers: Mapping[int, Broker]
    fenced: tuple[int, ...] = ()
    lists_fenced: bool = False
    fenced_at: Mapping[int, Broker] = field(default_factory=dict)


class Report(Struct, frozen=True):
    """Everything that a run found and did. `problems` are sentences about the cluster as a whole.
    `unknown` are sentences about groups that could not be asked, which no recovery depends on."""

    cluster: Cluster
    partitions: tuple[PartitionReport, ...]
    problems: tuple[str, ...] = ()
    silent_brokers: Mapping[int, str] = field(default_factory=dict)
    interrupted: bool = False
    unknown: tuple[str, ...] = ()


class PartitionInfo(Struct, frozen=True):
    """One partition as disks tell it. `state` is the controller's, from the newest metadata log
    that was found; None without one. `findings` are about its directories. `compacted`: compaction
    may have left gaps between its offsets, as far as the scan found."""

    topic_partition: TopicPartition
    state: PartitionState | None
    replica_logs: tuple[ReplicaLog, ...]
    findings: tuple[Finding, ...] = ()
    compacted: bool = False


class WholeDisk(Struct, frozen=True):
    """A broker of which every log directory was read: what is not there is nowhere. directory: one
    of them, fit to print. stopped_clean: the broker was shut down in order."""

    broker: int
    directory: str
    stopped_clean: bool = False


class Unfenced(Struct, frozen=True):
    """A broker that is registered and not fenced, whether it runs or not. epoch: its broker
    epoch."""

    broker: int
    epoch: int
    in_controlled_shutdown: bool = False


class Fencing(Struct, frozen=True):
    """What decides who may lead once the controllers have fenced all brokers after a power cut.

    unfenced: in the order in which a controller goes through its registrations. elr:
    eligible.leader.replicas.version is above 0. by_hash: the controllers are of 4.0 or later, which
    fence in the order of a hash table; None where that is not known. min_isr:
    min.insync.replicas of all brokers, None where the metadata log has none; min_isr_of_topics: of
    topics that have their own.
    """

    unfenced: tuple[Unfenced, ...]
    elr: bool
    by_hash: bool | None
    min_isr: int | None = None
    min_isr_of_topics: Mapping[str, int] = field(default_factory=dict)


class ReplicaInfo(Struct, frozen=True):
    """The content of the log directories of some brokers; partitions are sorted.

    scanned_at: ISO 8601 with its offset from UTC. metadata_epoch and metadata_end_offset
    (exclusive): how far the metadata log goes that the states are from; the greater pair is the
    newer. whole: brokers whose log directories were all read, as far as that is known.
    unclean_topics: topics for which that log says that unclean.leader.election.enable is true; None
    where nobody looked. fencing: what that log tells of a fencing to come, None likewise.
    """

    cluster_id: str | None
    scanned_at: str
    brokers: tuple[int, ...]
    partitions: tuple[PartitionInfo, ...]
    metadata_epoch: int | None = None
    metadata_end_offset: int | None = None
    problems: tuple[str, ...] = ()
    interrupted: bool = False
    whole: tuple[WholeDisk, ...] = ()
    unclean_topics: tuple[str, ...] | None = None
    fencing: Fencing | None = None
