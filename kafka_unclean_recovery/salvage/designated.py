"""What a plan says of the designated leaders' logs. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from kafka_unclean_recovery.files.json_fields import Fields
from kafka_unclean_recovery.files.json_text import Place, load_object
from kafka_unclean_recovery.files.plan_file import parse_plan, replica_log_json
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import EpochLineage, EpochSpan, ReplicaLog, TopicPartition


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


Elections = Iterable[tuple[TopicPartition, int | None]]


def designated_leaders(text: str, source: str, chosen: Elections = ()) -> DesignatedLeaders:
    """Of the rich plan that `text` is. chosen: leaders that a person chose instead of the plan's.

    Raises InputError.
    """
    parse_plan(text, source)
    document = Fields(Place(source), load_object(text, source))
    by_hand = {partition: leader for partition, leader in chosen if leader is not None}
    rows = [_designated(fields, by_hand) for fields in document.objects("partitions")]
    partitions = {row.topic_partition: row for row in rows}
    if len(partitions) < len(rows):
        raise document.place.at("partitions").error("names a partition twice; make a new plan")
    for partition in by_hand:
        if partition not in partitions:
            raise document.place.error(
                f"has no {partition}, for which a leader was chosen by hand; take"
                " it out of --manual-recovery-file"
            )
    return DesignatedLeaders(document.text("cluster_id"), partitions)


def designated_json(designated: Designated) -> str:
    """For `parse_designated`, in another process."""
    log = designated.log
    partition = designated.topic_partition
    return json.dumps(
        {
            "topic": partition.topic,
            "partition": partition.partition,
            "topic_id": designated.topic_id,
            "log": None if log is None else replica_log_json(log),
            "why_not": designated.why_not,
            "doubt": designated.doubt,
        }
    )


def parse_designated(text: str) -> Designated:
    source = "the designated leader"
    fields = Fields(Place(source), load_object(text, source))
    log = fields.object_at("log") if fields.known("log") else None
    return Designated(
        TopicPartition(fields.text("topic"), fields.int32("partition")),
        fields.text("topic_id"),
        None if log is None else _log(log.int32("broker"), log),
        fields.text_or_unknown("why_not"),
        fields.text_or_unknown("doubt"),
    )


def _designated(fields: Fields, by_hand: Mapping[TopicPartition, int]) -> Designated:
    partition = TopicPartition(fields.text("topic"), fields.int32("partition"))
    topic_id = fields.object_at("preconditions").text("topic_id")
    leader = by_hand.get(partition, fields.int32_or_unknown("designated_leader"))
    if leader is None:
        why = "the plan designates no leader; choose one by hand (--manual-recovery-file)"
        return Designated(partition, topic_id, None, why)
    rows = list(fields.objects("replica_logs"))
    logs = {row.int32("broker"): row for row in rows}
    if len(logs) < len(rows):
        raise fields.place.at("replica_logs").error("names a broker twice; make a new plan")
    if leader not in logs:
        why = f"broker {leader} is to lead, but the plan knows no replica of it"
        return Designated(partition, topic_id, None, why)
    log = _log(leader, logs[leader])
    if (why_not := _unknown(log)) is not None:
        return Designated(partition, topic_id, None, why_not)
    return Designated(partition, topic_id, log, doubt=_doubt(log, logs[leader]))


def _log(broker: int, fields: Fields) -> ReplicaLog:
    epochs = _lineage(fields) if fields.known("epochs") else None
    return ReplicaLog(
        broker,
        live=fields.flag("live"),
        log_start_offset=fields.int64_or_unknown("log_start_offset"),
        log_end_offset=fields.int64_or_unknown("log_end_offset"),
        epochs=epochs,
        problem=fields.text_or_unknown("problem"),
        suspect=fields.text_or_unknown("suspect"),
        certain_end_offset=fields.int64_or_unknown("certain_end_offset"),
    )


def _lineage(fields: Fields) -> EpochLineage:
    spans = tuple(
        EpochSpan(span.int32("epoch"), span.int64("start_offset"), span.int64("end_offset"))
        for span in fields.objects("epochs")
    )
    ordered = all(a.epoch < b.epoch and a.end_offset <= b.start_offset for a, b in pairwise(spans))
    if not ordered or any(span.end_offset < span.start_offset for span in spans):
        raise fields.place.at("epochs").error("are not in order of their offsets; make a new plan")
    return spans


def _unknown(log: ReplicaLog) -> str | None:
    who = f"the log of broker {log.broker}, which is to lead,"
    if log.problem is not None:
        return f"{who} was not seen when the plan was made: {log.problem}"
    if log.epochs is None or log.log_end_offset is None:
        return f"{who} has no lineage in the plan"
    return None


def _doubt(log: ReplicaLog, fields: Fields) -> str | None:
    who = f"the log of broker {log.broker}, which is to lead,"
    if log.suspect is not None:
        return f"{who} may be corrupt, and hold less: {log.suspect}"
    if fields.known("scanned") and fields.object_at("scanned").text("mode") == ScanMode.FAST:
        return f"{who} was scanned fast, and may hold less; make the plan without --mode fast"
    return None
