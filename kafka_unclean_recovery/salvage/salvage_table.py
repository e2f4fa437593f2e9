"""A salvage is shown as a table and lines for a terminal. This module does no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_unclean_recovery.report.table import columns, page, table
from kafka_unclean_recovery.salvage.manifest import Manifest
from kafka_unclean_recovery.salvage.replica import Salvaged
from kafka_unclean_recovery.salvage.transactions import Ending
from kafka_unclean_recovery.shown import shown_lines
from kafka_unclean_recovery.wording import count_text, lineage_text, number_text, one_line

_COLUMNS = columns(
    *("topic", ">partition", ">replica", ">designated|leader", "beyond the|leader's log", ">bytes"),
    *(">records", "transactions: committed,|aborted, open"),
)


def render_salvage(manifest: Manifest, width: int | None = None) -> str:
    """Return the table of replicas, a line for each doubt and problem, and the totals. width: of a
    terminal, where the table may be cut: what is not known comes first, and then who held most."""
    rows = manifest.replicas if width is None else sorted(manifest.replicas, key=_gravity)
    return page(
        table(_COLUMNS, [_cells(row) for row in rows], width),
        shown_lines(_doubts(manifest)),
        _summary(manifest.replicas),
    )


def _gravity(row: Salvaged) -> tuple[object, ...]:
    return row.lost is not None, -_size(row)


def _cells(row: Salvaged) -> Sequence[str]:
    replica, leader = row.replica, row.designated.log
    return (
        replica.topic_partition.topic,
        str(replica.topic_partition.partition),
        str(replica.broker),
        "none" if leader is None else str(leader.broker),
        _lost(row),
        str(_size(row)),
        "0" if row.lost and not row.lost.spans else number_text(row.records),
        ", ".join(str(row.transactions.get(ending, 0)) for ending in Ending),
    )


def _lost(row: Salvaged) -> str:
    if row.lost is None:
        return "unknown"
    return lineage_text(row.lost.spans) if row.lost.spans else "nothing"


def _size(row: Salvaged) -> int:
    return sum(segment.size for segment in row.segments)


def _doubts(manifest: Manifest) -> Iterator[str]:
    for row in manifest.replicas:
        for problem in row.problems:
            who = f"{row.replica.topic_partition} of broker {row.replica.broker}"
            yield f"doubt: {who}: {one_line(problem)}"
    for problem in manifest.problems:
        yield f"problem: {one_line(problem)}"


def _summary(rows: Sequence[Salvaged]) -> str:
    with_some = sum(bool(row.segments) for row in rows)
    size = sum(map(_size, rows))
    return (
        f"{count_text(with_some, 'replica')} of {len(rows)} held more: {count_text(size, 'byte')}"
    )
