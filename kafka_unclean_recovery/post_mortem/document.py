"""A post-mortem is rendered as JSON (schemas/post-mortem-1.schema.json); unknown is null, never
0."""

from __future__ import annotations

from kafka_unclean_recovery.files.codec import to_json
from kafka_unclean_recovery.files.plan_file import Json, partitions_by_line, plan_row
from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.post_mortem.next_steps import next_steps
from kafka_unclean_recovery.post_mortem.story import (
    AffectedGroup,
    Care,
    Election,
    Order,
    PostMortem,
    Saved,
    losses_by_topic,
)
from kafka_unclean_recovery.report.loss_by_topic import TopicLoss, counts_of, total

FORMAT_VERSION = 1


def render_json(told: PostMortem) -> str:
    """Return one object with a line for each election."""
    losses = losses_by_topic(told.elections)
    head: Json = {
        "format_version": FORMAT_VERSION,
        "kind": "post-mortem",
        "cluster_id": told.cluster_id,
        "journal": told.journal,
        "ended": told.ended,
        "problems": list(told.problems),
        "groups_asked": told.groups_asked,
        "unknown": list(told.unknown),
        "unfinished": list(map(_name, told.unfinished)),
        "timeline": [
            {"at_ms": m.at_ms, "event": m.event, "text": m.text, "alarm": m.alarm}
            for m in told.moments
        ],
        "consents": [{"at_ms": at_ms, **fields} for at_ms, fields in told.consents],
        "losses": {
            "total": _loss(total(losses)),
            "topics": [{"topic": loss.topic, **_loss(loss)} for loss in losses],
        },
        "salvages": [
            {"directory": directory, "partitions": list(map(_saved, rows))}
            for directory, rows in told.saved
        ],
        "aftercare": None if told.care is None else _care(told.care),
        "next_steps": [
            {"text": step.text, "commands": list(step.commands), "alarm": step.alarm}
            for step in next_steps(told)
        ],
    }
    return partitions_by_line(head, map(_election, told.elections), {})


def _loss(loss: TopicLoss) -> Json:
    keys = ("elections", "elected", "not_elected", "certain", "possible")
    return dict(zip(keys, map(to_json, counts_of(loss)), strict=True))


def _name(topic_partition: TopicPartition) -> Json:
    return {"topic": topic_partition.topic, "partition": topic_partition.partition}


def _election(election: Election) -> Json:
    after, outcome, loss = election.after, election.outcome, election.loss
    return {
        **_name(election.topic_partition),
        "decided_at_ms": election.decided_at_ms,
        "begun_at_ms": election.begun_at_ms,
        "designated_leader": election.designated_leader,
        "outcome": None if outcome is None else outcome.kind.value,
        "reason": None if outcome is None else outcome.reason,
        "elected_leader": election.elected_leader,
        "loss": None if loss is None else to_json(loss),
        "leader": None if after is None else after.leader,
        "leader_epoch": None if after is None else after.leader_epoch,
        "isr": None if after is None or after.isr is None else list(after.isr),
        "order": None if election.order is None else _order(election.order),
        "waiting": to_json(election.plan.waiting) if election.plan else [],
        "groups_beyond": [_group(group) for group in election.groups],
        "plan": None if election.plan is None else plan_row(election.plan),
    }


def _order(order: Order) -> Json:
    return {
        "original": list(order.original),
        "written": list(order.written),
        "restored_at_ms": order.restored_at_ms,
        "left_alone": order.left_alone,
    }


def _saved(saved: Saved) -> Json:
    return {
        **_name(saved.topic_partition),
        "broker": saved.broker,
        "start_offset": saved.start_offset,
        "end_offset": saved.end_offset,
        "saved": saved.saved,
        "reason": saved.reason,
    }


def _group(group: AffectedGroup) -> Json:
    return {
        **_name(group.topic_partition),
        "group": group.group,
        "committed_offset": group.committed_offset,
        "resume_offset": group.resume_offset,
        "refilled": group.refilled,
    }


def _care(care: Care) -> Json:
    return {
        "at_ms": care.at_ms,
        "over": care.over,
        "unknown": list(care.unknown),
        "groups": list(map(_group, care.groups)),
        "hanging_transactions": care.hanging,
        "endable_transactions": care.endable,
        "out_of_sync_replicas": care.out_of_sync,
    }
