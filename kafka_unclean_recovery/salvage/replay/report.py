"""A replay is reported as JSON (schemas/salvage-replay-1.schema.json). This module does no I/O."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_unclean_recovery.files.plan_file import Json, partitions_by_line
from kafka_unclean_recovery.salvage.replay.run import Work
from kafka_unclean_recovery.salvage.replay.table import refusals
from kafka_unclean_recovery.salvage.replay.target import alterations

FORMAT_VERSION = 1


def render_json(works: Sequence[Work], executed: bool) -> str:
    """Return one object with a line for each partition. executed: whether anything was to be
    produced."""
    head = {
        "format_version": FORMAT_VERSION,
        "kind": "salvage-replay",
        "executed": executed,
        "refusals": refusals(works),
    }
    return partitions_by_line(head, (_row(work, executed) for work in works), {})


def _row(work: Work, executed: bool) -> Json:
    partition, survey = work.saved.topic_partition, work.survey
    altered = [] if work.target is None else alterations(survey, partition.topic, work.target)
    return {
        "topic": partition.topic,
        "partition": partition.partition,
        "target_topic": work.target_topic,
        "to_produce": survey.to_produce,
        "produced": work.produced if executed else 0,
        "already_there": survey.done + work.there,
        "in_open_transactions": survey.open,
        "aborted": survey.aborted,
        "markers": survey.control,
        "second_copies": survey.copies,
        "altered": list(altered),
    }
