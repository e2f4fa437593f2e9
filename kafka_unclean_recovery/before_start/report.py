"""What a start will do is reported as JSON (schemas/before-start-1.schema.json). Unknown is null,
never 0. This module does no I/O."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from kafka_unclean_recovery.before_start.commands import commands
from kafka_unclean_recovery.before_start.result import BeforeStart
from kafka_unclean_recovery.before_start.verdict import Effect, Verdict
from kafka_unclean_recovery.documents.before_start import BeforeStartJson, CutJson, StartJson
from kafka_unclean_recovery.documents.writing import Json, document_by_line
from kafka_unclean_recovery.log_dir.directory_names import DirectoryKind
from kafka_unclean_recovery.model import TopicPartition


def render_json(found: BeforeStart) -> str:
    """Return the artefact of --format json: one object with a line for each replica."""
    document = BeforeStartJson(
        cluster_id=found.cluster_id or None,
        broker=found.broker,
        stopped_clean=found.stopped_clean,
        destroys=found.destroys,
        untold=found.untold,
        rests_on=found.rests_on,
        unknown=found.unknown,
        commands=tuple(commands(found)),
        partitions=tuple(map(_entry, found.verdicts)),
    )
    return document_by_line(document)


def journal_rows(found: BeforeStart, partitions: Collection[TopicPartition]) -> list[Json]:
    """Return what a journal has of the start's effect on the replicas of these partitions."""
    return [
        {
            **verdict.replica.topic_partition._asdict(),
            "effect": verdict.effect.value,
            "beyond": _beyond(verdict),
        }
        for verdict in found.verdicts
        if verdict.replica.topic_partition in partitions
        and verdict.replica.kind is DirectoryKind.LIVE
    ]


def _beyond(verdict: Verdict) -> int | None:
    """Return how many records the leader lacks: none of a replica that is kept behind a leader.
    Without a leader nobody can tell."""
    if verdict.deletes:
        return verdict.records
    return 0 if verdict.effect is Effect.KEPT else None


def _entry(verdict: Verdict) -> StartJson:
    replica = verdict.replica
    return StartJson(
        topic=replica.topic_partition.topic,
        partition=replica.topic_partition.partition,
        topic_id=replica.topic_id,
        directory=replica.directory,
        effect=verdict.effect.value,
        log_end_offset=None if replica.log is None else replica.log.log_end_offset,
        offset=verdict.offset,
        records=verdict.records,
        unique=verdict.unique,
        expired=verdict.expired,
        leader=verdict.leader,
        unread=verdict.unread,
        why=verdict.why,
        **_elected(verdict),
    )


def _elected(verdict: Verdict) -> dict[str, Any]:
    if verdict.led is None:
        return {}
    cuts = verdict.led.cuts
    return {
        "elected": verdict.led.by_itself.leader,
        "others_lose": None if cuts.leader_end is None or cuts.untold else cuts.records,
        "cuts": tuple(
            CutJson(
                broker=each.broker, live=each in cuts.live, offset=each.offset, records=each.records
            )
            for each in cuts.all
        ),
    }
