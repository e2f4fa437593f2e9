"""The report of a run."""

from __future__ import annotations

from typing import Literal

from kafka_unclean_recovery.documents.shared import (
    DivergenceJson,
    FindingJson,
    LossJson,
    ReplicaLogJson,
)
from kafka_unclean_recovery.documents.values import (
    BrokerId,
    BrokerIds,
    BrokerNumber,
    Entry,
    Int32,
    Int64,
    OrNone,
    TopicName,
    published,
)
from kafka_unclean_recovery.model import Effect, Evidence, OutcomeKind


class CandidateJson(Entry, frozen=True):
    """What electing this replica would lose.

    loss: What electing this replica loses.
    divergences: Live replicas that would be truncated.
    """

    broker: BrokerId
    loss: LossJson
    divergences: tuple[DivergenceJson, ...]


class PartitionJson(Entry, frozen=True, kw_only=True):
    """One partition. What the cluster says of it is the newest that was seen, and null when there
    is no such partition, or no metadata log that has it.

    topic_id: Topic id as Kafka prints it.
    leader: Broker id of the leader; -1 when the partition is offline.
    designated_leader: Broker whose replica was chosen to lead; null when none was.
    outcome: How the election ended; null when none was to be done.
    reason: The reason of the outcome.
    refusal: Why the plan designates no leader although there may be candidates.
    findings: What to weigh about the designated leader, gravest first.
    loss: What electing the designated leader loses, by the plan; unknown when none is designated.
        certain is at least what whoever leads in the end was found to lack.
    candidates: Every replica that could be elected, best first.
    waiting: What the return of each dead broker would do, as it was when planned; empty when
        nothing was planned.
    groups_beyond: Groups that committed offsets beyond the designated log, the furthest first.
    planned_on: The state that the plan rests on, which an election overwrites; null without a plan.
    replica_logs: What was seen of the replicas of an offline partition; empty when none was looked
        at.
    """

    topic: TopicName
    topic_id: str | None
    partition: Int32
    leader: OrNone | None
    leader_epoch: OrNone | None
    replicas: BrokerIds | None
    isr: BrokerIds | None
    elr: BrokerIds | None
    last_known_elr: BrokerIds | None
    designated_leader: Int32 | None
    outcome: OutcomeKind | None
    reason: str | None
    refusal: str | None
    findings: tuple[FindingJson, ...]
    loss: LossJson
    candidates: tuple[CandidateJson, ...]
    waiting: tuple[WaitingJson, ...] = ()
    groups_beyond: tuple[GroupBeyondJson, ...] = ()
    planned_on: PlannedOnJson | None
    replica_logs: tuple[ReplicaLogJson, ...]


class PlannedOnJson(Entry, frozen=True):
    """A partition as it was when it was planned."""

    leader_epoch: OrNone
    isr: BrokerIds
    elr: BrokerIds
    last_known_elr: BrokerIds


class OutcomesJson(Entry, frozen=True):
    """How many partitions had each outcome; all 0 when nothing was to be elected.

    elected: Partitions with the outcome elected.
    already_online: Partitions with the outcome already_online.
    no_candidate: Partitions with the outcome no_candidate.
    refused: Partitions with the outcome refused.
    failed: Partitions with the outcome failed.
    """

    elected: Int64
    already_online: Int64
    no_candidate: Int64
    refused: Int64
    failed: Int64


class SummaryJson(Entry, frozen=True, kw_only=True):
    """Counts over all partitions.

    partitions: Partitions in this report: online, offline and missing.
    online: Partitions that have a leader.
    offline: Partitions without a leader.
    missing: Partitions that were not found: named ones that do not exist, or, in a plan from disks,
        that no metadata log has.
    outcomes: How many partitions had each outcome.
    certain_loss: Records: sum over the partitions that were elected or, when nothing was tried,
        that have a designated leader. Null when one of them is unknown.
    possible_loss: Records that dead or silent replicas may hold beyond the logs that certain_loss
        is summed over. Null when one of them is unknown.
    waiting: Waiting for each dead broker, over the partitions that are still offline, the most
        worth it first.
    interrupted: True when a signal ended the run before all was tried.
    """

    partitions: Int32
    online: Int32
    offline: Int32
    missing: Int32
    outcomes: OutcomesJson
    certain_loss: Int64 | None
    possible_loss: Int64 | None
    waiting: tuple[BrokerWaitingJson, ...] = ()
    interrupted: bool


class WaitingJson(Entry, frozen=True):
    """What waiting for one dead broker would bring to the partition.

    effect: What its return would do. lossless: no committed record is lost, on the condition said
        in why; better: its log ranks above the designated one; no_better: it is known not to;
        worse: the controller then elects a leader by itself to whose log others are truncated.
    records: Records that its log holds beyond the designated one; null where no disk tells. Where
        it is worse, those that others lose.
    why: A sentence.
    evidence: What the verdict rests on: where the controller has recorded the broker, and its disk.
    """

    broker: BrokerId
    effect: Effect
    records: Int64 | None
    why: str
    evidence: tuple[Evidence, ...]


class BrokerWaitingJson(Entry, frozen=True):
    """What waiting for one broker would bring: partitions by effect.

    lossless: Partitions without a loss of committed records, if its log is whole.
    better: Partitions with a better log than the designated one.
    better_by: Records in all that those logs hold beyond the designated ones.
    no_better: Partitions with nothing to gain.
    unknown: Partitions of which it is not known.
    worse: Partitions that are then led by a log to which others are truncated.
    worse_by: Records in all that these others lose.
    """

    broker: BrokerId
    lossless: Int64
    better: Int64
    better_by: Int64
    no_better: Int64
    unknown: Int64
    worse: Int64 = 0
    worse_by: Int64 = 0


class GroupBeyondJson(Entry, frozen=True):
    """A group that says to have read records that the designated log does not have.

    committed_offset: The next offset that it reads.
    committed_leader_epoch: Leader epoch of the last record that it read; null where it did not say,
        which is no evidence.
    resume_offset: The offset from which on all of the designated log is new to the group.
    share_done_to: Where a share group is done with everything below, the end of that, while
        committed_offset is the end of all that it is done with; null for all other groups.
    """

    group: str
    committed_offset: Int64
    committed_leader_epoch: Int32 | None
    resume_offset: Int64
    share_done_to: Int64 | None = None


@published("Report of kafka-unclean-recovery, format 1")
class ReportJson(Entry, frozen=True, kw_only=True):
    """What a run found and did. Ends of offset ranges are exclusive, starts inclusive; unknown is
    null.

    problems: Sentences about the cluster as a whole.
    unknown: What could not be asked of consumer groups, a sentence each; no recovery hangs on it.
    silent_brokers: Brokers that were asked and gave no answer in time: broker id to reason.
    partitions: The input set.
    summary: Counts over all partitions.
    """

    format_version: Literal[1]
    kind: Literal["report"]
    cluster_id: str
    problems: tuple[str, ...]
    unknown: tuple[str, ...] = ()
    silent_brokers: dict[BrokerNumber, str]
    partitions: tuple[PartitionJson, ...]
    summary: SummaryJson
