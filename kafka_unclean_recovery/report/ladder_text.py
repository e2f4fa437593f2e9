"""Ladders are drawn for a terminal, one bar of letters for each replica.

Nothing is shown by colour alone: a letter stands for a leader epoch, and a small letter for lost
records. This module does no I/O.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from string import ascii_uppercase
from textwrap import fill

from kafka_unclean_recovery.model import PartitionPlan, PartitionReport, Report
from kafka_unclean_recovery.planning.losses import loss_under
from kafka_unclean_recovery.report.document import summarize
from kafka_unclean_recovery.report.ladder import Ladder, Rung, ladder_of, rung_texts
from kafka_unclean_recovery.report.overview import badness
from kafka_unclean_recovery.report.table import (
    finding_lines,
    parts_around,
    problem_lines,
    total_line,
    why_no_logs,
)
from kafka_unclean_recovery.report.window import Window, first_of, wrapped, wrapped_lines
from kafka_unclean_recovery.shown import shown
from kafka_unclean_recovery.wording import (
    ids_text,
    loss_texts,
    why_not,
)

_INDENT = "  "
_NAME_WIDTH = 14
_LEAST_BAR = 20
_NOTHING, _UNKNOWN, _OLDER, _LOST_OLDER, _HIGH_WATERMARK = ".", "?", "#", "~", "|"
# (background, foreground) of xterm's 256 colours, close to the colours of the page.
_COLOURS = ((25, 15), (214, 0), (36, 0), (175, 0), (74, 0), (166, 0), (142, 0), (141, 0))

CODES = re.compile(r"\x1b\[(?:48;5;[0-9]+;38;5;[0-9]+(?:;9)?|0)m")
"""The codes of the coloured bars; what comes from outside has none any more."""

_LEFT_OUT = "... and {} more partitions: --topics chooses, and a file or a pager gets all"
_MOST_PROBLEMS = 3
_EXPLAINED = (
    "A bar is a replica; A is the newest leader epoch in the picture, B the one before. Small"
    " letters are lost under the designated leader (*); | is the high watermark that the replica"
    " knew, . holds nothing, ? is not known."
)


def render_ladders(report: Report, width: int, colour: bool) -> str:
    """Return the output of --format ladder. width: the terminal's width in characters."""
    return "".join(ladder_parts(report, width, colour))


def ladder_parts(report: Report, width: int, colour: bool) -> Iterator[str]:
    """Yield what render_ladders returns part by part."""
    return parts_around(_ladders(report, width, colour), report)


def _ladders(report: Report, width: int, colour: bool) -> Iterator[str]:
    bar = max(width - len(_INDENT) - _NAME_WIDTH, _LEAST_BAR)
    if report.partitions:
        yield fill(_EXPLAINED, max(width, _LEAST_BAR))
    for row in report.partitions:
        yield "\n" + "\n".join(_partition(row, bar, colour))


