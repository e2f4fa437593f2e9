"""The State holds everything a controller knows, and answers the questions that its rules ask."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from uuid import UUID

from kafka_unclean_recovery.kafka_names import (
    MIN_INSYNC_REPLICAS,
    UNCLEAN_LEADER_ELECTION_ENABLE,
)
from kafka_unclean_recovery.kraft_rules.partition import PartitionRegistration
from kafka_unclean_recovery.kraft_rules.partition_index import (
    BrokersToElrs,
    PartitionIndex,
)
from kafka_unclean_recovery.kraft_rules.records import Ids, TopicIdPartition
from kafka_unclean_recovery.kraft_rules.recovery import (
    Recovery,
    Strategy,
    strategy_named,
)
from kafka_unclean_recovery.kraft_rules.releases import Release

UNCLEAN_RECOVERY_STRATEGY = "unclean.recovery.strategy"
UNCLEAN_RECOVERY_MANAGER_ENABLED = "unclean.recovery.manager.enabled"
UNCLEAN_RECOVERY_TIMEOUT_MS = "unclean.recovery.timeout.ms"
DEFAULTS = {MIN_INSYNC_REPLICAS: "1", UNCLEAN_LEADER_ELECTION_ENABLE: "false"}
_RECOVERY_TIMEOUT_MS = 300_000

# A replica is in UNASSIGNED until its broker says where it is (DirectoryId). The first hundred ids
# name no directory.
UNASSIGNED = UUID(int=1)
RESERVED_DIRECTORIES = 100


class ControllerFault(Exception):
    """Kafka's controller fails on this event and resigns; its client gets UNKNOWN_SERVER_ERROR."""


def number(value: str) -> int:
    """Return a config's value. Raises ControllerFault when it is no number: a value for all brokers
    was not validated before."""
    try:
        return int(value)
    except ValueError as error:
        raise ControllerFault(f"{value!r} is no number") from error


@dataclass(frozen=True, slots=True)
class BrokerRegistration:
    """A broker's registration. `registered_at` is the offset of its record, which the broker must
    have applied to be unfenced."""

    incarnation_id: UUID
    epoch: int
    log_dirs: tuple[UUID, ...]
    fenced: bool
    in_controlled_shutdown: bool
    registered_at: int

    @property
    def active(self) -> bool:
        return not (self.fenced or self.in_controlled_shutdown)


@dataclass(frozen=True, slots=True)
class HeartbeatState:
    """The facts about a broker that only the active controller remembers (BrokerHeartbeatState).

    metadata_offset: -1 while unknown. controlled_shutdown_offset: -1 unless the broker shuts down.
    """

    fenced: bool
    metadata_offset: int = -1
    controlled_shutdown_offset: int = -1

    @property
    def shutting_down(self) -> bool:
        return self.controlled_shutdown_offset >= 0

    @property
    def active(self) -> bool:
        return not (self.fenced or self.shutting_down)


