"""A scan of log directories."""

from __future__ import annotations

from typing import Literal

from kafka_unclean_recovery.documents.shared import (
    FindingJson,
    ReplicaLogJson,
)
from kafka_unclean_recovery.documents.values import (
    BrokerId,
    BrokerIds,
    Entry,
    Int32,
    Int64,
    OrNone,
    TopicName,
)


class PartitionJson(Entry, frozen=True):
    """One partition. From topic_id to removing_replicas it is as the newest metadata log has it,
    and all null where none has.

    topic: Name of the topic.
    partition: Partition number.
    topic_id: Topic id, as 8-4-4-4-12 hex digits.
    leader: Broker id of the leader; -1 when there was none.
    leader_epoch: Leader epoch of the partition.
    replicas: The replica set in assignment order.
    isr: In-sync replicas.
    elr: Eligible leader replicas; empty where the cluster has no ELR.
    last_known_elr: Last known ELR; empty where the cluster has no ELR.
    offline_replicas: Replicas whose broker was fenced or whose log directory had failed.
    adding_replicas: Replicas that a reassignment in progress adds.
    removing_replicas: Replicas that a reassignment in progress removes.
    compacted: True when compaction may have left gaps between the offsets, as far as was found.
    findings: What to weigh about its directories.
    replica_logs: A row for each broker whose disk has a replica of it.
    tiered: Why a part of the log may lie in remote storage, which is not read, by the newest
        metadata log; null where none can.
    """

    topic: TopicName
    partition: Int32
    topic_id: str | None
    leader: OrNone | None
    leader_epoch: OrNone | None
    replicas: BrokerIds | None
    isr: BrokerIds | None
    elr: BrokerIds | None
    last_known_elr: BrokerIds | None
    offline_replicas: BrokerIds | None
    adding_replicas: BrokerIds | None
    removing_replicas: BrokerIds | None
    compacted: bool
    findings: tuple[FindingJson, ...]
    replica_logs: tuple[ReplicaLogJson, ...]
    tiered: str | None = None


class MetadataJson(Entry, frozen=True):
    """How far the metadata log goes that the states are from; the greater is the newer.

    epoch: Leader epoch of its last record.
    end_offset: Its end, exclusive.
    """

    epoch: Int32
    end_offset: Int64


class WholeDiskJson(Entry, frozen=True):
    """A broker of which every log directory was read: what is not there is nowhere.

    broker: Its id.
    directory: One of its log directories.
    stopped_clean: Whether it was shut down in order: .kafka_cleanshutdown is in each of them.
    """

    broker: BrokerId
    directory: str
    stopped_clean: bool


class ReplicaInfoJson(Entry, frozen=True):
    """What the log directories of some brokers say. Ends of offset ranges are exclusive, starts
    inclusive; unknown is null.

    cluster_id: Id of the Kafka cluster in meta.properties; null where it has none.
    scanned_at: When the scan began: ISO 8601 with the offset from UTC.
    brokers: Brokers whose log directories were scanned.
    metadata: Null where no metadata log could be read.
    problems: Sentences about the directories as a whole.
    interrupted: True when a signal ended the scan before all was read.
    partitions: By topic and partition.
    whole: Brokers of which every log directory was read, as far as that is known.
    """

    format_version: Literal[1]
    kind: Literal["replica-info"]
    cluster_id: str | None
    scanned_at: str
    brokers: BrokerIds
    metadata: MetadataJson | None
    problems: tuple[str, ...]
    interrupted: bool
    partitions: tuple[PartitionJson, ...]
    whole: tuple[WholeDiskJson, ...] = ()
