"""The rich plan."""

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
    Digest,
    Entry,
    Int32,
    Int64,
    OrNone,
    TopicName,
)


class RankedJson(Entry, frozen=True):
    """A candidate, and what it is ranked by.

    divergences: Live replicas that would be truncated.
    last_written_leader_epoch: Leader epoch of the last record in the log; -1 where no record was
        ever written.
    log_end_offset: End of the log, exclusive; may be past the high watermark.
    """

    broker: BrokerId
    loss: LossJson
    divergences: tuple[DivergenceJson, ...]
    last_written_leader_epoch: OrNone | None
    log_end_offset: Int64 | None


class PreconditionsJson(Entry, frozen=True):
    """What must still hold just before the election; else the partition is refused.

    topic_id: Topic id as Kafka prints it.
    leader_epoch: Leader epoch of the partition.
    replicas: The replica set in assignment order.
    isr: In-sync replicas.
    elr: Eligible leader replicas; empty where the cluster has no ELR.
    last_known_elr: Last known ELR; empty where the cluster has no ELR.
    """

    topic_id: str
    leader_epoch: OrNone
    replicas: BrokerIds
    isr: BrokerIds
    elr: BrokerIds
    last_known_elr: BrokerIds


class PartitionJson(Entry, frozen=True):
    """The plan of one offline partition.

    topic: Name of the topic.
    partition: Partition number.
    designated_leader: Broker whose replica is to lead; null when none is.
    order: The replica set as it is to be written before the election: candidates best first, then
        other live replicas, then the dead.
    refusal: Why no leader is designated although there may be candidates.
    loss: What electing the designated leader loses; unknown when none is designated.
    findings: What to weigh, gravest first.
    ranking: Every candidate, best first.
    replica_logs: What was seen of each replica.
    """

    topic: TopicName
    partition: Int32
    preconditions: PreconditionsJson
    designated_leader: Int32 | None
    order: BrokerIds
    refusal: str | None
    loss: LossJson
    findings: tuple[FindingJson, ...]
    ranking: tuple[RankedJson, ...]
    replica_logs: tuple[ReplicaLogJson, ...]


class PlanJson(Entry, frozen=True):
    """What is to be elected and what that rests on. Not to be edited: the digest would disagree.

    cluster_id: Id of the Kafka cluster that the plan is for.
    created_at: When the plan was made: ISO 8601 with the offset from UTC.
    partitions: By topic and partition.
    digest: SHA-256 of all else as JSON with sorted keys, no blanks and ASCII only.
    """

    format_version: Literal[1]
    kind: Literal["plan"]
    cluster_id: str
    created_at: str
    partitions: tuple[PartitionJson, ...]
    digest: Digest
