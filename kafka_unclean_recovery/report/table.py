"""A report is shown as tables and lines for a terminal.

A value that is not known is shown as "unknown", never as 0. This module does no I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import (
    Candidate,
    OutcomeKind,
    PartitionPlan,
    PartitionReport,
    PartitionState,
    ReplicaLog,
    Report,
)
from kafka_unclean_recovery.planning.broker_return import effect_text, waiting_lines
from kafka_unclean_recovery.planning.losses import loss_under
from kafka_unclean_recovery.report.document import ReportSummary, election_loss, summarize
from kafka_unclean_recovery.report.window import wrapped
from kafka_unclean_recovery.shown import shown, shown_lines, width_of
from kafka_unclean_recovery.wording import (
    INTERRUPTED,
    count_text,
    election_text,
    ids_text,
    lineage_text,
    loss_texts,
    number_text,
    one_line,
    short_names,
    total_text,
    trust_text,
    why_not,
)

Row = Sequence[str]
Column = Row
"""(first header line, second header line, alignment)."""


def columns(*headers: str) -> tuple[Column, ...]:
    """Return columns of these headers. "|" ends the first of two lines; ">" aligns to the right."""
    found = []
    for header in headers:
        above, _, below = header.removeprefix(">").rpartition("|")
        found.append((above, below, "right" if header.startswith(">") else "left"))
    return tuple(found)


_ROWS_AT_ONCE = 1000
# Columns whose cells need no title.
_WORDS = frozenset({"", "why", "reason", "the start", "trust"})
# Columns of names that users chose, which may be long.
_NAMES = frozenset({"topic", "target", "group"})
_REPLICA_COLUMNS = columns(
    *("topic", ">partition", ">leader|epoch", "ISR", "ELR", ">replica", "live"),
    *(">last written|leader epoch", ">log|start", ">high|watermark", ">log end|offset", "lineage"),
    *(">certain|loss", ">possible|loss", ""),
)
_OUTCOME_COLUMNS = columns(
    *("topic", ">partition", "outcome", ">leader", ">leader|epoch", "ISR", ">certain|loss"),
    *(">possible|loss", "reason"),
)


def render_table(report: Report) -> str:
    """Return the output of --format table: replicas, outcomes, findings, problems, totals."""
    return "".join(table_parts(report))


def table_parts(report: Report) -> Iterator[str]:
    """Yield what render_table returns part by part."""
    return parts_around(_replica_table(report), report)


def parts_around(replicas: Iterable[str], report: Report) -> Iterator[str]:
    """Yield the parts of render_table with `replicas` in place of the table of replicas."""
    ends = [_problems(report)], [_summary_text(report)]
    return paged(replicas, _outcome_table(report), map(shown, finding_lines(report)), *ends)


def render_replicas(report: Report) -> str:
    """Return the part on replicas: what each holds and would lose, and all findings."""
    return "".join(paged(_replica_table(report), map(shown, finding_lines(report))))


def render_outcomes(report: Report) -> str:
    """Return the part on partitions: outcomes, problems, totals."""
    return "".join(outcome_parts(report))


def outcome_parts(report: Report) -> Iterator[str]:
    """Yield what render_outcomes returns part by part.

    A partition that is not online has a line even when nothing was tried; render_table needs none,
    because it shows the partition's replicas.
    """
    ends = [_problems(report)], [_summary_text(report)]
    return paged(_outcome_table(report), map(shown, _untried_lines(report)), *ends)


def page(*parts: str) -> str:
    """Return the parts that are not empty, with a blank line between them."""
    return "".join(paged(*([part] for part in parts)))


def paged(*parts: Iterable[str]) -> Iterator[str]:
    """Yield what `page` returns piece by piece; the strings of a part are whole lines."""
    begun = False
    for part in parts:
        gap = "\n" if begun else ""
        for lines in filter(None, part):
            yield f"{gap}{lines}\n"
            gap, begun = "", True


def table(columns: Sequence[Column], rows: Sequence[Row], width: int | None = None) -> str:
    """Return the table as text, "" without rows.

    Long names are shortened in the table and given in full below it. width: of the terminal, None
    where nobody reads it there. Where the table is wider, each row is a sentence.
    """
    text = "\n".join(blocks(columns, lambda: rows))
    if width is None or all(width_of(line) <= width for line in text.splitlines()):
        return text
    told = (_in_words(columns, row) for row in rows)
    return "\n".join(line for sentence in told for line in wrapped(sentence, width))


def _in_words(columns: Sequence[Column], row: Row) -> str:
    """Return a row as a sentence: each cell behind its title, a partition by its name."""
    titles = [f"{above} {below}".strip() for above, below, _ in columns]
    named = titles[:2] == ["topic", "partition"]
    name = f"{row[0]}-{row[1]}" if named else row[0]
    cells = list(zip(titles, row, strict=True))[2 if named else 1 :]
    told = [f"{title} {cell}" if title not in _WORDS else cell for title, cell in cells if cell]
    return shown(f"{name}: {'; '.join(told)}")


def blocks(columns: Iterable[Column], rows: Callable[[], Iterable[Row]]) -> Iterator[str]:
    """Yield the lines of `table`, some at a time, so that a long one is never held as a whole.

    rows: is called three times, and gives the same rows each time.
    """
    from tabulate import MIN_PADDING, tabulate  # --help and --format json do not need it.

    above, below, align = zip(*columns, strict=True)
    named = [number for number, title in enumerate(below) if title in _NAMES]
    short = short_names(row[number] for row in rows() for number in named)
    cells = (_shortened(row, named, short) for row in rows())
    # tabulate keeps a column so much wider than its first header line; so all blocks look alike.
    least = [max(len(a) + MIN_PADDING, len(b)) for a, b in zip(above, below, strict=True)]
    widths = _widths(least, (_shortened(row, named, short) for row in rows()))
    headers = [
        title.rjust(width - MIN_PADDING) if side == "right" else title.ljust(width - MIN_PADDING)
        for title, width, side in zip(above, widths, align, strict=True)
    ]
    # The second header line is passed as a row, because tabulate's multi-line mode is slow.
    first: list[Row] = [below]
    while block := list(islice(cells, _ROWS_AT_ONCE)):
        text = tabulate(
            [*first, *block],
            headers=headers,
            tablefmt="plain",
            disable_numparse=True,
            colalign=align,
        )
        yield text if first else text.partition("\n")[2]
        first = []
    yield from (shown(f"{each} stands for {name}") for name, each in short.items())


def _widths(least: Iterable[int], rows: Iterable[Row]) -> list[int]:
    widths = list(least)
    for row in rows:
        widths = list(map(max, widths, map(len, row)))
    return widths


def _shortened(row: Sequence[str], named: Sequence[int], short: Mapping[str, str]) -> Sequence[str]:
    return [shown(short.get(cell, cell) if n in named else cell) for n, cell in enumerate(row)]


def _replica_table(report: Report) -> Iterator[str]:
    def rows() -> Iterator[Row]:
        return (cells for row in report.partitions for cells in replica_rows(row))

    return blocks(_REPLICA_COLUMNS, rows)


def replica_rows(row: PartitionReport) -> Iterator[Sequence[str]]:
    """Return a row for each replica; only the first row has the partition's own cells."""
    plan = row.plan
    first = _partition_cells(row)
    if plan is None or not plan.replica_logs:
        yield (*first, *[""] * 9, why_no_logs(row))
        return
    candidates = {candidate.log.broker: candidate for candidate in plan.ranking}
    waited_for = plan.waiting if row.state is None or row.state.offline else ()
    returns = {waiting.broker: effect_text(waiting) for waiting in waited_for}
    returns |= dict.fromkeys(plan.gone, "not hoped for (--gone)")
    for log in plan.replica_logs:
        mark = "*" if log.broker == plan.designated_leader else ""
        note = _note(mark, log, returns.get(log.broker))
        losses = _loss_cells(candidates.get(log.broker), plan.state)
        yield (*first, *_log_cells(log), *losses, note)
        first = ("",) * len(first)


