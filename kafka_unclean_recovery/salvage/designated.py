"""What a plan says of the designated leaders' logs. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from kafka_unclean_recovery.documents.plan import PartitionJson, PlanJson, parse_plan
from kafka_unclean_recovery.documents.reading.codec import decode, decode_newer, to_json, to_model
from kafka_unclean_recovery.documents.reading.json_text import Place, load_object
from kafka_unclean_recovery.documents.shared import ReplicaLogJson
from kafka_unclean_recovery.documents.values import Entry, Int32
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import EpochLineage, ReplicaLog, TopicPartition


@dataclass(frozen=True, slots=True)
class Designated:
    """Of one partition. log: the designated leader's, by the plan; None where `why_not` says that
    it is not known well enough to tell what others hold beyond it. doubt: why it may hold less than
    the plan says, so that more is lost than was salvaged."""

    topic_partition: TopicPartition
    topic_id: str
    log: ReplicaLog | None
    why_not: str | None = None
    doubt: str | None = None


@dataclass(frozen=True, slots=True)
class DesignatedLeaders:
    """cluster_id: as the plan has it."""

    cluster_id: str
    partitions: Mapping[TopicPartition, Designated]


_KEYS = ("topic_id", "log", "why_not", "doubt")

Elections = Iterable[tuple[TopicPartition, int | None]]


def designated_leaders(text: str, source: str, chosen: Elections = ()) -> DesignatedLeaders:
    """Return the designated leaders of the rich plan that `text` is; `chosen` has those that a
    person chose instead. Raises InputError."""
    place = Place(source)
    document = decode_newer(parse_plan(text, source), PlanJson, place)
    by_hand = {partition: leader for partition, leader in chosen if leader is not None}
    where = place.at("partitions")
    rows = [
        _designated(row, by_hand, where.item(index))
        for index, row in enumerate(document.partitions)
    ]
    partitions = {row.topic_partition: row for row in rows}
    if len(partitions) < len(rows):
        raise where.error("names a partition twice; make a new plan")
    for partition in by_hand:
        if partition not in partitions:
            raise place.error(
                f"has no {partition}, for which a leader was chosen by hand; take"
                " it out of --manual-recovery-file"
            )
    return DesignatedLeaders(document.cluster_id, partitions)


class DesignatedJson(Entry, frozen=True):
    """A Designated on its way to another process."""

    topic: str
    partition: Int32
    topic_id: str
    log: ReplicaLogJson | None
    why_not: str | None
    doubt: str | None


def designated_json(designated: Designated) -> str:
    """Return a designated leader as JSON that `parse_designated` reads in another process."""
    partition = designated.topic_partition._asdict()
    rest = {key: to_json(getattr(designated, key)) for key in _KEYS}
    return json.dumps({**partition, **rest})


def parse_designated(text: str) -> Designated:
    source = "the designated leader"
    read = decode(load_object(text, source), DesignatedJson, Place(source))
    log = None if read.log is None else to_model(read.log, ReplicaLog)
    where = TopicPartition(read.topic, read.partition)
    return Designated(where, read.topic_id, log, read.why_not, read.doubt)


def _designated(
    row: PartitionJson, by_hand: Mapping[TopicPartition, int], place: Place
) -> Designated:
    partition, topic_id = TopicPartition(row.topic, row.partition), row.preconditions.topic_id
    leader = by_hand.get(partition, row.designated_leader)
    if leader is None:
        why = "the plan designates no leader; choose one by hand (--manual-recovery-file)"
        return Designated(partition, topic_id, None, why)
    places = {log.broker: index for index, log in enumerate(row.replica_logs)}
    if len(places) < len(row.replica_logs):
        raise place.at("replica_logs").error("names a broker twice; make a new plan")
    if leader not in places:
        why = f"broker {leader} is to lead, but the plan knows no replica of it"
        return Designated(partition, topic_id, None, why)
    log = to_model(row.replica_logs[places[leader]], ReplicaLog)
    _check_order(log.epochs or (), place.at("replica_logs").item(places[leader]).at("epochs"))
    if (why_not := _unknown(log)) is not None:
        return Designated(partition, topic_id, None, why_not)
    return Designated(partition, topic_id, _what_counts(log), doubt=_doubt(log))


def _what_counts(log: ReplicaLog) -> ReplicaLog:
    """Return the part of the leader's log that decides what others hold beyond it."""
    return ReplicaLog(
        log.broker,
        live=log.live,
        log_start_offset=log.log_start_offset,
        log_end_offset=log.log_end_offset,
        epochs=log.epochs,
        suspect=log.suspect,
        certain_end_offset=log.certain_end_offset,
    )


def _check_order(spans: EpochLineage, place: Place) -> None:
    ordered = all(a.epoch < b.epoch and a.end_offset <= b.start_offset for a, b in pairwise(spans))
    if not ordered or any(span.end_offset < span.start_offset for span in spans):
        raise place.error("are not in order of their offsets; make a new plan")


def _unknown(log: ReplicaLog) -> str | None:
    who = f"the log of broker {log.broker}, which is to lead,"
    if log.problem is not None:
        return f"{who} was not seen when the plan was made: {log.problem}"
    if log.epochs is None or log.log_end_offset is None:
        return f"{who} has no lineage in the plan"
    return None


def _doubt(log: ReplicaLog) -> str | None:
    who = f"the log of broker {log.broker}, which is to lead,"
    if log.suspect is not None:
        return f"{who} may be corrupt, and hold less: {log.suspect}"
    if log.scanned is not None and log.scanned.mode is ScanMode.FAST:
        return f"{who} was scanned fast, and may hold less; make the plan without --mode fast"
    return None
