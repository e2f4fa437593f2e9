"""Executors run the pure planner on grouped partitions (tables.GROUPED), row for row.

The functions are for shipping.on_executors. Heads of scans come as settings: [name, scanned_at,
metadata_epoch, metadata_end_offset].
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow

from kafka_unclean_recovery.documents.loss_by_topic import WHY_NOT
from kafka_unclean_recovery.documents.manual_recovery import leader_line
from kafka_unclean_recovery.documents.plan import plan_line
from kafka_unclean_recovery.model import PartitionInfo, PartitionReport, ReplicaInfo, WholeDisk
from kafka_unclean_recovery.planning.merged_scans import merge_infos, with_gone_row
from kafka_unclean_recovery.planning.offline_plan import plan_from_disks
from kafka_unclean_recovery.planning.plan import (
    ENDS_FURTHER,
    HOLDS_RECORDS,
    ONLY_SUSPECTS,
    REASSIGNING,
    WITHOUT_EPOCHS,
)
from kafka_unclean_recovery.spark.tables import (
    GROUPED,
    Row,
    batch,
    partition_info,
    partition_row,
    replica_log,
    replica_row,
)
from kafka_unclean_recovery.wording import why_not

_arrow: Any = pyarrow

Batches = Iterator[Any]

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

TEXT = "text string, canonical string"
"""The schema of lines that were joined: `text` for the file, `canonical` for the digest."""

*_REFUSED, _NO_CANDIDATE, _STATE_UNKNOWN = WHY_NOT
_REFUSALS = (REASSIGNING, ONLY_SUSPECTS, HOLDS_RECORDS, ENDS_FURTHER, WITHOUT_EPOCHS)
# The broker that is named differs.
_BEGINNINGS = {
    refusal.partition("{broker}")[0]: code
    for refusal, code in zip(_REFUSALS, _REFUSED, strict=True)
}

_CHUNK = 1 << 20
"""The number of characters that the driver gets at a time."""


def merge_rows(settings: Mapping[str, Any], batches: Batches) -> Batches:
    """Merge partitions with their `states` and `logs` in each scan, and yield GROUPED rows as
    merge_infos has them."""
    for rows in batches:
        by_scan: list[list[PartitionInfo]] = [[] for _ in settings["scans"]]
        for row in rows.to_pylist():
            for state in row["states"]:
                logs = [log for log in row["logs"] if log["scan"] == state["scan"]]
                by_scan[state["scan"]].append(_info({**row, **state}, logs))
        heads = zip(settings["scans"], by_scan, strict=True)
        merged = merge_infos([(head[0], _of(head, parts)) for head, parts in heads])
        yield batch(map(_grouped, merged.partitions), GROUPED)


def _info(row: Row, logs: Iterable[Row]) -> PartitionInfo:
    return partition_info(row, sorted(map(replica_log, logs), key=lambda log: log.broker))


def _of(head: list[Any], partitions: Iterable[PartitionInfo]) -> ReplicaInfo:
    _, scanned_at, epoch, end = head
    return ReplicaInfo(None, scanned_at, (), tuple(partitions), epoch, end)


def _grouped(info: PartitionInfo) -> dict[str, Any]:
    logs = [
        replica_row(info.topic_partition, log, compacted=info.compacted, log_directory=None)
        for log in info.replica_logs
    ]
    return {**partition_row(info), "logs": logs}


def plan_lines(settings: Mapping[str, Any], batches: Batches) -> Batches:
    """Yield the lines of the rich plan for GROUPED rows, in their order, as TEXT.

    settings: brokers, excluded, metadata_epoch, metadata_end_offset, whole.
    """
    return _joined(
        plan_line(report.plan)
        for rows in batches
        for report in planned_reports(settings, rows)
        if report.plan is not None
    )


def planned_reports(settings: Mapping[str, Any], rows: Any) -> tuple[PartitionReport, ...]:
    """Return the pure planner's answer to GROUPED rows, in their order."""
    whole = tuple(WholeDisk(*disk) for disk in settings["whole"])
    info = ReplicaInfo(
        None,
        "",
        tuple(settings["brokers"]),
        tuple(with_gone_row(_info(row, row["logs"]), whole) for row in rows.to_pylist()),
        settings["metadata_epoch"],
        settings["metadata_end_offset"],
    )
    return plan_from_disks(info, frozenset(settings["excluded"]))


def plan_rows(settings: Mapping[str, Any], batches: Batches) -> Batches:
    """Yield a row as PLANNED for each GROUPED row. settings: as plan_lines has them."""
    for rows in batches:
        yield batch(map(_row, planned_reports(settings, rows)), PLANNED)


def _row(report: PartitionReport) -> dict[str, Any]:
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


def leader_lines(_: Mapping[str, Any], batches: Batches) -> Batches:
    """Yield the KIP's lines for rows of topic, partition and designated_leader, as TEXT."""
    names = ("topic", "partition", "designated_leader")
    return _joined(
        (leader_line(*row), "")
        for rows in batches
        for row in zip(*(rows[name].to_pylist() for name in names), strict=True)
    )


def _joined(lines: Iterable[tuple[str, str]]) -> Batches:
    texts: list[str] = []
    canonicals: list[str] = []
    size = 0
    for text, canonical in lines:
        texts.append(text)
        canonicals.append(canonical)
        size += len(text) + len(canonical)
        if size >= _CHUNK:
            yield _chunk(texts, canonicals)
            texts, canonicals, size = [], [], 0
    if texts:
        yield _chunk(texts, canonicals)


def _chunk(texts: list[str], canonicals: list[str]) -> Any:
    values = {"text": [",\n".join(texts)], "canonical": [",".join(canonicals)]}
    return _arrow.RecordBatch.from_pydict(values)
