"""What some commands print: small documents, most of them in one line."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from kafka_unclean_recovery.documents.shared import TopicPartitionJson
from kafka_unclean_recovery.documents.values import Entry, Int32, Int64, ToldNumber, published

DECISIONS = (
    "bring_back",
    "gone_on",
    "deleted",
    "no_partition",
    "another_topic",
    "beyond_log_end",
    "below_log_start",
    "other_records",
    "not_sure",
    "in_use",
)
"""Of salvage.offsets.resets.Decision, which formats don't import."""
ElectionType = Annotated[str, Meta(extra_json_schema={"enum": ["preferred", "unclean"]})]


class AnswerJson(Entry, frozen=True):
    """What the controller answered for one partition.

    error: Kafka's name for it; null where a leader was elected.
    message: The broker's own words.
    """

    topic: str
    partition: Int32
    error: str | None
    message: str | None


@published("kafka-elect-leaders --election-type preferred|unclean --format json, format 1")
class ElectionsJson(Entry, frozen=True, kw_only=True):
    """What became of elections in which the controller chose.

    election_type: Type of the elections, as --election-type has it.
    elections: The elections, by topic and partition. Asked for all partitions, Kafka answers for
        those that needed one.
    """

    format_version: Literal[1] = 1
    kind: Literal["elections"] = "elections"
    election_type: ElectionType
    elections: tuple[AnswerJson, ...]


@published("kafka-unclean-recovery --resume --format json, format 1")
class ResumeJson(Entry, frozen=True, kw_only=True):
    """What --resume did.

    journal: Path of the journal as it was given.
    put_back: Replica orders that an earlier run had left changed, and that are the original ones
        again.
    """

    format_version: Literal[1] = 1
    kind: Literal["resume"] = "resume"
    cluster_id: str
    journal: str
    put_back: tuple[TopicPartitionJson, ...]


class ReplayedJson(Entry, frozen=True, kw_only=True):
    """The replay of one partition.

    target_topic: Name of the topic that the records go to.
    to_produce: Records that the targets lack.
    produced: How many records this run produced.
    already_there: Produced by an earlier run.
    in_open_transactions: Records left out: no marker says how their transactions ended.
    aborted: Records left out.
    markers: Control records, left out.
    second_copies: Records that another replica saved, too.
    altered: What the target's configs would change of the records.
    """

    topic: str
    partition: Int32
    target_topic: str
    to_produce: Int64
    produced: Int64
    already_there: Int64
    in_open_transactions: Int64
    aborted: Int64
    markers: Int64
    second_copies: Int64
    altered: tuple[str, ...]


@published("kafka-unclean-recovery salvage replay --format json, format 1")
class SalvageReplayJson(Entry, frozen=True, kw_only=True):
    """What a replay did, or would do.

    executed: False: nothing was produced.
    refusals: Why nothing may be produced as things are.
    partitions: The partitions that were saved, by topic and partition.
    """

    format_version: Literal[1] = 1
    kind: Literal["salvage-replay"] = "salvage-replay"
    executed: bool
    refusals: tuple[str, ...]
    partitions: tuple[ReplayedJson, ...]


class LostCommitJson(Entry, frozen=True, kw_only=True):
    """A commit of a group that was saved.

    offset: The next one that the group was to read; null where the record deletes the commit.
    leader_epoch: Leader epoch of the last record that the group had read; null where it did not
        say.
    metadata: Text that the client committed with the offset.
    committed_at: Milliseconds since 1970.
    saved_at: Offset of its record in __consumer_offsets.
    committed: What the group has committed now; null for nothing.
    decision: What becomes of it.
    """

    group: str
    topic: str
    partition: Int32
    offset: Int64 | None
    leader_epoch: Int32 | None
    metadata: str
    committed_at: Int64 | None
    saved_at: Int64
    committed: Int64 | None
    decision: Annotated[str, Meta(extra_json_schema={"enum": list(DECISIONS)})]


@published("kafka-unclean-recovery salvage offsets --format json, format 1")
class SalvageOffsetsJson(Entry, frozen=True, kw_only=True):
    """Commits of groups that an election lost.

    brought_back: How many of those to be brought back were; 0 without --execute.
    commits: The commits, by group, the newest first.
    """

    format_version: Literal[1] = 1
    kind: Literal["salvage-offsets"] = "salvage-offsets"
    brought_back: Int64
    commits: tuple[LostCommitJson, ...]


@published("kafka-unclean-recovery spark salvage --format json, format 1")
class SparkSalvageJson(Entry, frozen=True, kw_only=True):
    """Totals. What was saved of each replica is in manifest.json (salvage-1.schema.json) in the
    output directory.

    replicas: How many replicas were looked at.
    with_more: Replicas that held records beyond the designated leader's log.
    size: Bytes of segment files written.
    records: In Parquet.
    in_doubt: How many replicas were salvaged with a doubt.
    first_doubt: The doubt of one of these replicas; null where there is none.
    problems: What the scans could not read.
    """

    format_version: Literal[1] = 1
    kind: Literal["spark-salvage"] = "spark-salvage"
    cluster_id: str
    replicas: ToldNumber
    with_more: ToldNumber
    size: ToldNumber
    records: ToldNumber
    in_doubt: ToldNumber
    first_doubt: str | None
    problems: tuple[str, ...]
