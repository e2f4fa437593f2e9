"""The order of starting is reported as JSON (schemas/start-order-1.schema.json); no I/O."""

from __future__ import annotations

from kafka_unclean_recovery.documents.shared import TopicPartitionJson
from kafka_unclean_recovery.documents.start_order import (
    GoneJson,
    HarmJson,
    PartitionEndJson,
    StartJson,
    StartOrderJson,
)
from kafka_unclean_recovery.documents.values import ABSENT
from kafka_unclean_recovery.documents.writing import document_by_line
from kafka_unclean_recovery.start_order.result import Harm, PartitionEnd, StartOrder


def render_json(found: StartOrder) -> str:
    """Return the artefact of --format json: one object with a line for each partition."""
    document = StartOrderJson(
        cluster_id=found.cluster_id,
        loses=found.loses,
        costs=found.costs,
        worst=found.worst,
        tried_all=found.tried_all,
        rests_on=found.rests_on,
        unknown=found.unknown,
        starts=tuple(
            StartJson(broker=each.broker, step=each.step, too_early=_harm(each.too_early))
            for each in found.starts
        ),
        gone=tuple(
            GoneJson(broker=each.broker, trap=_harm(each.trap), frees=each.frees)
            for each in found.gone
        ),
        partitions=tuple(map(_partition, found.partitions)),
        foretold=True if found.foretold else ABSENT,
    )
    return document_by_line(document)


def _partition(row: PartitionEnd) -> PartitionEndJson:
    return PartitionEndJson(
        topic=row.topic_partition.topic,
        partition=row.topic_partition.partition,
        leader=row.leader,
        elected=row.elected,
        step=row.step,
        records=row.records,
    )


def _harm(harm: Harm | None) -> HarmJson | None:
    if harm is None:
        return None
    return HarmJson(
        partitions=tuple(TopicPartitionJson(*each) for each in harm.partitions),
        records=harm.records,
        leader_end=harm.leader_end,
        best=harm.best,
        best_end=harm.best_end,
    )
