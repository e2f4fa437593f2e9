"""A replay is reported as JSON (schemas/salvage-replay-1.schema.json). This module does no I/O."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_unclean_recovery.documents.printed import ReplayedJson, SalvageReplayJson
from kafka_unclean_recovery.documents.writing import document_by_line
from kafka_unclean_recovery.salvage.replay.replay_partition import Work
from kafka_unclean_recovery.salvage.replay.replay_table import refusals
from kafka_unclean_recovery.salvage.replay.target import alterations


def render_json(works: Sequence[Work], executed: bool) -> str:
    """Return a JSON object with a line for each partition. executed: producing was asked for."""
    rows = tuple(_row(work, executed) for work in works)
    return document_by_line(
        SalvageReplayJson(executed=executed, refusals=tuple(refusals(works)), partitions=rows)
    )


def _row(work: Work, executed: bool) -> ReplayedJson:
    partition, counts = work.saved.topic_partition, work.counts
    altered = [] if work.target is None else alterations(counts, partition.topic, work.target)
    return ReplayedJson(
        topic=partition.topic,
        partition=partition.partition,
        target_topic=work.target_topic,
        to_produce=counts.to_produce,
        produced=work.produced if executed else 0,
        already_there=counts.done + work.there,
        in_open_transactions=counts.open,
        aborted=counts.aborted,
        markers=counts.control,
        second_copies=counts.copies,
        altered=tuple(altered),
    )
