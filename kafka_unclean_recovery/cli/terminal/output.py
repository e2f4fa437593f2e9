"""Every command prints its report on stdout and its failures on stderr, and chooses its exit code,
in the same way. Doubts about what disks say are counted: one sentence for each kind, with its
number and its first case."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from kafka_unclean_recovery.cli import metrics_file
from kafka_unclean_recovery.cli.flags import Format, ReplicaFormat
from kafka_unclean_recovery.cli.terminal import colour, standard_streams
from kafka_unclean_recovery.cli.terminal.console import COMMAND, Console
from kafka_unclean_recovery.errors import NOT_ALL, OK
from kafka_unclean_recovery.model import ReplicaInfo, Report
from kafka_unclean_recovery.wording import below_high_watermark, one_line

if TYPE_CHECKING:
    from kafka_unclean_recovery.report.window import Window
    from kafka_unclean_recovery.spark.doubts import Cases, Doubts

_REPORT = "kafka_unclean_recovery.report"
_NEEDED = {
    ReplicaFormat.JSON: (f"{_REPORT}.document",),
    ReplicaFormat.LADDER: (f"{_REPORT}.ladder_text", "tabulate"),
    ReplicaFormat.TABLE: (f"{_REPORT}.table", "tabulate"),
    ReplicaFormat.WIDE: (f"{_REPORT}.table", "tabulate"),
}
"""The modules that each format is made by."""
_ON_A_TERMINAL = (f"{_REPORT}.narrow", f"{_REPORT}.overview")

# The prompt of the shell comes below all.
_PROMPT_LINES = 1
_MOST_REASONS = 4
WIDE_HINT = "all of it: --format wide"


def import_report(how: ReplicaFormat) -> None:
    """Import all that `print_report` needs after an election: there may be no file descriptor left
    then, and what was done could not be told."""
    terminal = _ON_A_TERMINAL if _size() is not None else ()
    for module in (f"{_REPORT}.run_metrics", f"{_REPORT}.prometheus", *_NEEDED[how], *terminal):
        import_module(module)


def print_report(
    console: Console,
    report: Report,
    how: ReplicaFormat,
    with_replicas: bool,
    below: Sequence[str] = (),
) -> None:
    """Print the report in this format and say the sentences `below` it, for which the window has
    room too. Give the figures to --metrics-file."""
    # Each format is imported by need: nobody waits for the others.
    if metrics_file.is_wanted():
        from kafka_unclean_recovery.report.run_metrics import report_metrics

        metrics_file.found(report_metrics(report))
    size = _size() if how is ReplicaFormat.TABLE else None
    if how is ReplicaFormat.LADDER:
        console.artefact_of(_ladders(console, report, below), _codes())
    elif how is ReplicaFormat.JSON:
        console.artefact_of(_parts(report, how, with_replicas))
    elif size is None:
        console.reading(_parts(report, how, with_replicas))
    else:
        taken = sum(console.lines_of(sentence, size.columns) for sentence in below)
        lines = _in_window(report, with_replicas, size, taken + _PROMPT_LINES)
        console.reading(f"{line}\n" for line in lines)
    for sentence in below:
        console.say(sentence)


def print_text(console: Console, text: str, how: Format, below: Sequence[str] = ()) -> None:
    """Print a text and say the sentences below it; as a table no more of it on a terminal than the
    window holds, and no line that is wider but commands, which are to be copied."""
    size = _size() if how is Format.TABLE else None
    if size is not None:
        below = _that_leave_room(console, below, size)
    window = window_above(console, how, below)
    if window is not None:
        from kafka_unclean_recovery.report.window import folded, wrapped

        lines = (
            [line] if COMMAND.search(f" {line}") else wrapped(line, window.columns)
            for line in text.splitlines()
        )
        text = "".join(f"{line}\n" for part in lines for line in part)
        text = folded(text, window, WIDE_HINT)
    give(console, text, how)
    for sentence in below:
        console.say(sentence)


def _that_leave_room(
    console: Console, below: Sequence[str], size: os.terminal_size
) -> Sequence[str]:
    """Return the sentences; where they fill more than half of the window, all but the last as a
    line each: the last one tells what comes next."""
    taken = sum(console.lines_of(sentence, size.columns) for sentence in below)
    if 2 * taken <= size.lines:
        return below
    *others, last = below
    return [*(console.in_a_line(each, size.columns) for each in others), last]


def give(console: Console, text: str, how: Format) -> None:
    """Print a text whole, in colours where they are wanted and it is no JSON."""
    if how.is_json:
        console.artefact(text)
    else:
        console.reading([text])


def columns_to_fit(how: Format) -> int | None:
    """Return how wide a text may be, None where nobody reads it on a terminal or all is wanted."""
    size = _size() if how is Format.TABLE else None
    return None if size is None else size.columns


def window_above(console: Console, how: Format, below: Sequence[str]) -> Window | None:
    """Return the window of the terminal above the sentences that will be said below, None where
    nobody reads there or all is wanted."""
    size = _size() if how is Format.TABLE else None
    if size is None:
        return None
    from kafka_unclean_recovery.report.window import Window

    taken = sum(console.lines_of(sentence, size.columns) for sentence in below)
    return Window.above(taken + _PROMPT_LINES, size)


def _size() -> os.terminal_size | None:
    return standard_streams.size_of(sys.stdout)


def _in_window(
    report: Report, with_replicas: bool, size: os.terminal_size, taken: int
) -> Sequence[str]:
    """Return the report as its tables, as blocks, or as an overview: the first of these that fits
    above so many lines."""
    from kafka_unclean_recovery.report.narrow import narrow_lines
    from kafka_unclean_recovery.report.overview import overview
    from kafka_unclean_recovery.report.table import outcome_parts, table_parts
    from kafka_unclean_recovery.report.window import Window

    room = Window.above(taken, size)
    parts = table_parts(report) if with_replicas else outcome_parts(report)
    return (
        room.fitting(part.removesuffix("\n") for part in parts)
        or room.fitting(narrow_lines(report, room.columns, with_replicas=with_replicas))
        or overview(report, room)
    )


def _parts(report: Report, how: ReplicaFormat, with_replicas: bool) -> Iterator[str]:
    if how is ReplicaFormat.JSON:
        from kafka_unclean_recovery.report.document import json_parts

        return json_parts(report)
    if how is ReplicaFormat.LADDER:
        from kafka_unclean_recovery.report.ladder_text import ladder_parts

        width = shutil.get_terminal_size().columns
        return ladder_parts(report, width, colour.wanted(sys.stdout))
    from kafka_unclean_recovery.report.table import outcome_parts, table_parts

    return table_parts(report) if with_replicas else outcome_parts(report)


def _ladders(console: Console, report: Report, below: Sequence[str]) -> Iterator[str]:
    """Return the ladders; on a terminal those that fit into the window above the sentences."""
    size, coloured = _size(), colour.wanted(sys.stdout)
    if size is None:
        return _parts(report, ReplicaFormat.LADDER, with_replicas=True)
    from kafka_unclean_recovery.report.ladder_text import ladder_lines
    from kafka_unclean_recovery.report.window import Window

    taken = sum(console.lines_of(sentence, size.columns) for sentence in below)
    lines = ladder_lines(report, Window.above(taken + _PROMPT_LINES, size), coloured)
    return (f"{line}\n" for line in lines)


def _codes() -> re.Pattern[str] | None:
    if not colour.wanted(sys.stdout):
        return None
    from kafka_unclean_recovery.report.ladder_text import CODES

    return CODES


def failures(console: Console, report: Report) -> list[str]:
    """Return a sentence for each partition that failed; on a terminal one for each reason."""
    failed = [
        (row.topic_partition, f"{row.outcome.kind}: {row.outcome.reason}")
        for row in report.partitions
        if row.outcome is not None and not row.outcome.kind.success
    ]
    if not console.rewrites:
        return [f"{tp}: {why}" for tp, why in failed]
    from kafka_unclean_recovery.report.overview import folded

    return list(folded(failed, _MOST_REASONS))


def exit_code_of(report: Report) -> int:
    """Return the exit code of a run that elects: 0 only if every partition is online as it should
    be and there are no problems."""
    all_online = all(row.outcome and row.outcome.kind.success for row in report.partitions)
    return OK if all_online and not report.problems else NOT_ALL


def scan_complaints(info: ReplicaInfo) -> Iterator[str]:
    """Return a sentence for each kind of doubt; none when all was read and looks sound."""
    rows = [(part.topic_partition, log) for part in info.partitions for log in part.replica_logs]
    unread = [f"{tp} of broker {log.broker}: {log.problem}" for tp, log in rows if log.problem]
    suspect = [
        f"{tp} of broker {log.broker}: {log.suspect}"
        for tp, log in rows
        if log.suspect and not log.problem
    ]
    yield from count_and_first(*_UNUSABLE, unread)
    yield from count_and_first(*_SUSPECT, suspect)
    short = [
        f"{tp} of broker {log.broker}: {below_high_watermark(log)}"
        for tp, log in rows
        if log.ends_below_its_high_watermark and not (log.problem or log.suspect)
    ]
    yield from count_and_first(*_SHORT, short)
    yield from count_and_first("problem", "problems", info.problems)


def doubt_complaints(doubts: Doubts) -> Iterator[str]:
    """Return the same sentences on replicas that Spark has counted."""
    yield from counted_cases(*_UNUSABLE, doubts.unusable, " of broker {}")
    yield from counted_cases(*_SUSPECT, doubts.suspect, " of broker {}")
    yield from counted_cases(*_SHORT, doubts.short, " of broker {}")


# The words for one replica, and for many.
_UNUSABLE = ("replica can't be used", "replicas can't be used")
_SUSPECT = ("replica may be corrupt", "replicas may be corrupt")
_SHORT = ("replica has lost committed records", "replicas have lost committed records")


def count_and_first(one: str, many: str, found: Sequence[str]) -> Iterator[str]:
    """Return one sentence for all that was found; none when nothing was found."""
    if found:
        yield counted(one, many, len(found), found[0])


def counted_cases(one: str, many: str, cases: Cases, of_broker: str = "") -> Iterator[str]:
    """Return one sentence for all cases. of_broker: a pattern for the broker of the first."""
    if cases.count:
        yield counted(one, many, cases.count, cases.first_as_text(of_broker))


def counted(one: str, many: str, count: int, first: str) -> str:
    """Return the sentence when only the number and the first case are known."""
    if count == 1:
        return f"1 {one}: {one_line(first)}"
    return f"{count} {many}, the first: {one_line(first)}"
