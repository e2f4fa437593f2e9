"""Executors run the pure planner on what was scanned of partitions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow

from kafka_unclean_recovery.documents.loss_by_topic import WHY_NOT
from kafka_unclean_recovery.model import PartitionInfo, PartitionReport, ReplicaInfo, WholeDisk
from kafka_unclean_recovery.planning.merged_scans import with_gone_row
from kafka_unclean_recovery.planning.offline_plan import plan_from_disks
from kafka_unclean_recovery.planning.plan import (
    ENDS_FURTHER,
    HOLDS_RECORDS,
    ONLY_SUSPECTS,
    REASSIGNING,
    WITHOUT_EPOCHS,
)
from kafka_unclean_recovery.spark.plan.merged_rows import Batches, merged_infos
from kafka_unclean_recovery.spark.tables import batch
from kafka_unclean_recovery.wording import why_not

_arrow: Any = pyarrow

DELETED = "deleted"
WHY = (*WHY_NOT, DELETED)
"""The reasons why a partition has no designated leader."""

PLANNED: Any = _arrow.schema(
    [
        ("topic", _arrow.string()),
        ("partition", _arrow.int32()),
        ("designated_leader", _arrow.int32()),
        ("why", _arrow.string()),
        ("reason", _arrow.string()),
        ("certain_loss", _arrow.int64()),
        ("possible_loss", _arrow.int64()),
    ]
)
"""A row for each partition. why: one of WHY, null with a designated leader; reason: the same as a
sentence, null for "deleted". certain_loss and possible_loss: the records lost when the first
candidate is elected, null where unknown; a partition that is refused has them too."""

*_REFUSED, _NO_CANDIDATE, _STATE_UNKNOWN = WHY_NOT
_REFUSALS = (REASSIGNING, ONLY_SUSPECTS, HOLDS_RECORDS, ENDS_FURTHER, WITHOUT_EPOCHS)
# The broker that is named differs.
_BEGINNINGS = {
    refusal.partition("{broker}")[0]: code
    for refusal, code in zip(_REFUSALS, _REFUSED, strict=True)
}


def plan_rows(settings: Mapping[str, Any], batches: Batches) -> Batches:
    """Yield rows as PLANNED of merging.sorted_rows. settings: as planned_reports and merged_rows
    have them."""
    for infos in merged_infos(settings, batches):
        yield batch(map(planned_row, planned_reports(settings, infos)), PLANNED)


def planned_reports(
    settings: Mapping[str, Any], infos: Iterable[PartitionInfo]
) -> tuple[PartitionReport, ...]:
    """Return the pure planner's answer for these partitions, in their order.

    settings: brokers, excluded, metadata_epoch, metadata_end_offset, whole.
    """
    whole = tuple(WholeDisk(*disk) for disk in settings["whole"])
    info = ReplicaInfo(
        None,
        "",
        tuple(settings["brokers"]),
        tuple(with_gone_row(info, whole) for info in infos),
        settings["metadata_epoch"],
        settings["metadata_end_offset"],
    )
    return plan_from_disks(info, frozenset(settings["excluded"]))


def planned_row(report: PartitionReport) -> dict[str, Any]:
    """Return a row as PLANNED."""
    where, plan = report.topic_partition, report.plan
    row: dict[str, Any] = {"topic": where.topic, "partition": where.partition}
    if plan is None:
        unknown = report.outcome
        return {
            **row,
            "why": DELETED if unknown is None else _STATE_UNKNOWN,
            "reason": None if unknown is None else unknown.reason,
        }
    if plan.ranking:
        loss = plan.ranking[0].loss
        row |= {"certain_loss": loss.certain, "possible_loss": loss.possible}
    if plan.designated_leader is not None:
        return {**row, "designated_leader": plan.designated_leader}
    return {**row, "why": _code(plan.refusal), "reason": why_not(plan)}


def _code(refusal: str | None) -> str:
    """Return which of WHY a refusal of the planner is; None is that of nobody to elect."""
    if refusal is None:
        return _NO_CANDIDATE
    (code,) = (code for begin, code in _BEGINNINGS.items() if refusal.startswith(begin))
    return code
