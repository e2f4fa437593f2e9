"""What `ok-to-stop` saves of a cluster, and what it prints."""

from __future__ import annotations

from typing import Literal

from kafka_unclean_recovery.documents.values import (
    BrokerId,
    BrokerIds,
    DateTime,
    Entry,
    Int32,
    Int64,
    OrNone,
    TopicName,
)

BY_BROKER = frozenset({"file", "default", "one_broker"})
"""The sources of a min.insync.replicas that brokers may differ in."""


class ObservedBrokerJson(Entry, frozen=True):
    """A broker that the cluster knows.

    rack: Its broker.rack; null where it has none.
    fenced: Whether the controller has fenced it; before Kafka 4.1 such brokers are left out.
    silent: Why it did not answer; null where it did, or was not asked.
    min_isr: min.insync.replicas that it has in its own file, for topics without a value; null where
        that was not asked.
    listed: False for a broker that is not listed on the listener that the command came in by, and
        is not known to be dead.
    heard: What tells that it lives, where it did not answer; null where nothing does.
    disks: Why it did not tell which topics its log directories have; null where it did.
    """

    id: BrokerId
    rack: str | None
    fenced: bool
    silent: str | None
    min_isr: Int32 | None
    listed: bool = True
    heard: str | None = None
    disks: str | None = None

    @property
    def up(self) -> bool:
        """True when it lives, by its own answer or by what others tell, and is not fenced."""
        return not self.fenced and (self.silent is None or self.heard is not None)


class VoterStateJson(Entry, frozen=True):
    """A voter of the metadata quorum.

    follows: Whether it fetched within the last 3 s; null where that is not told.
    """

    id: Int32
    follows: bool | None


class ObservedPartitionJson(Entry, frozen=True):
    """A partition as the controller has it.

    leader: -1 where it has none.
    offline_replicas: Replicas whose broker is fenced or dead, or whose log directory failed.
    led_unseen: Whether a broker leads it that is not listed; leader is -1 then.
    survivors: Where nobody leads it, the live replicas with the best log, also on fenced brokers
        that answer.
    survivors_untold: Why they are not known; null where they are, or were not asked for.
    """

    partition: Int32
    leader: OrNone
    replicas: BrokerIds
    isr: BrokerIds
    elr: BrokerIds
    last_known_elr: BrokerIds
    offline_replicas: BrokerIds
    adding_replicas: BrokerIds
    removing_replicas: BrokerIds
    led_unseen: bool = False
    survivors: BrokerIds = ()
    survivors_untold: str | None = None


class ObservedTopicJson(Entry, frozen=True):
    """A topic.

    min_isr: min.insync.replicas as configured; null where that is not known.
    min_isr_source: Who set it: topic, all_brokers, one_broker, file, default or unknown.
    unclean: unclean.leader.election.enable; null where that is not known.
    problem: Why something of it is not known; null where all is.
    """

    name: TopicName
    topic_id: str
    min_isr: Int32 | None
    min_isr_source: str
    unclean: bool | None
    problem: str | None
    partitions: tuple[ObservedPartitionJson, ...]


class ObservationJson(Entry, frozen=True, kw_only=True):
    """What ok-to-stop saw of a cluster, to be asked again without it.

    observed_at: When the look ended; ISO 8601 with its offset from UTC.
    release: Release of the brokers, as "4.3"; "unknown" where they do not tell it or differ.
    elr: Whether eligible leader replicas are on.
    voters: Of the metadata quorum; null where that is not known.
    problems: What could not be read.
    """

    format_version: Literal[1] = 1
    kind: Literal["cluster-observation"] = "cluster-observation"
    cluster_id: str
    observed_at: DateTime
    release: str
    elr: bool
    brokers: tuple[ObservedBrokerJson, ...]
    voters: tuple[VoterStateJson, ...] | None
    topics: tuple[ObservedTopicJson, ...]
    problems: tuple[str, ...]


class LeadershipJson(Entry, frozen=True):
    """Who leads a partition, and who may.

    leader: -1 where nobody does.
    """

    leader: OrNone
    isr: BrokerIds
    elr: BrokerIds


class PredictedJson(Entry, frozen=True):
    """What becomes of a partition.

    classes: From the gravest: unclean_election, last_clean_copy, offline_survivor, goes_offline,
        writes_blocked and below_margin, each of which says no; then single_replica, leaves_elr and
        at_the_floor, which are only said.
    because: The numbers and the setting that decide it.
    min_isr: Effective min.insync.replicas: never more than the replicas.
    """

    topic: TopicName
    partition: Int32
    internal: bool
    classes: tuple[str, ...]
    because: str
    min_isr: Int32
    before: LeadershipJson
    after: LeadershipJson


class NotKnownJson(Entry, frozen=True):
    """A partition of which it is not known what becomes of it, and why."""

    topic: TopicName
    partition: Int32
    why: str


class ScenarioJson(Entry, frozen=True):
    """What one way to stop does.

    verdict: yes, no, or unknown.
    counts: How many partitions are of each class.
    quorum: Why the metadata quorum would lose its majority; null where it keeps it.
    partitions: Those of any class, the gravest first.
    """

    verdict: Literal["yes", "no", "unknown"]
    counts: dict[str, Int64]
    quorum: str | None
    partitions: tuple[PredictedJson, ...]


class OkToStopJson(Entry, frozen=True, kw_only=True):
    """Whether brokers may be stopped. It is what was so when the cluster was looked at: a broker
    that fails a moment later makes it untrue.

    brokers: The brokers that would be stopped together.
    controllers: The controllers that would be.
    margin: How many more failures each partition must stand before writes are blocked.
    verdict: Of a controlled stop and of a kill: the worse. yes is exit code 0, no 1, unknown 4.
    stop: What a controlled stop does.
    kill: What a kill does once the brokers' sessions have ended; leaves_elr tells what their
        return does.
    already: Partitions with a replica on these brokers that are offline or blocked as it is.
    not_known: Partitions of which it is not known what becomes of them.
    problems: What is not known besides.
    largest: The set that it grew to with --max; null without it.
    """

    format_version: Literal[1] = 1
    kind: Literal["ok-to-stop"] = "ok-to-stop"
    cluster_id: str
    observed_at: DateTime
    brokers: BrokerIds
    controllers: tuple[Int32, ...]
    margin: Int32
    verdict: Literal["yes", "no", "unknown"]
    stop: ScenarioJson
    kill: ScenarioJson
    already: tuple[PredictedJson, ...]
    not_known: tuple[NotKnownJson, ...]
    problems: tuple[str, ...]
    largest: BrokerIds | None


class MissingReplicaJson(Entry, frozen=True):
    """A replica that is not back in the ISR.

    why: broker_down, directory_failed, or catching_up.
    """

    topic: TopicName
    partition: Int32
    broker: BrokerId
    why: str


class BackAfterStopJson(Entry, frozen=True, kw_only=True):
    """What has not come back after brokers were started again.

    verdict: yes: all is back; no; or unknown.
    down: Brokers that are not registered, or fenced, or do not answer.
    missing: Replicas of theirs that are not in the ISR.
    not_leading: How many partitions that they lead by preference others lead: no loss.
    problems: What is not known.
    """

    format_version: Literal[1] = 1
    kind: Literal["ok-to-stop-after"] = "ok-to-stop-after"
    cluster_id: str
    observed_at: DateTime
    brokers: BrokerIds
    verdict: Literal["yes", "no", "unknown"]
    down: BrokerIds
    missing: tuple[MissingReplicaJson, ...]
    not_leading: Int64
    problems: tuple[str, ...]