def _partition_cells(row: PartitionReport) -> tuple[str, ...]:
    state = row.plan.state if row.plan else row.state
    name = (row.topic_partition.topic, str(row.topic_partition.partition))
    if state is None:
        return (*name, "", "", "")
    return (*name, str(state.leader_epoch), ids_text(state.isr), ids_text(state.elr))


def why_no_logs(row: PartitionReport) -> str:
    """Return why no replicas are shown: the partition has no plan, or no replica was looked at."""
    state = row.state
    if state is None:
        return f"! {_why_not_found(row)}"
    return "! no replica was looked at" if state.offline else f"online, leader {state.leader}"


def _why_not_found(row: PartitionReport) -> str:
    reason = row.outcome.reason if row.outcome else None
    return one_line(reason) if reason else "no such topic or partition"


def _log_cells(log: ReplicaLog) -> tuple[str, ...]:
    return (
        str(log.broker),
        "yes" if log.live else "no",
        number_text(log.last_written_leader_epoch),
        number_text(log.log_start_offset),
        number_text(log.high_watermark),
        number_text(log.log_end_offset),
        lineage_text(log.epochs),
    )


def _loss_cells(candidate: Candidate | None, of: PartitionState) -> tuple[str, str]:
    """Return the cells of a candidate's loss; a replica that can't be elected has none to show."""
    return ("-", "-") if candidate is None else loss_texts(candidate.loss, of)


