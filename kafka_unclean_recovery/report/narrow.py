"""A report in lines that are no wider than a window: a block for each partition; no I/O."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_unclean_recovery.model import PartitionReport, Report
from kafka_unclean_recovery.report.table import (
    columns,
    finding_lines,
    replica_rows,
    row_text,
    summary_lines,
    table,
    why_no_logs,
)
from kafka_unclean_recovery.report.window import wrapped
from kafka_unclean_recovery.shown import shown, width_of

_INDENT = "  "
_COLUMNS = columns(
    *(">replica", "live", ">written|epoch", ">log|start", ">high|watermark", ">log|end"),
    *(">certain|loss", ">possible|loss"),
)
_LOG_CELLS = 6


def narrow_lines(report: Report, width: int, *, with_replicas: bool) -> Iterator[str]:
    """Yield what the tables of the report have, in lines of at most `width`. Only a word that is
    longer than that makes a longer line."""
    told = [row for row in report.partitions if row.outcome is not None or not with_replicas]
    if with_replicas:
        for row in report.partitions:
            yield from _block(row, width)
            yield ""
    for row in told:
        if row.outcome is not None or row.state is None or row.state.offline:
            yield from wrapped(shown(row_text(row)), width)
    lines = [*(finding_lines(report) if with_replicas else ()), *summary_lines(report)]
    for line in lines:
        yield from wrapped(shown(line), width)


def _block(row: PartitionReport, width: int) -> Iterator[str]:
    rows = [list(map(shown, cells)) for cells in replica_rows(row)]
    _, _, epoch, isr, elr = rows[0][:5]
    state = f": leader epoch {epoch}, ISR {isr}, ELR {elr}" if epoch else ""
    yield from wrapped(f"{row.topic_partition}{state}", width)
    if row.plan is None or not row.plan.replica_logs:
        yield from wrapped(_INDENT + shown(why_no_logs(row)), width, _INDENT * 2)
        return
    logs = [cells[5:] for cells in rows]
    yield from _logs(logs, width)
    for cells in logs:
        replica, lineage, note = cells[0], cells[_LOG_CELLS], cells[-1]
        said = "; ".join(filter(None, (note.strip("* "), f"lineage {lineage}")))
        yield from wrapped(f"{_INDENT}{replica}: {said}", width, _INDENT * 3)


def _logs(logs: list[list[str]], width: int) -> Iterator[str]:
    """Yield a table, or where it is too wide a sentence for each replica."""
    rows = [_marked(cells) for cells in logs]
    lines = [f"{_INDENT}{line}" for line in table(_COLUMNS, rows).split("\n")]
    if all(width_of(line) <= width for line in lines):
        yield from lines
        return
    names = [" ".join(filter(None, column[:2])) for column in _COLUMNS]
    for row in rows:
        told = ", ".join(f"{name} {cell}" for name, cell in zip(names, row, strict=True))
        yield from wrapped(f"{_INDENT}{told}", width, _INDENT * 3)


def _marked(cells: list[str]) -> list[str]:
    """Return the cells of the table; the designated leader has a star."""
    star = "* " if cells[-1].startswith("*") else ""
    losses = [cell.removesuffix(" records").removesuffix(" record") for cell in cells[-3:-1]]
    return [f"{star}{cells[0]}", *cells[1:_LOG_CELLS], *losses]
