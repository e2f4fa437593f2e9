"""What an unclean election left behind: the artefact of aftercare, and its row in a journal."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, UnsetType

from kafka_unclean_recovery.documents.shared import TopicPartitionJson
from kafka_unclean_recovery.documents.values import (
    ABSENT,
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
    start_offset: Offset of the transaction's first record, inclusive.
    last_timestamp_ms: When the producer wrote its newest batch in the partition, in ms since the
        Unix epoch.
    transactional_id: The producer's transactional id; null where it is not known.
    coordinator_state: State of the transactional id at its coordinator; null where none told it.
    coordinator_producer_epoch: Producer epoch that the coordinator has; null where none told it.
    coordinator_start_time_ms: When the newest transaction of the transactional id began, in ms
        since the Unix epoch.
    ending: How it ends: commit and abort are what its coordinator decided; open means that the
        coordinator ends it yet, unknown that nothing proves which it is.
    reason: Why the transaction has this ending, as a sentence.
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

    committed_offset: The next offset that the group reads; for a share group the end of all that it
        is done with.
    committed_leader_epoch: Leader epoch of the last record that the group read; null where it did
        not say.
    resume_offset: The offset from which on all records of the leader are new to the group.
    refilled: New records lie where the gone ones were, and the group may skip them.
    share_done_to: Where a share group is done with everything below, the end of that; null for all
        other groups.
    """

    group: str
    committed_offset: Int64
    committed_leader_epoch: int | None
    resume_offset: Int64
    refilled: bool
    share_done_to: Int64 | None = None


class ProducerJson(Entry, frozen=True):
    """A producer that the leader knows.

    last_sequence: Sequence number of the producer's newest record in the partition; null where it
        has none there.
    last_timestamp_ms: When the producer wrote its newest batch in the partition, in ms since the
        Unix epoch.
    transactional: True for a transactional producer, false for one that is only idempotent.
    """

    producer_id: ToldNumber
    producer_epoch: ToldNumber
    last_sequence: ToldNumber | None
    last_timestamp_ms: int | None
    transactional: bool


class ReturningJson(Entry, frozen=True):
    """A replica that returns, or has returned, with more than its leader has.

    back: True when its broker is live again: then it is too late.
    records: How many records its disk held when it was scanned and the leader lacks; once its
        broker is back, how many the replica lacks. Null is unknown.
    offset: Where these records begin.
    directory: Directory of the replica on its disk, to be moved aside before the broker starts.
    why: What shows that the replica holds more, as a sentence.
    gone: True where the disk is lost for good (--gone), and these records with it; else absent.
    """

    broker: BrokerId
    back: bool
    records: Witnessed | None
    offset: Int64 | None
    directory: str | None
    why: str
    gone: bool | UnsetType = ABSENT


class PartitionCareJson(Entry, frozen=True, kw_only=True):
    """What is left of the election of one partition.

    over: True when nothing is left in this partition, and nothing of it is unknown.
    leader: Broker id of the leader; null where nobody leads, or a broker that is not listed, as the
        problems tell then.
    out_of_sync: Replicas that are not back in the ISR.
    gone: Replicas whose brokers have lost their disks for good (--gone), and which nobody waits
        for; absent where there is none.
    offline_replicas: Replicas whose broker is fenced or dead, or whose log directory failed.
    log_end_offset: The leader's, exclusive.
    transactions: Transactions without their end in the leader's log; without a leader in the log of
        each live replica: they hang once that one is elected.
    groups: Groups that have read what is gone.
    returning: Replicas whose disks may hold more than the leader, or did before they came back.
    producers: Producers that the leader knows and whose records may be gone. Told of partitions
        that a flag names, unless the journal knows that nothing of them was lost. Null is unknown.
    reassigning: A reassignment is in progress, so that the replicas may not be the ones to stay.
    min_isr: The partition's min.insync.replicas as the leader has it, at most the number of
        replicas; absent where it was not asked, since all replicas are in the ISR, or not told.
    refuses_acks_all: Whether what is written with acks=all is refused, since fewer replicas are in
        the ISR than min.insync.replicas; absent as that is.
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
    gone: BrokerIds | UnsetType = ABSENT
    min_isr: Int32 | UnsetType = ABSENT
    refuses_acks_all: bool | UnsetType = ABSENT
    problems: tuple[str, ...]


class GoneDisksJson(Entry, frozen=True):
    """A broker in --gone, whose disks are lost for good.

    partitions: How many partitions have a replica on it, of all that could be seen.
    leaderless: Partitions with a replica on it that no other live broker leads, or of whose ISR it
        still is: empty disks under the broker's id may lead them.
    lives: Why the broker is not gone, and is waited for like any other; null where nothing shows
        that.
    """

    broker: BrokerId
    partitions: int
    leaderless: tuple[TopicPartitionJson, ...]
    lives: str | None


@published("kafka-unclean-recovery aftercare --format json, format 1")
class AftercareJson(Entry, frozen=True, kw_only=True):
    """What an unclean election left behind. Unknown is null, never 0.

    over: Nothing is left in any partition, and nothing is unknown.
    unknown: What could not be seen of the cluster as a whole.
    gone: The brokers in --gone; absent without that flag.
    partitions: The partitions that were looked at, by topic and partition.
    """

    format_version: Literal[1] = 1
    kind: Literal["aftercare"] = "aftercare"
    cluster_id: str
    over: bool
    unknown: tuple[str, ...]
    gone: tuple[GoneDisksJson, ...] | UnsetType = ABSENT
    partitions: tuple[PartitionCareJson, ...]
