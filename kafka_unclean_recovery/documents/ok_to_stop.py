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
    published,
)


class LeadershipJson(Entry, frozen=True):
    """Who leads a partition, and who may.

    leader: Broker id of the leader; -1 where nobody leads.
    """

    leader: OrNone
    isr: BrokerIds
    elr: BrokerIds


class PredictedJson(Entry, frozen=True):
    """What becomes of a partition.

    internal: True for a partition of one of Kafka's internal topics.
    classes: Names of what becomes of it, the gravest first: unclean_election, last_clean_copy,
        offline_survivor, goes_offline, writes_blocked and below_margin, each of which says no; then
        single_replica, leaves_elr and at_the_floor, which are only said.
    because: The numbers and the setting that decide it.
    min_isr: Effective min.insync.replicas: never more than the replicas.
    before: Who leads before the stop, and who may.
    after: Who leads after the stop, and who may.
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
    """A partition of which it is not known what becomes of it, and why.

    why: What is not known, as a sentence.
    """

    topic: TopicName
    partition: Int32
    why: str


class ScenarioJson(Entry, frozen=True):
    """What one way to stop does.

    verdict: Whether the brokers may be stopped in this way: yes, no, or unknown.
    counts: How many partitions are of each class.
    quorum: Why the metadata quorum would lose its majority; null where it keeps it.
    partitions: Partitions of any class, the gravest first.
    """

    verdict: Literal["yes", "no", "unknown"]
    counts: dict[str, Int64]
    quorum: str | None
    partitions: tuple[PredictedJson, ...]


@published("What kafka-unclean-recovery ok-to-stop found, format 1")
class OkToStopJson(Entry, frozen=True, kw_only=True):
    """Whether brokers may be stopped. It is what was so when the cluster was looked at: a broker
    that fails a moment later makes it untrue.

    brokers: The brokers that would be stopped together.
    controllers: The controllers that would be.
    margin: How many more failures each partition must stand before writes are blocked.
    verdict: The worse verdict, of a controlled stop and of a kill. yes is exit code 0, no 1,
        unknown 4.
    stop: What a controlled stop does.
    kill: What a kill does once the brokers' sessions have ended; leaves_elr tells what their return
        does.
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

    why: Why it is not back: broker_down, directory_failed, or catching_up.
    """

    topic: TopicName
    partition: Int32
    broker: BrokerId
    why: str


@published("What kafka-unclean-recovery ok-to-stop --after found, format 1")
class BackAfterStopJson(Entry, frozen=True, kw_only=True):
    """What has not come back after brokers were started again.

    brokers: The brokers that were stopped.
    verdict: Whether all is back: yes, no, or unknown.
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
