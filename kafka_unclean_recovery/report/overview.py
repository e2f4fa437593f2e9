"""A report of any number of partitions within the window of a terminal; no I/O.

Topics and brokers have a line each, each finding one with its count, and of the partitions the
worst are shown. What does not fit is counted, and the totals always do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kafka_unclean_recovery.model import (
    Loss,
    OutcomeKind,
    PartitionPlan,
    PartitionReport,
    Report,
    Severity,
    TopicPartition,
)
from kafka_unclean_recovery.planning.broker_return import waiting_lines
from kafka_unclean_recovery.planning.losses import loss_after, worst_first
from kafka_unclean_recovery.report.document import summarize
from kafka_unclean_recovery.report.table import problem_lines, total_line
from kafka_unclean_recovery.report.window import (
    Window,
    first_of,
    in_one_line,
    shares,
    wrapped_lines,
)
from kafka_unclean_recovery.shown import shown, width_of
from kafka_unclean_recovery.wording import middle_left_out, number_text, why_not

HINT = "a row for each replica: --format wide"
_EXAMPLES = 3
# From so many lines on a blank line between two sections costs less than it gives.
_AIRY_LINES = 40
_LEAST_NAME, _LEAST_WORDS = 8, 20
_EXAMPLE_COLUMNS = 30
_OR_MORE = " or more"


@dataclass(frozen=True, slots=True)
class _Section:
    """Rows of which the first are shown, under a header if there is one, and what the others are
    called."""

    header: str | None
    rows: Sequence[str]
    more: str

    @property
    def wanted(self) -> int:
        return len(self.rows) + (self.header is not None)

    def fits(self, columns: int) -> bool:
        lines = self.rows if self.header is None else (self.header, *self.rows)
        return all(width_of(line) <= columns for line in lines)

    def lines(self, most: int) -> Iterator[str]:
        """Yield at most so many lines, and one at least: what is left out is counted."""
        if self.header is None:
            yield from first_of(self.rows, most, self.more)
        elif most > 2 or most == self.wanted:
            yield self.header
            yield from first_of(self.rows, most - 1, self.more)
        else:
            yield from first_of(self.rows, 0, self.more)


def overview(report: Report, window: Window) -> list[str]:
    """Return lines that fit into the window, which has at least 12."""
    summary = summarize(report)
    rows, width = report.partitions, window.columns
    waiting = wrapped_lines(waiting_lines(summary.waiting), width)
    problems = wrapped_lines(problem_lines(report), width)
    sections = [
        _topics(rows, width),
        _brokers(report, width),
        _findings(rows, width),
        _worst(rows, width),
        _Section(None, problems, "lines of problems"),
        _Section(None, waiting, "lines on brokers that may return"),
    ]
    ends = wrapped_lines([total_line(report, summary), HINT], width)
    return [*_fitting(sections, window.less(len(ends))), *ends]


def overview_of_plans(
    plans: Sequence[PartitionPlan], totals: Iterable[str], window: Window
) -> list[str]:
    """Return what overview returns, of elections that are not made yet. totals: the last lines."""
    rows = [PartitionReport(plan.state.topic_partition, plan.state, plan) for plan in plans]
    width = window.columns
    ends = wrapped_lines(totals, width)
    sections = [_topics(rows, width), _findings(rows, width), _worst(rows, width)]
    return [*_fitting(sections, window.less(len(ends))), *ends]


def _fitting(sections: Iterable[_Section], window: Window) -> list[str]:
    told = [section for section in sections if section.rows]
    blank = [""] if window.lines >= _AIRY_LINES else []
    room = max(len(told), window.lines - len(blank) * len(told))
    lines: list[str] = []
    for section, most in zip(told, shares([s.wanted for s in told], room), strict=True):
        lines += [*section.lines(most), *blank]
    return lines


def aligned(header: Sequence[str], rows: Iterable[Sequence[str]], columns: int) -> list[str]:
    """Return the header and the rows as lines. The first column is of names, which are shortened
    as far as needed, and the last of words, which may be cut; the others are never."""
    cells = [header, *([shown(cell) for cell in row] for row in rows)]
    widths = [max(map(width_of, column)) for column in zip(*cells, strict=True)]
    others = sum(width + 2 for width in widths[1:-1]) + min(widths[-1], _LEAST_WORDS) + 2
    name = max(_LEAST_NAME, min(widths[0], columns - others))

    def line(row: Sequence[str]) -> str:
        numbers = (
            f"  {cell:>{width}}" for cell, width in zip(row[1:-1], widths[1:-1], strict=True)
        )
        text = f"{middle_left_out(row[0], name):{name}}{''.join(numbers)}  "
        return f"{text}{in_one_line(row[-1], columns - width_of(text))}".rstrip()

    return list(map(line, cells))


def _section(
    header: Sequence[str], rows: Sequence[Sequence[str]], columns: int, more: str
) -> _Section:
    if not rows:
        return _Section(None, (), more)
    first, *others = aligned(header, rows, columns)
    return _Section(first, others, more)


def _topics(rows: Sequence[PartitionReport], columns: int) -> _Section:
    by_topic: dict[str, list[PartitionReport]] = {}
    for row in rows:
        by_topic.setdefault(row.topic_partition.topic, []).append(row)
    tried = any(row.outcome for row in rows)
    done = ("elected", "failed") if tried else ("to elect", "none")
    header = ("topic", "partitions", "online", *done, "certain loss", "possible loss", "")
    worst = sorted(by_topic.items(), key=lambda item: min(map(badness, item[1])))

    def section(or_more: str) -> _Section:
        cells = [(topic, *_counts(of_it), *_losses(of_it, or_more), "") for topic, of_it in worst]
        return _section(header, cells, columns, "topics")

    found = section(_OR_MORE)
    return found if found.fits(columns) else section("+")


def _counts(rows: Sequence[PartitionReport]) -> tuple[str, str, str, str]:
    online = sum(row.state is not None and not row.state.offline for row in rows)
    good = sum(_is_good(row) for row in rows)
    bad = sum(_is_bad(row) for row in rows)
    return str(len(rows)), str(online), str(good), str(bad)


def _is_good(row: PartitionReport) -> bool:
    """Tell whether the partition was elected, or would be."""
    if row.outcome is not None:
        return row.outcome.kind is OutcomeKind.ELECTED
    return row.plan is not None and row.plan.designated_leader is not None


def _is_bad(row: PartitionReport) -> bool:
    if row.outcome is not None:
        return not row.outcome.kind.success
    return row.state is None or (row.state.offline and not _is_good(row))


def _losses(rows: Sequence[PartitionReport], or_more: str) -> tuple[str, str]:
    losses = [_loss(row) for row in rows if _is_good(row)]
    if not losses:
        return "-", "-"
    certain, possible = [loss.certain for loss in losses], [loss.possible for loss in losses]
    return _sum(certain, or_more), _sum(possible, or_more)


def _loss(row: PartitionReport) -> Loss:
    return loss_after(row.plan, row.plan.designated_leader if row.plan else None, row.outcome)


def _sum(counts: Sequence[int | None], or_more: str) -> str:
    """Return a sum such as "500", "unknown", or "500 or more" where some are not known."""
    known = sum(count or 0 for count in counts)
    if None not in counts:
        return str(known)
    return f"{known}{or_more}" if known else "unknown"


def _brokers(report: Report, columns: int) -> _Section:
    logs = [log for row in report.partitions if row.plan for log in row.plan.replica_logs]
    live = {log.broker for log in logs if log.live}
    scanned = {log.broker for log in logs if log.scanned}
    gone = {broker for row in report.partitions if row.plan for broker in row.plan.gone}
    replicas: dict[int, int] = {}
    for log in logs:
        replicas[log.broker] = replicas.get(log.broker, 0) + 1
    leads: dict[int, int] = {}
    for row in report.partitions:
        if (leader := _leader(row)) is not None:
            leads[leader] = leads.get(leader, 0) + 1

    def now(broker: int) -> str:
        if broker in report.silent_brokers:
            return "does not answer"
        if broker in gone:
            return "gone"
        return "disk read" if broker in scanned else "live" if broker in live else "down"

    tried = any(row.outcome for row in report.partitions)
    header = ("broker", "replicas", "leads" if tried else "would lead", "now")
    rows = [
        (str(broker), str(count), str(leads.get(broker, 0)), now(broker))
        for broker, count in sorted(replicas.items())
    ]
    return _section(header, rows, columns, "brokers")


def _leader(row: PartitionReport) -> int | None:
    """Return who leads the partition, or would."""
    if row.state is not None and not row.state.offline:
        return row.state.leader
    return row.plan.designated_leader if row.plan and row.outcome is None else None


def _findings(rows: Sequence[PartitionReport], columns: int) -> _Section:
    found: dict[tuple[Severity, str], list[TopicPartition]] = {}
    for row in rows:
        told = row.plan.findings if row.plan else ()
        for each in dict.fromkeys((finding.severity, finding.code) for finding in told):
            found.setdefault(each, []).append(row.topic_partition)
    gravest = list(Severity)
    order = sorted(found.items(), key=lambda item: (gravest.index(item[0][0]), -len(item[1])))
    cells = [
        (code, str(len(where)), severity.value, _examples(where))
        for (severity, code), where in order
    ]
    header = ("finding", "partitions", "severity", "such as (explain FINDING says more)")
    return _section(header, cells, columns, "findings")


def _examples(where: Sequence[TopicPartition]) -> str:
    return ", ".join(middle_left_out(str(tp), _EXAMPLE_COLUMNS) for tp in where[:_EXAMPLES])


def _worst(rows: Sequence[PartitionReport], columns: int) -> _Section:
    worst = sorted(filter(_costs, rows), key=badness)
    header = ("worst first", "leader", "certain loss", "possible loss", "")
    cells = [_cells(row) for row in worst]
    return _section(header, cells, columns, "partitions that lose records, or may")


def _cells(row: PartitionReport) -> tuple[str, str, str, str, str]:
    loss, leader = _loss(row), _leader(row)
    counts = (loss.certain, loss.possible) if _is_good(row) else ()
    losses = [number_text(count) for count in counts] or ["-", "-"]
    who = "none" if leader is None else str(leader)
    return str(row.topic_partition), who, losses[0], losses[1], _why(row)


def _why(row: PartitionReport) -> str:
    """Return what became of the partition, or why nobody can be elected. Why it failed is said
    once for all that failed for the same reason."""
    if row.outcome is not None:
        return row.outcome.kind.value
    if row.state is None:
        return "no such topic or partition"
    if row.plan is None or row.plan.designated_leader is not None:
        return ""
    return why_not(row.plan)


def _costs(row: PartitionReport) -> bool:
    if _is_bad(row):
        return True
    return _is_good(row) and _loss(row) != Loss(0, 0)


def badness(row: PartitionReport) -> tuple[int, ...]:
    """Return a key that sorts the worst first: those without a leader to elect, then by certain
    and by possible loss, of which one that is not known is the largest."""
    if not _is_good(row):
        return (0, 0, 0, 0, 0) if _is_bad(row) else (2, 0, 0, 0, 0)
    return 1, *worst_first(_loss(row))


def folded(told: Iterable[tuple[TopicPartition, str]], most: int) -> Iterator[str]:
    """Yield a line for each sentence with the partitions that it is about, at most so many."""
    of: dict[str, list[TopicPartition]] = {}
    for tp, sentence in told:
        of.setdefault(sentence, []).append(tp)
    lines = []
    for sentence, where in sorted(of.items(), key=lambda item: -len(item[1])):
        such = ", such as" if len(where) > _EXAMPLES else ":"
        named = ", ".join(map(str, where[:_EXAMPLES]))
        count = f"{len(where)} partitions{such} " if len(where) > 1 else ""
        lines.append(f"{count}{named}: {sentence}")
    yield from first_of(lines, most, "reasons")
