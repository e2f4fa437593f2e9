"""The rich plan, which nobody may edit: its types, written and read back. Pure.

It carries what each election rests on (its preconditions) and a digest over the whole,
so that whoever applies it later knows that it is what was planned, and can observe it all again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from msgspec import UNSET, UnsetType

from kafka_unclean_recovery.documents.reading.codec import (
    canonical_json,
    decode_newer,
    json_text,
    load_kind,
    to_model,
)
from kafka_unclean_recovery.documents.reading.json_text import JsonObject, Place
from kafka_unclean_recovery.documents.reading.json_values import each_once
from kafka_unclean_recovery.documents.shared import (
    DivergenceJson,
    FindingJson,
    LossJson,
    ReplicaLogJson,
)
from kafka_unclean_recovery.documents.values import (
    BrokerId,
    BrokerIds,
    Digest,
    Entry,
    Int32,
    Int64,
    OrNone,
    TopicName,
    published,
)
from kafka_unclean_recovery.documents.writing import (
    Json,
    digest_text,
    partitions_by_chunk,
    plan_digest,
)
from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.model import (
    NO_LEADER,
    Candidate,
    Cluster,
    Divergence,
    Finding,
    Loss,
    PartitionPlan,
    PartitionState,
    ReplicaLog,
    TopicPartition,
)
from kafka_unclean_recovery.planning.losses import loss_under

FORMAT_VERSION = 1
_MEMBERS = ("replicas", "isr", "elr", "last_known_elr")
PLAN_BEGINS = f'{{"format_version": {FORMAT_VERSION},\n"kind": "plan",\n'
"""So each plan begins that is written here."""
_JOURNAL_BEGINS = '{"v":'
_TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}")


class RankedJson(Entry, frozen=True):
    """A candidate, and what it is ranked by.

    loss: What electing this replica loses.
    divergences: Live replicas that would be truncated.
    last_written_leader_epoch: Leader epoch of the last record in the log; -1 where no record was
        ever written.
    log_end_offset: End of the log, exclusive; may be past the high watermark.
    """

    broker: BrokerId
    loss: LossJson
    divergences: tuple[DivergenceJson, ...]
    last_written_leader_epoch: OrNone | None
    log_end_offset: Int64 | None


class PreconditionsJson(Entry, frozen=True):
    """What must still hold just before the election; else the partition is refused.

    topic_id: Topic id as Kafka prints it.
    unregistered_replicas: Replicas whose broker is listed neither as live nor as fenced; left out
        where there are none.
    """

    topic_id: str
    leader_epoch: OrNone
    replicas: BrokerIds
    isr: BrokerIds
    elr: BrokerIds
    last_known_elr: BrokerIds
    unregistered_replicas: BrokerIds | UnsetType = UNSET


class PartitionJson(Entry, frozen=True):
    """The plan of one offline partition.

    preconditions: What the plan rests on.
    designated_leader: Broker whose replica is to lead; null when none is.
    order: The replica set as it is to be written before the election: candidates best first, then
        other live replicas, then the dead.
    refusal: Why no leader is designated although there may be candidates.
    loss: What electing the designated leader loses; unknown when none is designated.
    findings: What to weigh, gravest first.
    ranking: Every candidate, best first.
    replica_logs: What was seen of each replica.
    """

    topic: TopicName
    partition: Int32
    preconditions: PreconditionsJson
    designated_leader: Int32 | None
    order: BrokerIds
    refusal: str | None
    loss: LossJson
    findings: tuple[FindingJson, ...]
    ranking: tuple[RankedJson, ...]
    replica_logs: tuple[ReplicaLogJson, ...]


@published("Plan of kafka-unclean-recovery, format 1")
class PlanJson(Entry, frozen=True):
    """What is to be elected and what that rests on. Not to be edited: the digest would disagree.

    cluster_id: Id of the Kafka cluster that the plan is for.
    created_at: When the plan was made: ISO 8601 with the offset from UTC.
    partitions: The offline partitions, by topic and partition.
    digest: SHA-256 of all else as JSON with sorted keys, no blanks and ASCII only.
    """

    format_version: Literal[1]
    kind: Literal["plan"]
    cluster_id: str
    created_at: str
    partitions: tuple[PartitionJson, ...]
    digest: Digest


def plan_json(cluster: Cluster, plans: Iterable[PartitionPlan], created_at: str) -> str:
    """Return the rich plan (schemas/plan-1.schema.json) with its digest.

    `created_at` is a time in ISO 8601 with its offset from UTC.
    """
    return "".join(plan_chunks(cluster.cluster_id, map(plan_line, _sorted(plans)), created_at))


def plan_chunks(
    cluster_id: str, lines: Iterable[tuple[str, str]], created_at: str
) -> Iterator[str]:
    r"""Yield the rich plan part by part. lines: as plan_line returns them, by topic and partition,
    or many joined by ",\n" and ",", so that they need not all exist at once."""
    head: Json = {
        "format_version": FORMAT_VERSION,
        "kind": "plan",
        "cluster_id": cluster_id,
        "created_at": created_at,
    }
    # "partitions" comes last among the sorted keys.
    hashed = hashlib.sha256(f'{canonical_json(head)[:-1]},"partitions":['.encode("ascii"))

    def heard() -> Iterator[str]:
        for place, (line, canonical) in enumerate(lines):
            hashed.update(f"{',' if place else ''}{canonical}".encode("ascii"))
            yield line
        hashed.update(b"]}")

    yield from partitions_by_chunk(head, heard(), lambda: {"digest": digest_text(hashed)})


def plan_line(plan: PartitionPlan) -> tuple[str, str]:
    """Return a partition's line in the rich plan, and the canonical form of it that is hashed."""
    row = plan_row(plan)
    return json_text(row), canonical_json(row)


