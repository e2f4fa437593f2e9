"""The rich plan read back, as far as an election is held against it. Pure.

A plan is data from outside: its digest is checked, and every field that is used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from kafka_unclean_recovery.files.json_fields import Fields
from kafka_unclean_recovery.files.json_text import Place, load_object
from kafka_unclean_recovery.files.plan_file import parse_plan
from kafka_unclean_recovery.model import (
    NO_LEADER,
    Candidate,
    Finding,
    Loss,
    PartitionPlan,
    PartitionState,
    ReplicaLog,
    Severity,
    TopicPartition,
)
from kafka_unclean_recovery.planning.losses import loss_under
from kafka_unclean_recovery.wording import number_text

_TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}")


@dataclass(frozen=True, slots=True)
class PlanFile:
    """`partitions` are as they were planned, sorted: the candidates are the designated leader, and
    of the replica logs there is what `differences` compares."""

    digest: str
    cluster_id: str
    created_at: str
    partitions: Mapping[TopicPartition, PartitionPlan]


def read_plan(text: str, source: str) -> PlanFile:
    """Of a file of --plan-output-file. Raises InputError, which names `source`."""
    parse_plan(text, source)
    document = Fields(Place(source), load_object(text, source))
    plans: dict[TopicPartition, PartitionPlan] = {}
    for fields in document.objects("partitions"):
        plan = _plan(fields)
        if plan.state.topic_partition in plans:
            raise fields.place.error(f"{plan.state.topic_partition} was already there")
        plans[plan.state.topic_partition] = plan
    return PlanFile(
        document.text("digest"),
        document.text("cluster_id"),
        document.text("created_at"),
        dict(sorted(plans.items())),
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


def _plan(fields: Fields) -> PartitionPlan:
    rests_on = fields.object_at("preconditions")
    state = PartitionState(
        read_topic(fields),
        rests_on.text("topic_id"),
        fields.int32("partition"),
        NO_LEADER,
        rests_on.int32("leader_epoch", least=-1),
        *(rests_on.broker_ids(key) for key in ("replicas", "isr", "elr", "last_known_elr")),
    )
    logs = tuple(_log(log) for log in fields.objects("replica_logs"))
    leader = fields.int32_or_unknown("designated_leader")
    return PartitionPlan(
        state,
        logs,
        tuple(Candidate(log, _loss(fields)) for log in logs if log.broker == leader),
        leader,
        fields.broker_ids("order"),
        tuple(read_finding(finding) for finding in fields.objects("findings")),
        fields.text_or_unknown("refusal"),
    )


def _loss(fields: Fields) -> Loss:
    loss = fields.object_at("loss")
    # Files that were written before it was told are without.
    told = "at_least" in loss.values
    return Loss(
        loss.int64_or_unknown("certain"),
        loss.int64_or_unknown("possible"),
        loss.int64_or_unknown("at_least") if told else None,
    )


def _log(fields: Fields) -> ReplicaLog:
    return ReplicaLog(
        fields.int32("broker"),
        live=fields.flag("live"),
        last_written_leader_epoch=fields.int32_or_unknown("last_written_leader_epoch", least=-1),
        log_end_offset=fields.int64_or_unknown("log_end_offset"),
        problem=fields.text_or_unknown("problem"),
        suspect=fields.text_or_unknown("suspect"),
    )


def read_topic(fields: Fields) -> str:
    name = fields.text("topic")
    if not _TOPIC.fullmatch(name) or name in (".", ".."):
        raise fields.place.at("topic").error(
            'is not a legal topic name; it has 1 to 249 of a-z A-Z 0-9 . _ - and is not "." or ".."'
        )
    return name


def read_finding(fields: Fields) -> Finding:
    fields.only(("code", "severity", "message"))
    severity = fields.one_of("severity", [severity.value for severity in Severity])
    return Finding(fields.text("code"), Severity(severity), fields.text("message"))