def ladder_lines(report: Report, window: Window, colour: bool) -> list[str]:
    """Return what fits into the window: all of it, else the ladders of the worst partitions, one at
    least, how many are left out, and the totals."""
    columns = window.columns
    whole = ladder_parts(report, columns, colour=False)
    if window.fitting(part.removesuffix("\n") for part in whole) is not None:
        return "".join(ladder_parts(report, columns, colour)).splitlines()
    bar = max(columns - len(_INDENT) - _NAME_WIDTH, _LEAST_BAR)
    lines = fill(_EXPLAINED, max(columns, _LEAST_BAR)).splitlines()
    problems = wrapped_lines(problem_lines(report), columns)
    ends = [
        *first_of(problems, _MOST_PROBLEMS, "lines of problems"),
        *wrapped_lines([total_line(report, summarize(report))], columns),
    ]
    room = window.lines - len(lines) - len(ends) - len(wrapped(_LEFT_OUT, columns)) - 2
    found = wrapped_lines(finding_lines(report), columns)
    least, _ = _worst(report, 0, bar, colour)
    for_findings = min(room // 3, room - len(least))
    found = [*first_of(found, for_findings, "lines of findings")] if for_findings > 0 else []
    ladders, left = _worst(report, room - len(found), bar, colour)
    more = wrapped(_LEFT_OUT.format(left), columns) if left else []
    return [*lines, *ladders, *more, "", *found, *ends]


def _worst(report: Report, room: int, bar: int, colour: bool) -> tuple[list[str], int]:
    """Return the ladders of the worst partitions, as many as there is room for and one at least,
    and how many are left."""
    lines: list[str] = []
    for number, row in enumerate(sorted(report.partitions, key=badness)):
        ladder = ["", *_partition(row, bar, colour)]
        if lines and len(lines) + len(ladder) > room:
            return lines, len(report.partitions) - number
        lines += ladder
    return lines, 0


def _partition(row: PartitionReport, bar: int, colour: bool) -> Iterator[str]:
    plan, name = row.plan, shown(str(row.topic_partition))
    if plan is None or not plan.replica_logs:
        yield f"{name}: {why_no_logs(row)}"
        return
    state, ladder = plan.state, ladder_of(plan)
    known = (
        f"leader epoch {state.leader_epoch}, ISR {ids_text(state.isr)}, ELR {ids_text(state.elr)}"
    )
    yield f"{name}: {known}; offsets {ladder.low} to {ladder.high} (exclusive)"
    letters = _letters(ladder)
    named = [f"{letter} epoch {epoch}" for epoch, letter in letters.items() if letter != _OLDER]
    older = len(letters) - len(named)
    yield _INDENT + ", ".join(
        [*named, *([f"{_OLDER} {older} older epochs ({_LOST_OLDER} lost)"] if older else [])]
    )
    for rung in ladder.rungs:
        yield from _rung(ladder, rung, plan, bar, colour)
    yield _INDENT + _loss(plan)


def _loss(plan: PartitionPlan) -> str:
    leader = plan.designated_leader
    if leader is None:
        return f"no designated leader: {why_not(plan)}"
    certain, possible = loss_texts(loss_under(plan, leader), plan.state)
    return f"designated leader {leader}: certain loss {certain}, possible loss {possible}"


def _letters(ladder: Ladder) -> dict[int, str]:
    return {
        epoch: ascii_uppercase[place] if place < len(ascii_uppercase) else _OLDER
        for place, epoch in enumerate(ladder.epochs)
    }


def _rung(ladder: Ladder, rung: Rung, plan: PartitionPlan, bar: int, colour: bool) -> Iterator[str]:
    mark = "*" if rung.log.broker == plan.designated_leader else "" if rung.log.live else "down"
    name = f"broker {rung.log.broker} {mark}".ljust(_NAME_WIDTH)
    cells = draw(ladder, rung, bar)
    yield _INDENT + name + (_coloured(cells) if colour else cells).rstrip()
    yield _INDENT + " " * _NAME_WIDTH + "; ".join(rung_texts(rung))


def draw(ladder: Ladder, rung: Rung, bar: int) -> str:
    """Return a bar of `bar` characters, in which any loss, however small, is visible."""
    letters, cells = _letters(ladder), [_NOTHING] * bar
    for epoch, start, end in rung.spans:
        letter = _UNKNOWN if epoch is None else letters[epoch]
        _paint(cells, _cells(ladder, start, end, bar), letter)
    lost: set[int] = set()
    if rung.lost and rung.kept is not None:
        for epoch, start, end in rung.spans:
            if epoch is not None and end > rung.kept:
                places = _cells(ladder, max(start, rung.kept), end, bar)
                _paint(cells, places, _lost(letters[epoch]))
                lost.update(places)
    high_watermark = rung.log.high_watermark
    if high_watermark is not None and ladder.low <= high_watermark <= ladder.high:
        place = _cells(ladder, high_watermark, high_watermark, bar)[0]
        if lost != {place}:
            cells[place] = _HIGH_WATERMARK
    return "".join(cells)


def _lost(letter: str) -> str:
    return _LOST_OLDER if letter == _OLDER else letter.lower()


def _cells(ladder: Ladder, start: int, end: int, bar: int) -> range:
    """Return the cells that show any offset of [start, end), at least one cell."""
    width = ladder.high - ladder.low
    first = min((start - ladder.low) * bar // width, bar - 1)
    last = -(-(end - ladder.low) * bar // width)
    return range(first, max(min(last, bar), first + 1))


def _paint(cells: list[str], places: range, letter: str) -> None:
    for place in places:
        cells[place] = letter


def _coloured(cells: str) -> str:
    return "".join(_colour(letter, "".join(run)) for letter, run in groupby(cells))


def _colour(letter: str, run: str) -> str:
    place = ascii_uppercase.find(letter.upper())
    if place < 0:
        return run
    background, ink = _COLOURS[place % len(_COLOURS)]
    struck = ";9" if letter.islower() else ""
    return f"\x1b[48;5;{background};38;5;{ink}{struck}m{run}\x1b[0m"
