"""Losses by topic: what spark plan prints, and what a post-mortem sums up."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from kafka_unclean_recovery.documents.values import Entry, ToldNumber, published

WHY_NOT = (
    "reassignment",
    "only_suspects",
    "unranked_holds_records",
    "unranked_ends_further",
    "without_epochs",
    "no_candidate",
    "state_unknown",
)
"""The reasons why a partition has no designated leader."""

WhyNot = Annotated[str, Meta(extra_json_schema={"enum": list(WHY_NOT)})]
AtLeastOne = Annotated[int, Meta(extra_json_schema={"minimum": 1})]


class RecordCountJson(Entry, frozen=True):
    """Records, counted as offsets.

    records: The sum; null when it is unknown for any partition.
    known_records: The sum over the partitions of which it is known.
    unknown_partitions: Number of partitions, or elections, for which it is unknown.
    """

    records: ToldNumber | None
    known_records: ToldNumber
    unknown_partitions: ToldNumber


class TotalJson(Entry, frozen=True):
    """The loss of all topics.

    partitions: How many partitions were planned.
    designated: Partitions with a designated leader.
    without: Partitions without one, by the reason.
    certain: What live replicas would truncate, in partitions with a designated leader.
    possible: What dead and excluded brokers may hold beyond, in partitions with a designated
        leader.
    """

    partitions: ToldNumber
    designated: ToldNumber
    without: dict[WhyNot, AtLeastOne]
    certain: RecordCountJson
    possible: RecordCountJson


class TopicLossJson(Entry, frozen=True):
    """The loss of one topic.

    partitions: How many partitions of the topic were planned.
    designated: Partitions with a designated leader.
    without: Partitions without one, by the reason.
    certain: What live replicas would truncate, in partitions with a designated leader.
    possible: What dead and excluded brokers may hold beyond, in partitions with a designated
        leader.
    """

    topic: str
    partitions: ToldNumber
    designated: ToldNumber
    without: dict[WhyNot, AtLeastOne]
    certain: RecordCountJson
    possible: RecordCountJson


@published("Losses by topic of kafka-unclean-recovery, format 1")
class LossByTopicJson(Entry, frozen=True, kw_only=True):
    """What electing the designated leaders loses. Unknown is null, never 0.

    cluster_id: Id of the Kafka cluster, null where no disk tells it.
    problems: Sentences about the scans as a whole.
    total: The loss of all topics together.
    topics: The loss of each topic, by name. Partitions that the newest metadata log does not have
        are left out.
    """

    format_version: Literal[1] = 1
    kind: Literal["loss-by-topic"] = "loss-by-topic"
    cluster_id: str | None
    problems: tuple[str, ...]
    total: TotalJson
    topics: tuple[TopicLossJson, ...]
