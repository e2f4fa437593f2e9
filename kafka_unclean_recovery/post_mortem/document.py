"""A post-mortem is rendered as JSON (schemas/post-mortem-1.schema.json); unknown is null, never
0."""

from __future__ import annotations

from kafka_unclean_recovery.documents.plan import PartitionJson, plan_row
from kafka_unclean_recovery.documents.post_mortem import (
    AllLossesJson,
    CareJson,
    ElectionJson,
    FoundJson,
    GroupJson,
    LearntJson,
    LossesJson,
    MomentJson,
    OrderJson,
    PostMortemJson,
    ProducedJson,
    QuorumSeedJson,
    SalvageJson,
    SavedJson,
    StepJson,
    TopicLossesJson,
)
from kafka_unclean_recovery.documents.reading.codec import to_model
from kafka_unclean_recovery.documents.report import WaitingJson
from kafka_unclean_recovery.documents.shared import LossJson, TopicPartitionJson
from kafka_unclean_recovery.documents.values import ABSENT
from kafka_unclean_recovery.documents.writing import document_by_line
from kafka_unclean_recovery.post_mortem.learnt import Learnt
from kafka_unclean_recovery.post_mortem.next_steps import next_steps
from kafka_unclean_recovery.post_mortem.story import (
    AffectedGroup,
    Care,
    Election,
    PostMortem,
    SavedTail,
    losses_by_topic,
)
from kafka_unclean_recovery.report.loss_by_topic import counts_of, total


def render_json(told: PostMortem) -> str:
    """Return one object with a line for each election."""
    return document_by_line(
        PostMortemJson(
            cluster_id=told.cluster_id,
            journal=told.journal,
            ended=told.ended,
            problems=told.problems,
            groups_asked=told.groups_asked,
            unknown=told.unknown,
            unfinished=tuple(TopicPartitionJson(*tp) for tp in told.unfinished),
            gone=tuple(sorted(told.gone)) or ABSENT,
            timeline=to_model(told.moments, tuple[MomentJson, ...]),
            consents=tuple({"at_ms": at_ms, **fields} for at_ms, fields in told.consents),
            losses=_losses(told),
            salvages=tuple(
                SalvageJson(directory, tuple(map(_saved, rows))) for directory, rows in told.saved
            ),
            aftercare=None if told.care is None else _care(told.care),
            learnt=_learnt(told.learnt) if told.learnt.anything else ABSENT,
            next_steps=to_model(next_steps(told), tuple[StepJson, ...]),
            seeds=to_model(told.seeds, tuple[QuorumSeedJson, ...]) or ABSENT,
            partitions=tuple(map(_election, told.elections)),
        )
    )


def _learnt(learnt: Learnt) -> LearntJson:
    found = tuple(
        FoundJson(
            *row.topic_partition,
            row.broker,
            row.beyond,
            row.at_least,
            row.saved,
            row.directory,
            row.later,
        )
        for row in learnt.found
    )
    produced = to_model(learnt.produced, tuple[ProducedJson, ...])
    return LearntJson(found, produced, learnt.commits)


def _losses(told: PostMortem) -> AllLossesJson:
    losses = losses_by_topic(told.elections)
    topics = tuple(TopicLossesJson(loss.topic, *counts_of(loss)) for loss in losses)
    return AllLossesJson(LossesJson(*counts_of(total(losses))), topics)


def _election(election: Election) -> ElectionJson:
    where, plan = election.topic_partition, election.plan
    after, outcome, loss, order = election.after, election.outcome, election.loss, election.order
    return ElectionJson(
        topic=where.topic,
        partition=where.partition,
        decided_at_ms=election.decided_at_ms,
        begun_at_ms=election.begun_at_ms,
        designated_leader=election.designated_leader,
        outcome=None if outcome is None else outcome.kind,
        reason=None if outcome is None else outcome.reason,
        elected_leader=election.elected_leader,
        loss=None if loss is None else to_model(loss, LossJson),
        leader=None if after is None else after.leader,
        leader_epoch=None if after is None else after.leader_epoch,
        isr=None if after is None else after.isr,
        order=None if order is None else to_model(order, OrderJson),
        waiting=to_model(plan.waiting, tuple[WaitingJson, ...]) if plan else (),
        groups_beyond=tuple(map(_group, election.groups)),
        plan=to_model(plan_row(plan), PartitionJson) if plan else None,
    )


def _saved(saved: SavedTail) -> SavedJson:
    where = saved.topic_partition
    return SavedJson(
        where.topic,
        where.partition,
        saved.broker,
        saved.start_offset,
        saved.end_offset,
        saved.saved,
        saved.reason,
    )


def _group(group: AffectedGroup) -> GroupJson:
    where = group.topic_partition
    return GroupJson(
        where.topic,
        where.partition,
        group.group,
        group.committed_offset,
        group.resume_offset,
        group.refilled,
    )


def _care(care: Care) -> CareJson:
    return CareJson(
        care.at_ms,
        care.over,
        care.unknown,
        tuple(map(_group, care.groups)),
        care.hanging,
        care.endable,
        care.out_of_sync,
    )
