"""What a controller is told, and what it answers: values, in the words of Kafka's requests.

An event carries everything that is not in the state: topic ids, offsets, the passing of time. An
answer is an error code for each thing that was asked for. Offsets are those of the metadata log.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from uuid import UUID

UNKNOWN_BROKER_EPOCH = -1
"""In a registration: no clean-shutdown file was found. In an ISR: don't check (KIP-903)."""

NO_PREVIOUS_REGISTRATION = -2
"""What the controller holds as the epoch of a broker that is not registered
(ClusterControlManager): a registration that says the same has shut down cleanly."""


UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3
"""Types of a feature's update (FeatureUpdate.UpgradeType)."""


class Errors(IntEnum):
    """Kafka's error codes that a controller of this kind answers (class Errors)."""

    UNKNOWN_SERVER_ERROR = -1
    NONE = 0
    UNKNOWN_TOPIC_OR_PARTITION = 3
    NOT_LEADER_OR_FOLLOWER = 6
    INVALID_TOPIC_EXCEPTION = 17
    TOPIC_ALREADY_EXISTS = 36
    INVALID_PARTITIONS = 37
    INVALID_REPLICATION_FACTOR = 38
    INVALID_REPLICA_ASSIGNMENT = 39
    INVALID_CONFIG = 40
    NOT_CONTROLLER = 41
    INVALID_REQUEST = 42
    FENCED_LEADER_EPOCH = 74
    STALE_BROKER_EPOCH = 77
    PREFERRED_LEADER_NOT_AVAILABLE = 80
    ELIGIBLE_LEADERS_NOT_AVAILABLE = 83
    ELECTION_NOT_NEEDED = 84
    NO_REASSIGNMENT_IN_PROGRESS = 85
    INVALID_UPDATE_VERSION = 95
    UNKNOWN_TOPIC_ID = 100
    DUPLICATE_BROKER_REGISTRATION = 101
    BROKER_ID_NOT_REGISTERED = 102
    INELIGIBLE_REPLICA = 107
    NEW_LEADER_ELECTED = 108
    INVALID_REGISTRATION = 119


class ElectionType(StrEnum):
    """Of ElectLeaders; the first three are 0, 1 and 2 on the wire. DESIGNATED and LONGEST_LOG are
    KIP-966's, in no release; LONGEST_LOG is in its script and has no number in its requests."""

    PREFERRED = "preferred"
    UNCLEAN = "unclean"
    DESIGNATED = "designated"
    LONGEST_LOG_AGGRESSIVE = "longest_log_aggressive"
    LONGEST_LOG_BALANCED = "longest_log_balanced"


# Events of brokers.


@dataclass(frozen=True, slots=True)
class RegisterBroker:
    """BrokerRegistration. The broker epoch that it gets is the state's `end_offset`."""

    broker: int
    incarnation_id: UUID
    previous_broker_epoch: int
    log_dirs: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class UnregisterBroker:
    broker: int


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """BrokerHeartbeat. `current_metadata_offset`: the last offset that the broker has applied."""

    broker: int
    broker_epoch: int
    current_metadata_offset: int
    want_fence: bool = False
    want_shut_down: bool = False
    offline_log_dirs: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionExpired:
    """The broker has not been heard of for broker.session.timeout.ms."""

    broker: int


@dataclass(frozen=True, slots=True)
class AssignReplicaToDir:
    """AssignReplicasToDirs of one replica: where a broker with several directories has put it."""

    broker: int
    broker_epoch: int
    topic: str
    partition: int
    log_dir: UUID


@dataclass(frozen=True, slots=True)
class AlterPartition:
    """AlterPartition of one partition. `new_isr`: broker id and broker epoch of each member."""

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
    """AlterPartition of several partitions in one request. They name the same sender, and each is
    judged by what was before it, even where a partition comes twice."""

    changes: tuple[AlterPartition, ...]


# Events of admins.


@dataclass(frozen=True, slots=True)
class CreateTopic:
    """CreateTopics of one topic with a manual assignment: partition to replicas."""

    name: str
    topic_id: UUID
    assignment: Mapping[int, tuple[int, ...]]
    configs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CreatePartitions:
    """CreatePartitions of one topic: `count` in all, and the replicas of those that are new."""

    name: str
    count: int
    assignment: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class DeleteTopic:
    name: str


@dataclass(frozen=True, slots=True)
class AlterTopicConfig:
    """IncrementalAlterConfigs of one key of a topic; None removes it."""

    name: str
    key: str
    value: str | None


@dataclass(frozen=True, slots=True)
class AlterClusterConfig:
    """IncrementalAlterConfigs of one key for all brokers (the resource with the empty name)."""

    key: str
    value: str | None


@dataclass(frozen=True, slots=True)
class AlterBrokerConfig:
    """IncrementalAlterConfigs of one key of one broker, be it registered or not."""

    broker: int
    key: str
    value: str | None


@dataclass(frozen=True, slots=True)
class AlterReassignment:
    """AlterPartitionReassignments of one partition; None cancels."""

    topic: str
    partition: int
    replicas: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class ElectLeaders:
    """ElectLeaders; no `partitions` means all. `designated` is parallel to them, if DESIGNATED."""

    kind: ElectionType
    partitions: tuple[tuple[str, int], ...] | None
    designated: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class UpdateElrVersion:
    """UpdateFeatures of eligible.leader.replicas.version alone; level 0 is off.

    upgrade_type: FeatureUpdate.UpgradeType, see the constants; others are refused.
    """

    level: int
    upgrade_type: int


@dataclass(frozen=True, slots=True)
class ReplicaLogInfo:
    """A broker's answer to GetReplicaLogInfo about one replica (KIP-966). `current_leader_epoch`
    is the one that it knows of, `log_end_offset` exclusive."""

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
    """The unclean recovery manager looks at what has changed."""


# The controller's own tasks, each of which a timer starts.


@dataclass(frozen=True, slots=True)
class ElectUncleanLeaders:
    """Every unclean.leader.election.interval.ms: leaders where the config allows unclean ones."""


@dataclass(frozen=True, slots=True)
class BalanceLeaders:
    """Every leader.imbalance.check.interval.seconds: preferred leaders back to work."""


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


# Answers.


@dataclass(frozen=True, slots=True)
class Response:
    """Of whatever is one thing that is done, or not. The two tasks always answer NONE."""

    error: Errors = Errors.NONE


@dataclass(frozen=True, slots=True)
class RegisterBrokerResponse:
    error: Errors = Errors.NONE
    broker_epoch: int = -1


@dataclass(frozen=True, slots=True)
class HeartbeatResponse:
    """The defaults are the message's own, which go with every error."""

    error: Errors = Errors.NONE
    is_caught_up: bool = False
    is_fenced: bool = True
    should_shut_down: bool = False


@dataclass(frozen=True, slots=True)
class AlterPartitionResponse:
    """`error` is the request's, `partition_error` the partition's: one of them at most.

    The rest is the partition as it is then, and is there when there is no error.
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
    """`error` is the request's, and then there are no `results`: one a change, in order."""

    error: Errors = Errors.NONE
    results: tuple[AlterPartitionResponse, ...] = ()


@dataclass(frozen=True, slots=True)
class ElectLeadersResponse:
    """`results`: topic, partition, error. Asked for all, it leaves out ELECTION_NOT_NEEDED."""

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
