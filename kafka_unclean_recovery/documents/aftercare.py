"""What an unclean election left behind: the artefact of aftercare, and its row in a journal."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from kafka_unclean_recovery.documents.values import (
    BrokerId,
    BrokerIds,
    Entry,
    Int32,
    Int64,
    ToldNumber,
    Witnessed,
    published,
)

Ending = Annotated[str, Meta(extra_json_schema={"enum": ["commit", "abort", "open", "unknown"]})]


class TransactionJson(Entry, frozen=True, kw_only=True):
    """A transaction without its end in a replica's log. Times are ms since the Unix epoch.

    replica: The broker whose replica has it.
    start_offset: Of its first record, inclusive.
    last_timestamp_ms: Of the producer's newest batch in the partition; ms since the Unix epoch.
    coordinator_start_time_ms: Of the newest transaction of the transactional id; ms since the Unix
        epoch.
    ending: open: its coordinator ends it yet. unknown: nothing proves which it is.
    """

    replica: BrokerId
    producer_id: int
    producer_epoch: int
    start_offset: Int64
    last_timestamp_ms: int | None
    transactional_id: str | None
    coordinator_state: str | None
    coordinator_producer_epoch: int | None
    coordinator_start_time_ms: int | None
    ending: Ending
    reason: str


class GroupJson(Entry, frozen=True):
    """A group that has read what is gone.

    committed_offset: Of a share group: the end of what it is done with at all.
    resume_offset: From here on all records of the leader are new to the group.
    refilled: New records lie where the gone ones were, and the group may skip them.
    share_done_to: Of a share group: the end of what it is done with without a gap. Null: it is no
        share group.
    """

    group: str
    committed_offset: Int64
    committed_leader_epoch: int | None
    resume_offset: Int64
    refilled: bool
    share_done_to: Int64 | None = None


class ProducerJson(Entry, frozen=True):
    """A producer that the leader knows.

    last_sequence: Of its newest record in the partition; null: it has none there.
    last_timestamp_ms: Of its newest batch in the partition; ms since the Unix epoch.
    transactional: Else idempotent alone.
    """

    producer_id: ToldNumber
    producer_epoch: ToldNumber
    last_sequence: ToldNumber | None
    last_timestamp_ms: int | None
    transactional: bool


class ReturningJson(Entry, frozen=True):
    """A replica that returns, or has returned, with more than its leader has.

    back: Its broker is live again: too late.
    records: That its disk held when it was scanned and the leader lacks or, once it is back, the
        replica lacks. Null is unknown.
    offset: Where these records begin.
    directory: Of the replica on its disk, to be moved aside before the broker starts.
    """

    broker: BrokerId
    back: bool
    records: Witnessed | None
    offset: Int64 | None
    directory: str | None
    why: str


class PartitionCareJson(Entry, frozen=True, kw_only=True):
    """What is left of the election of one partition.

    leader: null: none, or one that is not listed here, as the problems tell then.
    out_of_sync: Replicas that are not back in the ISR.
    reassigning: A reassignment is in progress, so that the replicas may not be the ones to stay.
    log_end_offset: The leader's, exclusive.
    transactions: Those without their end in the leader's log; without a leader those of each live
        replica, which hang once that is elected.
    groups: Those that have read what is gone.
    returning: Replicas whose disks may hold more than the leader, or did before they came back.
    producers: Those that the leader knows, where records of theirs may be gone: of partitions that
        a flag names, but for those of which the journal knows that nothing was lost. Null is
        unknown.
    problems: Why something could not be seen: what it hides is unknown.
    """

    topic: str
    topic_id: str
    partition: Int32
    over: bool
    leader: BrokerId | None
    leader_epoch: int
    replicas: BrokerIds
    isr: BrokerIds
    out_of_sync: BrokerIds
    offline_replicas: BrokerIds
    log_end_offset: Int64 | None
    transactions: tuple[TransactionJson, ...]
    groups: tuple[GroupJson, ...]
    returning: tuple[ReturningJson, ...] = ()
    producers: tuple[ProducerJson, ...] | None = ()
    reassigning: bool = False
    problems: tuple[str, ...]


@published("kafka-unclean-recovery aftercare --format json, format 1")
class AftercareJson(Entry, frozen=True, kw_only=True):
    """What an unclean election left behind. Unknown is null, never 0.

    over: Nothing is left in any partition, and nothing is unknown.
    unknown: What could not be seen of the cluster as a whole.
    partitions: By topic and partition.
    """

    format_version: Literal[1] = 1
    kind: Literal["aftercare"] = "aftercare"
    cluster_id: str
    over: bool
    unknown: tuple[str, ...]
    partitions: tuple[PartitionCareJson, ...]
