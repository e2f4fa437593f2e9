"""Events tell a controller what happens, and responses are its answers. Both are values that are
named after Kafka's requests.

An event carries everything that is not in the state: topic ids, offsets, the passing of time. A
response has an error code for each thing that the event asked for. Offsets are those of the
metadata log, except for a replica's log end offset.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

from kafka_unclean_recovery.kafka_names import Errors

UNKNOWN_BROKER_EPOCH = -1
"""In a registration this epoch means that no clean-shutdown file was found. In an ISR it means that
the epoch is not checked (KIP-903)."""

NO_PREVIOUS_REGISTRATION = -2
"""The controller takes this as the epoch of a broker that is not registered
(ClusterControlManager). A registration that gives the same previous epoch counts as after a clean
shutdown."""


UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3
"""These are the types of a feature update (FeatureUpdate.UpgradeType)."""


class ElectionType(StrEnum):
    """The type of an ElectLeaders request. The first three are 0, 1 and 2 on the wire. DESIGNATED
    and LONGEST_LOG_* are KIP-966's and in no release; the KIP has LONGEST_LOG_* in its script and
    gives it no number in its requests."""

    PREFERRED = "preferred"
    UNCLEAN = "unclean"
    DESIGNATED = "designated"
    LONGEST_LOG_AGGRESSIVE = "longest_log_aggressive"
    LONGEST_LOG_BALANCED = "longest_log_balanced"


# Brokers cause these events.


@dataclass(frozen=True, slots=True)
class RegisterBroker:
    """A broker registers (BrokerRegistration). Its new broker epoch is the state's `end_offset`."""

    broker: int
    incarnation_id: UUID
    previous_broker_epoch: int
    log_dirs: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class UnregisterBroker:
    broker: int


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A broker sends a heartbeat (BrokerHeartbeat). `current_metadata_offset` is the last offset
    that it has applied."""

    broker: int
    broker_epoch: int
    current_metadata_offset: int
    want_fence: bool = False
    want_shut_down: bool = False
    offline_log_dirs: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionExpired:
    """The controller has not heard from the broker for broker.session.timeout.ms."""

    broker: int


@dataclass(frozen=True, slots=True)
class AssignReplicaToDir:
    """A broker with several directories tells where one replica is (AssignReplicasToDirs)."""

    broker: int
    broker_epoch: int
    topic: str
    partition: int
    log_dir: UUID


@dataclass(frozen=True, slots=True)
class AlterPartition:
    """A leader proposes an ISR for one partition (AlterPartition). `new_isr` holds the broker id
    and the broker epoch of each member."""

    broker: int
    broker_epoch: int
    topic: str
    partition: int
    leader_epoch: int
    partition_epoch: int
    new_isr: tuple[tuple[int, int], ...]
    leader_recovery_state: int = 0


@dataclass(frozen=True, slots=True)
class AlterPartitions:
    """A leader proposes ISRs for several partitions in one request. All changes name the same
    sender, and each is judged by the state before the request, even where a partition comes
    twice."""

    changes: tuple[AlterPartition, ...]


# Admin clients cause these events.


@dataclass(frozen=True, slots=True)
class CreateTopic:
    """An admin creates one topic with a manual assignment, partition to replicas (CreateTopics)."""

    name: str
    topic_id: UUID
    assignment: Mapping[int, tuple[int, ...]]
    configs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CreatePartitions:
    """An admin adds partitions to a topic until it has `count` (CreatePartitions). `assignment`
    holds the replicas of each new partition."""

    name: str
    count: int
    assignment: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class DeleteTopic:
    name: str


@dataclass(frozen=True, slots=True)
class AlterTopicConfig:
    """An admin sets one key of a topic (IncrementalAlterConfigs). None removes the key."""

    name: str
    key: str
    value: str | None


@dataclass(frozen=True, slots=True)
class AlterClusterConfig:
    """An admin sets one key for all brokers, the resource "" (IncrementalAlterConfigs)."""

    key: str
    value: str | None


@dataclass(frozen=True, slots=True)
class AlterBrokerConfig:
    """An admin sets one key of one broker, registered or not (IncrementalAlterConfigs)."""

    broker: int
    key: str
    value: str | None


@dataclass(frozen=True, slots=True)
class AlterReassignment:
    """An admin reassigns one partition (AlterPartitionReassignments). None cancels."""

    topic: str
    partition: int
    replicas: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class ElectLeaders:
    """An admin asks for elections (ElectLeaders). `partitions` of None means all of them;
    `designated` is parallel to `partitions` if the kind is DESIGNATED."""

    kind: ElectionType
    partitions: tuple[tuple[str, int], ...] | None
    designated: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class UpdateElrVersion:
    """An admin sets the level of eligible.leader.replicas.version (UpdateFeatures); level 0 is off.

    upgrade_type: one of FeatureUpdate.UpgradeType, see the constants above; others are refused.
    """

    level: int
    upgrade_type: int


@dataclass(frozen=True, slots=True)
class ReplicaLogInfo:
    """A broker answers GetReplicaLogInfo about one replica (KIP-966). `current_leader_epoch` is the
    leader epoch that the broker knows; `log_end_offset` is exclusive."""

    broker: int
    broker_epoch: int
    topic_id: UUID
    partition: int
    current_leader_epoch: int
    last_written_leader_epoch: int
    log_end_offset: int


@dataclass(frozen=True, slots=True)
class RecoveryTimeout:
    """unclean.recovery.timeout.ms have passed since the recovery of this partition began."""

    topic_id: UUID
    partition: int


@dataclass(frozen=True, slots=True)
class ReviewRecoveries:
    """The unclean recovery manager reviews every recovery, because something has changed."""


# The controller's own tasks are events too, and a timer starts each.


@dataclass(frozen=True, slots=True)
class ElectUncleanLeaders:
    """Every unclean.leader.election.interval.ms the controller elects leaders where the config
    allows unclean ones."""


@dataclass(frozen=True, slots=True)
class BalanceLeaders:
    """Every leader.imbalance.check.interval.seconds the controller elects the preferred leaders."""


Event = (
    RegisterBroker
    | UnregisterBroker
    | Heartbeat
    | SessionExpired
    | AssignReplicaToDir
    | AlterPartition
    | AlterPartitions
    | CreateTopic
    | CreatePartitions
    | DeleteTopic
    | AlterTopicConfig
    | AlterClusterConfig
    | AlterBrokerConfig
    | AlterReassignment
    | ElectLeaders
    | UpdateElrVersion
    | ReplicaLogInfo
    | RecoveryTimeout
    | ReviewRecoveries
    | ElectUncleanLeaders
    | BalanceLeaders
)


# The controller answers with these values.


@dataclass(frozen=True, slots=True)
class Response:
    """The answer to an event that asks for one change. The controller's own tasks answer NONE."""

    error: Errors = Errors.NONE


