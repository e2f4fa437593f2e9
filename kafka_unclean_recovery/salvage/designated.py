"""What a plan says of the designated leaders' logs. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from kafka_unclean_recovery.documents.plan import read_plan
from kafka_unclean_recovery.documents.reading.codec import decode, to_json, to_model
from kafka_unclean_recovery.documents.reading.json_text import Place, load_object
from kafka_unclean_recovery.documents.shared import ReplicaLogJson
from kafka_unclean_recovery.documents.values import Entry, Int32
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import EpochLineage, PartitionPlan, ReplicaLog, TopicPartition


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
    plan = read_plan(text, source)
    return leaders_of(plan.cluster_id, plan.partitions, source, chosen)


def leaders_of(
    cluster_id: str,
    plans: Mapping[TopicPartition, PartitionPlan],
    source: str,
    chosen: Elections = (),
) -> DesignatedLeaders:
    """Return the designated leaders of these plans, as `designated_leaders` does. Raises
    InputError, which names `source`."""
    place = Place(source)
    by_hand = {partition: leader for partition, leader in chosen if leader is not None}
    partitions = {
        partition: _designated(each, by_hand.get(partition, each.designated_leader), place)
        for partition, each in plans.items()
    }
    for partition in by_hand:
        if partition not in partitions:
            raise place.error(
                f"has no {partition}, for which a leader was chosen by hand; take"
                " it out of --manual-recovery-file"
            )
    return DesignatedLeaders(cluster_id, partitions)


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


def _designated(plan: PartitionPlan, leader: int | None, place: Place) -> Designated:
    partition, topic_id = plan.state.topic_partition, plan.state.topic_id
    if leader is None:
        why = "its leader is not known, or none; choose one by hand (--manual-recovery-file)"
        return Designated(partition, topic_id, None, why)
    log = next((log for log in plan.replica_logs if log.broker == leader), None)
    if log is None:
        why = f"broker {leader} is to lead, but the plan knows no replica of it"
        return Designated(partition, topic_id, None, why)
    if not _in_order(log.epochs or ()):
        raise place.error(
            f"{partition}: the epochs of broker {leader} are not in order of their offsets; make a"
            " new plan"
        )
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


def _in_order(spans: EpochLineage) -> bool:
    ordered = all(a.epoch < b.epoch and a.end_offset <= b.start_offset for a, b in pairwise(spans))
    return ordered and all(span.start_offset <= span.end_offset for span in spans)


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
