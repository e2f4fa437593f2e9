"""What a journal tells, as the report command prints it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, UnsetType

from kafka_unclean_recovery.documents.loss_by_topic import RecordCountJson
from kafka_unclean_recovery.documents.plan import PartitionJson as PlanEntryJson
from kafka_unclean_recovery.documents.report import WaitingJson
from kafka_unclean_recovery.documents.shared import LossJson, TopicPartitionJson
from kafka_unclean_recovery.documents.values import (
    ABSENT,
    BrokerId,
    BrokerIds,
    Entry,
    Int32,
    Int64,
    OrNone,
    ToldNumber,
    published,
)
from kafka_unclean_recovery.model import OutcomeKind

ConsentJson = Annotated[
    dict[str, Any],
    Meta(
        description="The fields of the journal's line.",
        extra_json_schema={
            "properties": {
                "at_ms": {
                    "description": "Milliseconds since the Unix epoch.",
                    "type": "integer",
                    "minimum": 0,
                }
            },
            "required": ["at_ms"],
        },
    ),
]


class MomentJson(Entry, frozen=True):
    """What one line of the journal tells, or several in a row.

    event: Event of the line in the journal.
    text: What happened, as a sentence.
    alarm: Whether it is one to be alarmed at.
    """

    at_ms: Int64
    event: str
    text: str
    alarm: bool


class LossesJson(Entry, frozen=True):
    """What the elections of all topics cost.

    elections: How many elections there were.
    elected: How many ended with a leader elected.
    not_elected: How many ended without a leader elected, by outcome.
    certain: Records that live replicas held and that are truncated.
    possible: Records that replicas may hold that were down or silent.
    """

    elections: ToldNumber
    elected: ToldNumber
    not_elected: dict[str, ToldNumber]
    certain: RecordCountJson
    possible: RecordCountJson


class TopicLossesJson(Entry, frozen=True):
    """What the elections of one topic cost.

    elections: How many elections there were.
    elected: How many ended with a leader elected.
    not_elected: How many ended without a leader elected, by outcome.
    certain: Records that live replicas held and that are truncated.
    possible: Records that replicas may hold that were down or silent.
    """

    topic: str
    elections: ToldNumber
    elected: ToldNumber
    not_elected: dict[str, ToldNumber]
    certain: RecordCountJson
    possible: RecordCountJson


class AllLossesJson(Entry, frozen=True):
    """What the elections cost.

    total: What the elections of all topics cost.
    topics: What the elections of each topic cost, the greatest losses first.
    """

    total: LossesJson
    topics: tuple[TopicLossesJson, ...]


class SavedJson(Entry, frozen=True):
    """The tail of one live replica, saved or not.

    start_offset: First offset of the tail, inclusive; null is unknown.
    end_offset: End of the tail, exclusive; null is unknown.
    saved: True when the tail was saved.
    reason: Why the tail was not saved; null where it was.
    """

    topic: str
    partition: Int32
    broker: BrokerId
    start_offset: Int64 | None
    end_offset: Int64 | None
    saved: bool
    reason: str | None


class SalvageJson(Entry, frozen=True):
    """What was saved into one directory.

    directory: The directory that the tails were saved into.
    partitions: The tails, one for each live replica.
    """

    directory: str
    partitions: tuple[SavedJson, ...]


class FoundJson(Entry, frozen=True):
    """What the log of a replica held beyond the elected leader's, as before-start or salvage noted.

    beyond: Records, counted by offsets; null is unknown.
    at_least: True when there may be more.
    saved: How many of them salvage saved; null where only before-start has looked.
    directory: Where salvage saved them; null where it did not look.
    later: How many of them were found only after that, and are not saved.
    """

    topic: str
    partition: Int32
    broker: BrokerId
    beyond: Int64 | None
    at_least: bool
    saved: Int64 | None
    directory: str | None
    later: Int64


class ProducedJson(Entry, frozen=True):
    """What salvage replay produced again.

    directory: The directory of salvage.
    records: How many records.
    targets: The topics that they were produced to.
    whole: False where it ended early, or some partitions were left out.
    """

    directory: str
    records: Int64
    targets: tuple[str, ...]
    whole: bool


class LearntJson(Entry, frozen=True):
    """What other commands noted after the elections.

    found: What was found on disks.
    produced: What was produced again.
    commits: How many commits of consumer groups were brought back.
    """

    found: tuple[FoundJson, ...]
    produced: tuple[ProducedJson, ...]
    commits: Int64


class GroupJson(Entry, frozen=True):
    """A group that has read what is gone.

    committed_offset: The next offset that the group reads.
    resume_offset: The offset from which on all is new to the group.
    refilled: New records lie where the gone ones were.
    """

    topic: str
    partition: Int32
    group: str
    committed_offset: Int64
    resume_offset: Int64
    refilled: bool


class CareJson(Entry, frozen=True):
    """What aftercare saw last.

    over: True when nothing was left, and nothing unknown.
    unknown: What could not be seen, which may hide more.
    groups: Groups that have read what is gone.
    hanging_transactions: How many transactions hang.
    endable_transactions: How many of them have a known ending.
    out_of_sync_replicas: How many replicas were not back in the ISR.
    """

    at_ms: Int64
    over: bool
    unknown: tuple[str, ...]
    groups: tuple[GroupJson, ...]
    hanging_transactions: Int64
    endable_transactions: Int64
    out_of_sync_replicas: Int64


class StepJson(Entry, frozen=True):
    """A step to take.

    text: What is to be done, as a sentence.
    commands: Commands that do it.
    alarm: True for a step to be alarmed at.
    """

    text: str
    commands: tuple[str, ...]
    alarm: bool


class OrderJson(Entry, frozen=True):
    """A replica order that was changed.

    original: The replica set before the run.
    written: The replica set that the run wrote.
    restored_at_ms: When it was seen as before, or gone with its topic; null where the journal does
        not say so.
    left_alone: Why it was left as somebody else made it; null where it was not, absent before that
        was told.
    """

    original: BrokerIds
    written: BrokerIds
    restored_at_ms: Int64 | None
    left_alone: str | None = None


class ElectionJson(Entry, frozen=True, kw_only=True):
    """One partition in one run.

    decided_at_ms: When it was decided on; null in journals that do not tell.
    begun_at_ms: When its election was announced; null when it never was.
    designated_leader: Null is unknown or nobody.
    outcome: What became of the election, in the words of report-1.schema.json; null where the
        journal ends before.
    reason: Why the election had this outcome; null where nothing is to be said.
    elected_leader: Whose election the losses count; null for nobody, or unknown.
    loss: What it cost; null when nobody was elected.
    leader: Who led when the run saw it last; -1 is nobody, null unknown.
    leader_epoch: Leader epoch when the run saw it last; null is unknown.
    isr: In-sync replicas when the run saw them last; null is unknown.
    order: The replica order, where another one was written; null where none was.
    waiting: What the return of each dead broker would do, as it was when planned; empty when
        nothing was planned.
    groups_beyond: Known before: groups that have read what the elected leader lacks.
    plan: What was decided on, as an entry of plan-1.schema.json.
    """

    topic: str
    partition: Int32
    decided_at_ms: Int64 | None
    begun_at_ms: Int64 | None
    designated_leader: Int32 | None
    outcome: OutcomeKind | None
    reason: str | None
    elected_leader: Int32 | None
    loss: LossJson | None
    leader: OrNone | None
    leader_epoch: OrNone | None
    isr: BrokerIds | None
    order: OrderJson | None
    waiting: tuple[WaitingJson, ...]
    groups_beyond: tuple[GroupJson, ...]
    plan: PlanEntryJson | None


class QuorumSeedJson(Entry, frozen=True, kw_only=True):
    """The log directory of a new controller, which quorum seed was to write.

    directory: The log directory that was to be written.
    source: Copy that it begins from.
    epoch: Epoch in the plan of the new quorum.
    plan_digest: Digest of the plan of the new quorum.
    end_offset: End of that copy; null in journals that do not tell, as new_controller.
    new_controller: The new controller as ID@HOST:PORT.
    lost: Ids of voters that were named as gone for good.
    steps_left: What the plan has to be done afterwards.
    exit_code: 0 when it was written whole and read back; null where the run noted no result.
    reason: Why it was not written.
    """

    at_ms: Int64
    directory: str
    source: str
    epoch: Int32
    plan_digest: str
    end_offset: Int64 | None
    new_controller: str | None
    lost: tuple[Int32, ...]
    steps_left: tuple[str, ...]
    exit_code: Int32 | None
    reason: str | None


@published("Post-mortem of kafka-unclean-recovery, format 1")
class PostMortemJson(Entry, frozen=True, kw_only=True):
    """What a journal tells. Unknown is null, never 0.

    cluster_id: Id of the Kafka cluster; null where the journal does not tell.
    journal: The file, as it was named.
    ended: False when the last run was killed, or is under way still.
    problems: Sentences about the cluster as a whole.
    groups_asked: Whether groups were asked before electing, as far as the journal tells.
    unknown: What could not be known of groups before electing.
    unfinished: Replica orders that may not be as before: --resume.
    gone: Brokers whose disks are lost for good, as --gone of a run, of aftercare or of the report
        said; absent where there is none.
    timeline: What happened, in the order of the journal.
    consents: The consents that were given.
    losses: What the elections cost.
    salvages: What was saved before electing.
    aftercare: Null when aftercare noted nothing.
    learnt: What other commands noted after the elections; absent where they noted nothing.
    next_steps: The most urgent first.
    seeds: Log directories of new controllers that `quorum seed` was to write; absent where the
        journal has none.
    partitions: The elections, the greatest losses first.
    """

    format_version: Literal[1] = 1
    kind: Literal["post-mortem"] = "post-mortem"
    cluster_id: str | None
    journal: str
    ended: bool
    problems: tuple[str, ...]
    groups_asked: bool
    unknown: tuple[str, ...]
    unfinished: tuple[TopicPartitionJson, ...]
    gone: BrokerIds | UnsetType = ABSENT
    timeline: tuple[MomentJson, ...]
    consents: tuple[ConsentJson, ...]
    losses: AllLossesJson
    salvages: tuple[SalvageJson, ...]
    aftercare: CareJson | None
    learnt: LearntJson | UnsetType = ABSENT
    next_steps: tuple[StepJson, ...]
    seeds: tuple[QuorumSeedJson, ...] | UnsetType = ABSENT
    partitions: tuple[ElectionJson, ...]