@dataclass(frozen=True, slots=True)
class RegisterBrokerResponse:
    error: Errors = Errors.NONE
    broker_epoch: int = -1


@dataclass(frozen=True, slots=True)
class HeartbeatResponse:
    """The answer to a heartbeat. The defaults are Kafka's message's own, and go with any error."""

    error: Errors = Errors.NONE
    is_caught_up: bool = False
    is_fenced: bool = True
    should_shut_down: bool = False


@dataclass(frozen=True, slots=True)
class AlterPartitionResponse:
    """The answer to an AlterPartition. `error` is the request's and `partition_error` the
    partition's; at most one of them is set.

    The other fields describe the partition after the change, and are set when there is no error.
    """

    error: Errors = Errors.NONE
    partition_error: Errors = Errors.NONE
    leader: int = 0
    leader_epoch: int = 0
    isr: tuple[int, ...] = ()
    leader_recovery_state: int = 0
    partition_epoch: int = 0


@dataclass(frozen=True, slots=True)
class AlterPartitionsResponse:
    """The answer to AlterPartitions. `results` holds one answer per change, in order; with an
    `error`, which is the request's, there are none."""

    error: Errors = Errors.NONE
    results: tuple[AlterPartitionResponse, ...] = ()


@dataclass(frozen=True, slots=True)
class ElectLeadersResponse:
    """The answer to ElectLeaders. `results` holds topic, partition and error; a request for all
    partitions gets no results with ELECTION_NOT_NEEDED."""

    error: Errors = Errors.NONE
    results: tuple[tuple[str, int, Errors], ...] = ()


AnyResponse = (
    Response
    | RegisterBrokerResponse
    | HeartbeatResponse
    | AlterPartitionResponse
    | AlterPartitionsResponse
    | ElectLeadersResponse
)