@dataclass(slots=True)
class Topic:
    name: str
    topic_id: UUID
    partitions: dict[int, PartitionRegistration] = field(default_factory=dict)
    configs: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class State:
    """The controller's state, which only `replay` changes.

    end_offset: the end of the metadata log, exclusive, so that the next record gets it. A caller
    with a log in which others write too sets it before an event. contacts: the epoch in which the
    controller last heard from a broker. recoveries: the unclean recoveries that go on.
    recoveries_finished: the number of recoveries that have elected a leader since this controller
    began.
    """

    release: Release
    end_offset: int = 0
    brokers: dict[int, BrokerRegistration] = field(default_factory=dict)
    heartbeats: dict[int, HeartbeatState] = field(default_factory=dict)
    contacts: dict[int, int] = field(default_factory=dict)
    topics: dict[UUID, Topic] = field(default_factory=dict)
    topic_ids: dict[str, UUID] = field(default_factory=dict)
    cluster_configs: dict[str, str] = field(default_factory=dict)
    broker_configs: dict[int, dict[str, str]] = field(default_factory=dict)
    isrs: PartitionIndex[int] = field(default_factory=PartitionIndex)
    leaders: PartitionIndex[int] = field(default_factory=PartitionIndex)
    directories: PartitionIndex[UUID] = field(default_factory=PartitionIndex)
    elrs: BrokersToElrs = field(default_factory=BrokersToElrs)
    recoveries: dict[TopicIdPartition, Recovery] = field(default_factory=dict)
    recoveries_finished: int = 0

    def topic(self, name: str) -> Topic | None:
        topic_id = self.topic_ids.get(name)
        return None if topic_id is None else self.topics[topic_id]

    def partition(self, key: TopicIdPartition) -> PartitionRegistration:
        """Return a partition. Raises ControllerFault if an index has it and the topics lack it."""
        topic = self.topics.get(key.topic_id)
        if topic is None or key.partition not in topic.partitions:
            raise ControllerFault(f"{key} is in an index, and not among the topics")
        return topic.partitions[key.partition]

    def config(self, topic: Topic, key: str) -> str:
        """Return the topic's own value, else that of all brokers, else the default."""
        for configs in (topic.configs, self.cluster_configs):
            if key in configs:
                return configs[key]
        return DEFAULTS[key]

    def min_isr(self, topic: Topic, replicas: Ids) -> int:
        """Return the effective min.insync.replicas of a partition that has these replicas: never
        more than their number (KIP-966, "Additional High Watermark advancement requirement")."""
        if self.release.min_isr_of_partition_0:
            replicas = topic.partitions[0].replicas
        return min(number(self.config(topic, MIN_INSYNC_REPLICAS)), len(replicas))

    @property
    def recovers_uncleanly(self) -> bool:
        """Return whether the unclean recovery manager exists and is enabled (KIP-966, "Config
        changes"). The unclean elections that no admin asks for are then its own."""
        enabled = self.cluster_configs.get(UNCLEAN_RECOVERY_MANAGER_ENABLED, "false")
        return self.release.unclean_recovery and enabled.lower() == "true"

    def recovery_strategy(self, topic: Topic) -> Strategy:
        """Return the strategy of the topic, else of all brokers, else Balanced. Where one of them
        sets none, its unclean.leader.election.enable stands for a strategy (KIP-966,
        "Compatibility")."""
        for configs in (topic.configs, self.cluster_configs):
            if UNCLEAN_RECOVERY_STRATEGY in configs:
                found = strategy_named(configs[UNCLEAN_RECOVERY_STRATEGY])
                if found is None:
                    raise ControllerFault(f"{configs[UNCLEAN_RECOVERY_STRATEGY]!r} is no strategy")
                return found
            if UNCLEAN_LEADER_ELECTION_ENABLE in configs:
                enabled = configs[UNCLEAN_LEADER_ELECTION_ENABLE].lower() == "true"
                return Strategy.AGGRESSIVE if enabled else Strategy.BALANCED
        return Strategy.BALANCED

    @property
    def recovery_timeout_ms(self) -> int:
        return number(
            self.cluster_configs.get(UNCLEAN_RECOVERY_TIMEOUT_MS, str(_RECOVERY_TIMEOUT_MS))
        )

    def unclean_elections(self, topic: Topic) -> bool:
        return self.config(topic, UNCLEAN_LEADER_ELECTION_ENABLE).lower() == "true"

    def active(self, broker: int) -> bool:
        """Return whether the broker is registered, unfenced and not shutting down."""
        registration = self.brokers.get(broker)
        return registration is not None and registration.active

    def has_online_dir(self, broker: int, directory: UUID) -> bool:
        registration = self.brokers.get(broker)
        if registration is None:
            return False
        return directory in registration.log_dirs or directory == UNASSIGNED

    def default_dir(self, broker: int) -> UUID:
        """Return the directory of a new replica, known only if the broker has exactly one."""
        registration = self.brokers.get(broker)
        if registration is None or len(registration.log_dirs) != 1:
            return UNASSIGNED
        return registration.log_dirs[0]


def snapshot(state: State) -> State:
    """Return a copy of the state for brokers to read. The parts that only a controller needs are
    shared with the original."""
    topics = {
        topic_id: replace(topic, partitions=dict(topic.partitions), configs=dict(topic.configs))
        for topic_id, topic in state.topics.items()
    }
    return replace(
        state,
        brokers=dict(state.brokers),
        topics=topics,
        topic_ids=dict(state.topic_ids),
        cluster_configs=dict(state.cluster_configs),
        broker_configs={id_: dict(found) for id_, found in state.broker_configs.items()},
    )
