"""A scan of log directories is shown as a table and lines for a terminal.

A value that is not known is shown as "unknown". This module does no I/O.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_unclean_recovery.model import PartitionInfo, ReplicaInfo, ReplicaLog, TopicPartition
from kafka_unclean_recovery.report.table import columns, page, table
from kafka_unclean_recovery.shown import shown_lines
from kafka_unclean_recovery.wording import (
    count_text,
    lineage_text,
    number_text,
    one_line,
    trust_text,
)

# Each column is (first header line, second header line, alignment).
_COLUMNS = columns(
    *("topic", ">partition", ">replica", "mode", ">last written|leader epoch", ">log|start"),
    *(">high|watermark", ">log end|offset", "lineage", ">bytes", "trust"),
)


def render_replica_info(info: ReplicaInfo, width: int | None = None) -> str:
    """Return the replicas, findings, problems and totals of a scan. width: of a terminal, where
    the table may be cut: what can't be used comes first, and what is suspect."""
    parts = info.partitions if width is None else sorted(info.partitions, key=_gravity)
    return page(
        table(_COLUMNS, list(_rows(parts)), width),
        shown_lines(_findings(parts)),
        shown_lines(f"problem: {one_line(problem)}" for problem in info.problems),
        _summary(info),
    )


def _gravity(part: PartitionInfo) -> tuple[object, ...]:
    """Return the key that sorts the gravest first: a replica can't be used, is suspect or damaged,
    has lost committed records, and whatever else was found."""
    logs = part.replica_logs
    return (
        not any(log.problem for log in logs),
        not any(log.suspect or (log.scanned and log.scanned.damage) for log in logs),
        not any(log.ends_below_its_high_watermark for log in logs),
        -len(part.findings),
    )


def _rows(parts: Sequence[PartitionInfo]) -> Iterator[Sequence[str]]:
    for part in parts:
        name = _name(part.topic_partition)
        for log in part.replica_logs:
            yield (*name, *_log_cells(log))
            name = ("", "")


def _name(topic_partition: TopicPartition) -> tuple[str, str]:
    return topic_partition.topic, str(topic_partition.partition)


def _log_cells(log: ReplicaLog) -> tuple[str, ...]:
    return (
        str(log.broker),
        log.scanned.mode.value if log.scanned else "none",
        number_text(log.last_written_leader_epoch),
        number_text(log.log_start_offset),
        number_text(log.high_watermark),
        number_text(log.log_end_offset),
        lineage_text(log.epochs),
        number_text(log.scanned.size if log.scanned else None),
        trust_text(log) or "ok",
    )


def _findings(parts: Sequence[PartitionInfo]) -> Iterator[str]:
    for part in parts:
        for found in part.findings:
            yield f"{part.topic_partition} {found.code}: {one_line(found.message)}"
        for log in part.replica_logs:
            yield from _damage(part, log)


def _damage(part: PartitionInfo, log: ReplicaLog) -> Iterator[str]:
    if log.scanned is not None and log.scanned.damage is not None:
        yield (
            f"{part.topic_partition} damage: the log of broker {log.broker} ends at"
            f" {number_text(log.log_end_offset)}: {one_line(log.scanned.damage)}"
        )


def _summary(info: ReplicaInfo) -> str:
    logs = [log for part in info.partitions for log in part.replica_logs]
    unknown = sum(1 for part in info.partitions if part.state is None)
    unreadable = sum(1 for log in logs if log.problem is not None)
    suspect = sum(1 for log in logs if log.problem is None and log.suspect is not None)
    parts = [
        count_text(len(info.partitions), "partition"),
        count_text(len(logs), "replica"),
        f"{suspect} suspect",
        f"{unreadable} unreadable",
        count_text(sum(log.scanned.size for log in logs if log.scanned), "byte"),
    ]
    ends = [", ".join(parts)]
    if unknown:
        ends.append(f"no metadata log has {count_text(unknown, 'partition')}")
    if info.interrupted:
        ends.append("interrupted, so not all was scanned")
    return "; ".join(ends)
