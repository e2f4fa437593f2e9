"""The rich plan read back, as far as an election is held against it. Pure.

A plan is data from outside: its digest is checked, and every field that is used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from kafka_unclean_recovery.documents.plan import PartitionJson, PlanJson
from kafka_unclean_recovery.documents.plan_file import parse_plan
from kafka_unclean_recovery.documents.reading.codec import decode_newer, to_model
from kafka_unclean_recovery.documents.reading.json_text import Place
from kafka_unclean_recovery.documents.reading.json_values import each_once
from kafka_unclean_recovery.model import (
    NO_LEADER,
    Candidate,
    Finding,
    Loss,
    PartitionPlan,
    PartitionState,
    ReplicaLog,
    TopicPartition,
)
from kafka_unclean_recovery.planning.losses import loss_under
from kafka_unclean_recovery.wording import number_text

_MEMBERS = ("replicas", "isr", "elr", "last_known_elr")
_TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}")


@dataclass(frozen=True, slots=True)
class PlanFile:
    """`partitions` are as they were planned, sorted; of the candidates there is the designated
    leader."""

    digest: str
    cluster_id: str
    created_at: str
    partitions: Mapping[TopicPartition, PartitionPlan]


def read_plan(text: str, source: str) -> PlanFile:
    """Of a file of --plan-output-file. Raises InputError, which names `source`."""
    place = Place(source)
    document = decode_newer(parse_plan(text, source), PlanJson, place)
    plans: dict[TopicPartition, PartitionPlan] = {}
    for index, row in enumerate(document.partitions):
        where = place.at("partitions").item(index)
        plan = _plan(row, where)
        if plan.state.topic_partition in plans:
            raise where.error(f"{plan.state.topic_partition} was already there")
        plans[plan.state.topic_partition] = plan
    return PlanFile(
        document.digest, document.cluster_id, document.created_at, dict(sorted(plans.items()))
    )


def differences(planned: PartitionPlan, now: PartitionPlan) -> list[str]:
    """What an election rests on and is not as it was planned, as "leader epoch 7, now 8"."""
    before, after = _rests_on(planned), _rests_on(now)
    names = [*before, *(name for name in after if name not in before)]
    return [
        f"{name} {before.get(name, 'none')}, now {after.get(name, 'none')}"
        for name in names
        if before.get(name) != after.get(name)
    ]


def _rests_on(plan: PartitionPlan) -> dict[str, str]:
    state, loss = plan.state, loss_under(plan, plan.designated_leader)
    values = {
        "topic id": state.topic_id,
        "leader epoch": str(state.leader_epoch),
        "replicas": str(list(state.replicas)),
        "ISR": str(list(state.isr)),
        "ELR": str(list(state.elr)),
        "last known ELR": str(list(state.last_known_elr)),
        "designated leader": str(plan.designated_leader),
        "certain loss": number_text(loss.certain),
        "possible loss": number_text(loss.possible),
        "loss that witnesses tell of": number_text(loss.at_least),
    }
    for log in plan.replica_logs:
        values[f"log of broker {log.broker}:"] = _log_text(log)
    return values


def _log_text(log: ReplicaLog) -> str:
    words = [
        "live" if log.live else "not live",
        f"last written leader epoch {number_text(log.last_written_leader_epoch)}",
        f"log end offset {number_text(log.log_end_offset)}",
    ]
    words += ["suspect"] * (log.suspect is not None) + ["unusable"] * (log.problem is not None)
    return f"({', '.join(words)})"


def _plan(row: PartitionJson, place: Place) -> PartitionPlan:
    check_topic(row.topic, place)
    rests_on, leader = row.preconditions, row.designated_leader
    members = {key: getattr(rests_on, key) for key in _MEMBERS}
    for key, brokers in members.items():
        each_once(brokers, place.at("preconditions").at(key))
    each_once(row.order, place.at("order"))
    state = PartitionState(
        row.topic, rests_on.topic_id, row.partition, NO_LEADER, rests_on.leader_epoch, **members
    )
    logs = tuple(to_model(log, ReplicaLog) for log in row.replica_logs)
    loss = to_model(row.loss, Loss)
    return PartitionPlan(
        state,
        logs,
        tuple(Candidate(log, loss) for log in logs if log.broker == leader),
        leader,
        row.order,
        tuple(to_model(finding, Finding) for finding in row.findings),
        row.refusal,
    )


def check_topic(name: str, place: Place) -> None:
    """Raises InputError for what is no legal name. place: of what has the name."""
    if not _TOPIC.fullmatch(name) or name in (".", ".."):
        raise place.at("topic").error(
            'is not a legal topic name; it has 1 to 249 of a-z A-Z 0-9 . _ - and is not "." or ".."'
        )
