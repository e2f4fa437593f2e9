"""The facts are what an examination saw, in frozen values. Every question has an answer or the
reason why it has none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kafka_unclean_recovery.cluster.requests.configs import ConfigValue
from kafka_unclean_recovery.cluster.requests.describe import Reassignment, Topic
from kafka_unclean_recovery.cluster.requests.log_dirs import LogDir
from kafka_unclean_recovery.cluster.requests.quorum_state import Quorum
from kafka_unclean_recovery.mechanisms import Dialect, ElectionMethod
from kafka_unclean_recovery.model import Cluster, PartitionState, TopicPartition
from kafka_unclean_recovery.survey.answer import Answer


@dataclass(frozen=True, slots=True)
class ClockOffset:
    """The active controller's clock, compared with ours: `ahead_ms`, give or take
    `uncertainty_ms`."""

    ahead_ms: int
    uncertainty_ms: int


@dataclass(frozen=True, slots=True)
class QuorumAnswer:
    """The controller quorum, and its leader's clock. `quorum` is None while no controller leads."""

    quorum: Quorum | None
    clock: ClockOffset | None = None


@dataclass(frozen=True, slots=True)
class Spoken:
    """The facts that one broker told when the connection was made.

    missing: names of requests that are needed and that the broker does not speak. metadata_version:
    the highest level that it supports, None where it does not tell (ZooKeeper, the emulator).
    dialect: the one of GetReplicaLogInfo, None for list-offsets. not_offered: why replicas can't be
    asked in the way that was wished for.
    """

    missing: tuple[str, ...] = ()
    metadata_version: int | None = None
    finalized: Mapping[str, int] = field(default_factory=dict)
    emulator: bool = False
    dialect: Dialect | None = None
    not_offered: str | None = None


@dataclass(frozen=True, slots=True)
class BrokerSeen:
    """A live broker. proof: None where it has shown that it is the one that is listed, else why
    nothing shows it. ends, reads and infos have Kafka's error codes of ListOffsets, of Fetch and of
    GetReplicaLogInfo for the partitions that were tried on it: one of each topic, on one of the
    brokers."""

    id: int
    address: str
    spoken: Answer[Spoken]
    log_dirs: Answer[tuple[LogDir, ...]] = field(default_factory=Answer)
    proof: Answer[str | None] = field(default_factory=Answer)
    ends: Mapping[TopicPartition, int] = field(default_factory=dict)
    reads: Mapping[TopicPartition, int] = field(default_factory=dict)
    infos: Mapping[TopicPartition, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Space:
    """The space in a directory of this machine, or in the nearest one above that exists.
    free_bytes: what this user may take; None where it can't be asked."""

    path: str
    free_bytes: int | None
    writable: bool


@dataclass(frozen=True, slots=True)
class Room:
    """The room on this machine. journal: where journals go. salvage: where a salvage would be
    written. unfinished: journals of earlier runs that left replica orders to be put back.
    unreadable: complaints about other journals."""

    journal: Space
    salvage: Space
    unfinished: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Facts:
    """All that an examination saw. `fenced_told`: whether DescribeCluster tells fenced brokers.
    configs: the values of unclean.leader.election.enable, by topic. `bootstrap` has the addresses
    that gave no connection, each with its reason; `other_clusters` those of another cluster, with
    its id. zookeeper: the cluster has no quorum, for it runs on ZooKeeper. unseen: what shows that
    brokers live that are not listed, by broker. led_unseen: who leads partitions that only look as
    if nobody led them. old: why brokers and topics may be those of a while ago."""

    cluster: Cluster
    fenced_told: bool
    bootstrap: Mapping[str, str]
    brokers: tuple[BrokerSeen, ...]
    method: Answer[ElectionMethod]
    quorum: Answer[QuorumAnswer]
    reassignments: Answer[Mapping[TopicPartition, Reassignment]]
    reordering: Answer[None]
    electing: Answer[None]
    topics: Answer[tuple[Topic, ...]]
    configs: Answer[Mapping[str, ConfigValue]]
    room: Room
    other_clusters: Mapping[str, str] = field(default_factory=dict)
    zookeeper: bool = False
    unseen: Mapping[int, str] = field(default_factory=dict)
    led_unseen: Mapping[TopicPartition, str] = field(default_factory=dict)
    old: str | None = None

    @property
    def partitions(self) -> tuple[PartitionState, ...]:
        """Return the partitions of every topic that the caller may see."""
        return tuple(p for topic in self.topics.value or () for p in topic.told)

    @property
    def offline(self) -> tuple[PartitionState, ...]:
        hidden = self.led_unseen
        return tuple(p for p in self.partitions if p.offline and p.topic_partition not in hidden)

    @property
    def finalized(self) -> Mapping[str, int]:
        """Return the features as the cluster has settled on them; empty where nobody told."""
        told = (b.spoken.value.finalized for b in self.brokers if b.spoken.value)
        return next((features for features in told if features), {})
