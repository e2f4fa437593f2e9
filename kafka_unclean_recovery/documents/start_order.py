"""In which order to start brokers that are down: the artefact of start-order."""

from __future__ import annotations

from typing import Literal

from msgspec import UnsetType

from kafka_unclean_recovery.documents.shared import TopicPartitionJson
from kafka_unclean_recovery.documents.values import (
    ABSENT,
    BrokerId,
    Entry,
    Int32,
    Int64,
    ToldNumber,
    published,
)


class HarmJson(Entry, frozen=True, kw_only=True):
    """What a broker costs that leads by itself. Unknown is null.

    partitions: The partitions that it would lead.
    records: How many records others lose under it, in all of them, beyond what the best leaders
        would cost.
    leader_end: The end of its log in the first of them, exclusive.
    best: The best leader of the first of them.
    best_end: The end of the log of that one, exclusive.
    """

    partitions: tuple[TopicPartitionJson, ...]
    records: Int64 | None
    leader_end: ToldNumber | None
    best: BrokerId | None
    best_end: ToldNumber | None


class StartJson(Entry, frozen=True, kw_only=True):
    """One broker that is started.

    step: The step that it starts with, from 1 on. Brokers of one step start in any order.
    too_early: What its start may cost before the elections of earlier steps; null: nothing.
    """

    broker: BrokerId
    step: Int32
    too_early: HarmJson | None


class GoneJson(Entry, frozen=True, kw_only=True):
    """A broker whose disk is lost.

    trap: What an empty disk under its id costs before other brokers lead; null: nothing.
    frees: How many partitions the controller leads again once an empty disk registers, at no cost.
    """

    broker: BrokerId
    trap: HarmJson | None
    frees: Int32


class PartitionEndJson(Entry, frozen=True, kw_only=True):
    """What becomes of one partition.

    leader: The broker that leads it in the end, of an election one of those that cost least; null:
        none of its brokers starts.
    elected: It is to be elected; else the controller makes the leader by itself.
    step: The step after whose start it gets the leader; 0: before any.
    records: What this costs beyond the best leader; null is unknown.
    """

    topic: str
    partition: Int32
    leader: BrokerId | None
    elected: bool
    step: Int32 | None
    records: Int64 | None


@published("kafka-unclean-recovery start-order --format json, format 1")
class StartOrderJson(Entry, frozen=True, kw_only=True):
    """In which order to start brokers that are down, and when to elect in between. Unknown is null,
    never 0.

    loses: Some order loses records that this one keeps, or an empty disk would; or how much is not
        known.
    costs: How many records this order loses beyond what the best leaders would cost; null is
        unknown.
    worst: How many records the worst order loses beyond that, with no election in between; null
        where it was not tried, or is not known.
    tried_all: No order costs less.
    rests_on: The metadata log that was read in place of the controller; null: brokers
        or the active controller were asked.
    unknown: What is not known, a sentence each.
    starts: The brokers that are started, by step.
    gone: The brokers whose disks are lost for good.
    partitions: The partitions that have no leader now, or will have none once all are fenced.
    foretold: The controllers have yet to fence brokers, and who may lead is foretold; missing: who
        may lead is as the controllers have it.
    """

    format_version: Literal[1] = 1
    kind: Literal["start-order"] = "start-order"
    cluster_id: str | None
    loses: bool
    costs: Int64 | None
    worst: Int64 | None
    tried_all: bool
    rests_on: str | None
    unknown: tuple[str, ...]
    starts: tuple[StartJson, ...]
    gone: tuple[GoneJson, ...]
    partitions: tuple[PartitionEndJson, ...]
    foretold: bool | UnsetType = ABSENT