def _note(mark: str, log: ReplicaLog, if_it_returns: str | None) -> str:
    """Return text such as "* disk, fast scan" or "! broker is down; if it returns: lossless".

    The note names a disk as the source (a broker as the source is not named), the trust in the log,
    and the effect of waiting for the broker.
    """
    disk = ""
    if log.scanned is not None and log.problem is None:
        fast = log.scanned.mode is ScanMode.FAST
        disk = "disk, fast scan" if fast else "disk"
    words = " ".join(word for word in (mark, disk, trust_text(log)) if word)
    return words if if_it_returns is None else f"{words}; if it returns: {if_it_returns}"


def _outcome_table(report: Report) -> Iterator[str]:
    def rows() -> Iterator[Row]:
        return (_outcome_cells(row) for row in report.partitions if row.outcome)

    return blocks(_OUTCOME_COLUMNS, rows)


def _outcome_cells(row: PartitionReport) -> Sequence[str]:
    assert row.outcome is not None
    state, loss = row.state, election_loss(row)
    losses = (
        ("-", "-")
        if loss is None
        else loss_texts(loss, None if row.plan is None else row.plan.state)
    )
    leader = ("", "", "")
    if state is not None:
        who = "none" if state.offline else str(state.leader)
        leader = (who, str(state.leader_epoch), ids_text(state.isr))
    name = (row.topic_partition.topic, str(row.topic_partition.partition))
    return (*name, row.outcome.kind.value, *leader, *losses, one_line(row.outcome.reason or ""))


def _untried_lines(report: Report) -> Iterator[str]:
    for row in report.partitions:
        if row.outcome is None and (row.state is None or row.state.offline):
            yield row_text(row)


def row_text(row: PartitionReport) -> str:
    """Return one line on a partition: what became of it, or would."""
    if row.outcome is not None:
        _, _, kind, leader, *_, certain, possible, why = _outcome_cells(row)
        led = f", leader {leader}" if leader else ""
        lost = "" if certain == "-" else f", certain loss {certain}, possible loss {possible}"
        return f"{row.topic_partition}: {kind}{led}{lost}{why and f': {why}'}"
    if row.state is None:
        return f"{row.topic_partition}: no such topic or partition"
    return f"{row.topic_partition}: offline; {_planned_text(row.plan)}"


def _planned_text(plan: PartitionPlan | None) -> str:
    if plan is None:
        return "no replica was looked at"
    leader = plan.designated_leader
    if leader is None:
        return f"no designated leader: {why_not(plan)}"
    return f"designated leader {leader}, {election_text(loss_under(plan, leader), plan.state)}"


def finding_lines(report: Report) -> Iterator[str]:
    """Yield a line for each finding, and for each partition without a designated leader."""
    for row in report.partitions:
        name, plan = row.topic_partition, row.plan
        if plan is None:
            continue
        if plan.designated_leader is None:
            yield f"{name} no_designated_leader: {why_not(plan)}"
        yield from (f"{name} {found.code}: {one_line(found.message)}" for found in plan.findings)


def _problems(report: Report) -> str:
    return shown_lines(problem_lines(report))


def problem_lines(report: Report) -> list[str]:
    """Return a line for each broker that did not answer, each problem and each group that could not
    be asked."""
    silent = sorted(report.silent_brokers.items())
    lines = [f"broker {broker} did not answer: {one_line(reason)}" for broker, reason in silent]
    lines += [f"problem: {one_line(problem)}" for problem in report.problems]
    return lines + [f"unknown: {one_line(sentence)}" for sentence in report.unknown]


def _summary_text(report: Report) -> str:
    summary = summarize(report)
    return shown_lines([*waiting_lines(summary.waiting), total_line(report, summary)])


def summary_lines(report: Report) -> list[str]:
    """Return the lines that end a report: problems, what waiting brings, totals."""
    summary = summarize(report)
    waiting = waiting_lines(summary.waiting)
    return [*problem_lines(report), *waiting, total_line(report, summary)]


def total_line(report: Report, summary: ReportSummary) -> str:
    """Return the counts of states and outcomes, and the losses of all partitions together."""
    outcomes = [f"{n} {kind.value}" for kind in OutcomeKind if (n := summary.outcomes[kind])]
    parts = [_states_text(report, summary)]
    parts += [", ".join(outcomes)] if outcomes else []
    parts += [total_text(summary.losses)] if summary.losses else []
    parts += [_interrupted_text(report)] if report.interrupted else []
    return "; ".join(parts)


def _interrupted_text(report: Report) -> str:
    outcomes = [row.outcome for row in report.partitions]
    if outcomes and all(o is not None and o.reason not in INTERRUPTED for o in outcomes):
        return "interrupted once all had been tried"
    return "interrupted, so not all was tried"


def _states_text(report: Report, summary: ReportSummary) -> str:
    partitions = len(report.partitions)
    if not partitions:  # Only a run on all offline partitions can find none.
        shown = "no offline partitions found"
        return f"{shown}, as far as the problems above let see" if report.problems else shown
    missing = f", {summary.missing} not found" if summary.missing else ""
    states = f"{summary.online} online, {summary.offline} offline{missing}"
    return f"{count_text(partitions, 'partition')}: {states}"