def plan_row(plan: PartitionPlan) -> Json:
    """Return a partition's entry in the rich plan, as values that json_text takes."""
    return {
        "topic": plan.state.topic,
        "partition": plan.state.partition,
        "preconditions": _preconditions(plan),
        "designated_leader": plan.designated_leader,
        "order": plan.order,
        "refusal": plan.refusal,
        "loss": loss_under(plan, plan.designated_leader),
        "findings": plan.findings,
        "ranking": [_ranked(candidate) for candidate in plan.ranking],
        "replica_logs": plan.replica_logs,
    }


def _preconditions(plan: PartitionPlan) -> Json:
    state = plan.state
    unregistered = {"unregistered_replicas": state.unregistered_replicas}
    return {
        "topic_id": state.topic_id,
        "leader_epoch": state.leader_epoch,
        "replicas": state.replicas,
        "isr": state.isr,
        "elr": state.elr,
        "last_known_elr": state.last_known_elr,
        **(unregistered if state.unregistered_replicas else {}),
    }


def _ranked(candidate: Candidate) -> Json:
    log = candidate.log
    return {
        **candidate_json(candidate),
        "last_written_leader_epoch": log.last_written_leader_epoch,
        "log_end_offset": log.log_end_offset,
    }


def candidate_json(candidate: Candidate) -> Json:
    """Return what electing this replica would lose, and where it would truncate the others."""
    return {
        "broker": candidate.log.broker,
        "loss": candidate.loss,
        "divergences": candidate.divergences,
    }


def _sorted(plans: Iterable[PartitionPlan]) -> list[PartitionPlan]:
    return sorted(plans, key=lambda plan: plan.state.topic_partition)


def parse_plan(text: str, source: str) -> JsonObject:
    """Return the document of a rich plan, its kind, version and digest checked. Raises InputError,
    which names `source`."""
    if text.startswith(_JOURNAL_BEGINS):
        raise InputError(
            f"{source}: it is the journal of a run, and no plan; give a file of --plan-output-file"
            " (salvage takes a journal as --journal)"
        )
    document = load_kind(
        text,
        source,
        "plan",
        "give a file of --plan-output-file",
        "use the version of this tool that wrote the plan",
    )
    if document.get("digest") != _digest_of_read(document, source):
        raise InputError(
            f"{source}: digest: does not agree with the plan, which was changed after it was "
            "written; make a new plan (to choose leaders by hand, --manual-recovery-output-file)"
        )
    return document


def _digest_of_read(document: Json, source: str) -> str:
    try:
        return plan_digest(document)
    except RecursionError:
        raise InputError(f"{source}: nested too deeply to be a plan") from None


@dataclass(frozen=True, slots=True)
class PlanFile:
    """`partitions` are as they were planned, sorted."""

    digest: str
    cluster_id: str
    created_at: str
    partitions: Mapping[TopicPartition, PartitionPlan]


def read_plan(text: str, source: str) -> PlanFile:
    """Read a plan that --plan-output-file wrote. Raises InputError, which names `source`."""
    place = Place(source)
    document = decode_newer(parse_plan(text, source), PlanJson, place)
    plans: dict[TopicPartition, PartitionPlan] = {}
    for index, row in enumerate(document.partitions):
        where = place.at("partitions").item(index)
        check_topic(row.topic, where)
        plan = partition_plan(row, where)
        if plan.state.topic_partition in plans:
            raise where.error(f"{plan.state.topic_partition} was already there; make a new plan")
        plans[plan.state.topic_partition] = plan
    return PlanFile(
        document.digest, document.cluster_id, document.created_at, dict(sorted(plans.items()))
    )


def partition_plan(row: PartitionJson, place: Place) -> PartitionPlan:
    """Return an entry of the rich plan, which a journal has too, as it was planned. Raises
    InputError."""
    each_once(row.order, place.at("order"))
    logs = {log.broker: to_model(log, ReplicaLog) for log in row.replica_logs}
    if len(logs) < len(row.replica_logs):
        raise place.at("replica_logs").error("names a broker twice; make a new plan")
    where = place.at("ranking")
    return PartitionPlan(
        _state(row, place.at("preconditions")),
        tuple(logs.values()),
        tuple(_candidate(each, logs, where.item(n)) for n, each in enumerate(row.ranking)),
        row.designated_leader,
        row.order,
        tuple(to_model(finding, Finding) for finding in row.findings),
        row.refusal,
    )


def _state(row: PartitionJson, place: Place) -> PartitionState:
    rests_on = row.preconditions
    members = {key: getattr(rests_on, key) for key in _MEMBERS}
    members["unregistered_replicas"] = rests_on.unregistered_replicas or ()
    for key, brokers in members.items():
        each_once(brokers, place.at(key))
    known = (row.topic, rests_on.topic_id, row.partition, NO_LEADER, rests_on.leader_epoch)
    return PartitionState(*known, **members)


def _candidate(row: RankedJson, logs: Mapping[int, ReplicaLog], place: Place) -> Candidate:
    if row.broker not in logs:
        raise place.at("broker").error(f"broker {row.broker} has no replica_log")
    divergences = tuple(to_model(each, Divergence) for each in row.divergences)
    return Candidate(logs[row.broker], to_model(row.loss, Loss), divergences)


def check_topic(name: str, place: Place) -> None:
    """Raise InputError for what is no legal name. place: of what has the name."""
    if not _TOPIC.fullmatch(name) or name in (".", ".."):
        raise place.at("topic").error(
            'is not a legal topic name; it has 1 to 249 of a-z A-Z 0-9 . _ - and is not "." or ".."'
        )
