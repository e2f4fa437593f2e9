"""A controller writes these records: Kafka's metadata records, with the fields that it acts upon.

The records in IN_MEMORY are not Kafka's: they stand for what only the active controller's memory
holds (BrokerHeartbeatManager, KIP-966's unclean recovery manager), are replayed like the others and
take no offset in the metadata log.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from kafka_unclean_recovery.kraft_rules.recovery import LogInfo, Strategy

NO_LEADER = -1
NO_LEADER_CHANGE = -2
RECOVERED = 0
RECOVERING = 1

Ids = tuple[int, ...]
"""This is a list of broker ids whose order counts."""


class TopicIdPartition(NamedTuple):
    topic_id: UUID
    partition: int


@dataclass(frozen=True, slots=True)
class RegisterBrokerRecord:
    broker: int
    incarnation_id: UUID
    broker_epoch: int
    log_dirs: tuple[UUID, ...]
    fenced: bool = True
    in_controlled_shutdown: bool = False


@dataclass(frozen=True, slots=True)
class UnregisterBrokerRecord:
    broker: int
    broker_epoch: int


@dataclass(frozen=True, slots=True)
class BrokerRegistrationChangeRecord:
    """A change of a broker's registration. A field of None changes nothing, and neither do empty
    `log_dirs`, because a broker that has lost its last directory dies."""

    broker: int
    broker_epoch: int
    fenced: bool | None = None
    in_controlled_shutdown: bool | None = None
    log_dirs: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class TopicRecord:
    name: str
    topic_id: UUID


@dataclass(frozen=True, slots=True)
class RemoveTopicRecord:
    topic_id: UUID


@dataclass(frozen=True, slots=True)
class PartitionRecord:
    """The record of a new partition, or of one in a snapshot, whose epochs have risen already.
    `directories` is parallel to `replicas`."""

    key: TopicIdPartition
    replicas: Ids
    directories: tuple[UUID, ...]
    isr: Ids
    leader: int
    leader_epoch: int = 0
    partition_epoch: int = 0


@dataclass(frozen=True, slots=True)
class PartitionChangeRecord:
    """A change of a partition. None and NO_LEADER_CHANGE change nothing. A leader that is given
    starts a new leader epoch, even if it is the same leader; every record starts a new partition
    epoch."""

    key: TopicIdPartition
    isr: Ids | None = None
    leader: int = NO_LEADER_CHANGE
    replicas: Ids | None = None
    directories: tuple[UUID, ...] | None = None
    removing_replicas: Ids | None = None
    adding_replicas: Ids | None = None
    leader_recovery_state: int | None = None
    elr: Ids | None = None
    last_known_elr: Ids | None = None
    last_known_leader: int | None = None


@dataclass(frozen=True, slots=True)
class ConfigRecord:
    """A config of a topic, else of a broker, else of all brokers. A None value removes the key."""

    topic: str | None
    key: str
    value: str | None
    broker: int | None = None


@dataclass(frozen=True, slots=True)
class ClearElrRecord:
    """The record empties ELR and last known ELR in one topic, or in all when `topic` is None."""

    topic: str | None


@dataclass(frozen=True, slots=True)
class FeatureLevelRecord:
    """The record sets the level of eligible.leader.replicas.version; 0 is off."""

    level: int


@dataclass(frozen=True, slots=True)
class BrokerContact:
    """The controller has heard from the broker in this epoch; None means that contact is lost."""

    broker: int
    broker_epoch: int | None


@dataclass(frozen=True, slots=True)
class BrokerTouch:
    """The outcome of a heartbeat. `metadata_offset` is the last offset that its broker applied."""

    broker: int
    fenced: bool
    metadata_offset: int


@dataclass(frozen=True, slots=True)
class ControlledShutdownOffset:
    """The other brokers must have applied this offset before this broker may stop."""

    broker: int
    offset: int


@dataclass(frozen=True, slots=True)
class RecoveryStarted:
    """A recovery starts, or starts anew and forgets the answers about logs."""

    key: TopicIdPartition
    strategy: Strategy
    requested: bool = False


@dataclass(frozen=True, slots=True)
class ReplicaLogInfoReceived:
    key: TopicIdPartition
    broker: int
    info: LogInfo


@dataclass(frozen=True, slots=True)
class RecoveryTimedOut:
    key: TopicIdPartition


@dataclass(frozen=True, slots=True)
class RecoveryEnded:
    """A recovery ends. `elected` says whether the recovery itself elected the leader."""

    key: TopicIdPartition
    elected: bool = False


Record = (
    RegisterBrokerRecord
    | UnregisterBrokerRecord
    | BrokerRegistrationChangeRecord
    | TopicRecord
    | RemoveTopicRecord
    | PartitionRecord
    | PartitionChangeRecord
    | ConfigRecord
    | ClearElrRecord
    | FeatureLevelRecord
    | BrokerContact
    | BrokerTouch
    | ControlledShutdownOffset
    | RecoveryStarted
    | ReplicaLogInfoReceived
    | RecoveryTimedOut
    | RecoveryEnded
)

IN_MEMORY = (
    BrokerContact,
    BrokerTouch,
    ControlledShutdownOffset,
    RecoveryStarted,
    ReplicaLogInfoReceived,
    RecoveryTimedOut,
    RecoveryEnded,
)
