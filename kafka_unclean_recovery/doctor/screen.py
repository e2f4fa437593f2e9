"""A diagnosis in the window of a terminal: what is well in one sentence, the gravest last, above
the verdict. Where the window is too low, the least grave checks say less. No I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum

from kafka_unclean_recovery.doctor.check import Check, Status
from kafka_unclean_recovery.doctor.diagnosis import Diagnosis, sentences_of, summary
from kafka_unclean_recovery.report.window import (
    Window,
    first_of,
    in_one_line,
    wrapped,
    wrapped_lines,
)
from kafka_unclean_recovery.shown import shown

_INDENT = " " * 9


class _Told(IntEnum):
    """How much is told of a check."""

    ONE_LINE = 0
    WITHOUT_WHY = 1
    WHOLE = 2


_Detail = Mapping[Status, _Told]
_ORDER = (
    (Status.NOTICE, _Told.WITHOUT_WHY),
    (Status.UNKNOWN, _Told.WITHOUT_WHY),
    (Status.NOTICE, _Told.ONE_LINE),
    (Status.UNKNOWN, _Told.ONE_LINE),
    (Status.WARNING, _Told.WITHOUT_WHY),
    (Status.FAILURE, _Told.WITHOUT_WHY),
    (Status.WARNING, _Told.ONE_LINE),
    (Status.FAILURE, _Told.ONE_LINE),
)
"""What is left out first, where not all fits."""
_LEFT_OUT = "why, and what to do: --format wide"


def screen(diagnosis: Diagnosis, window: Window) -> list[str]:
    """Return the lines for the window; where it is lower than one line for each check, the least
    grave checks are only counted."""
    columns = window.columns
    others = [check for check in reversed(diagnosis.checks) if check.status is not Status.OK]
    verdict = wrapped_lines([summary(diagnosis)], columns)
    whole = [*_well(diagnosis, columns), *_lines(others, {}, columns), "", *verdict]
    if len(whole) <= window.lines:
        return whole
    tail = ["", *wrapped(_LEFT_OUT, columns), *verdict]
    return [*_that_fit(diagnosis, others, window.less(len(tail))), *tail]


def _that_fit(diagnosis: Diagnosis, others: Sequence[Check], room: Window) -> list[str]:
    well = sum(check.status is Status.OK for check in diagnosis.checks)
    head = [f"{well} ok"] if well else []
    lines: list[str] = []
    detail: dict[Status, _Told] = {}
    for status, told in _ORDER:
        detail[status] = told
        lines = _lines(others, detail, room.columns)
        if len(head) + len(lines) <= room.lines:
            return [*head, *lines]
    gravest = first_of(lines[::-1], room.lines - len(head), "checks, less grave")
    return [*head, *reversed([*gravest])]


def _well(diagnosis: Diagnosis, columns: int) -> list[str]:
    codes = [check.code for check in diagnosis.checks if check.status is Status.OK]
    if not codes:
        return []
    sentence = f"{len(codes)} ok: {', '.join(dict.fromkeys(codes))}"
    return wrapped_lines([sentence], columns, _INDENT)


def _lines(checks: Sequence[Check], detail: _Detail, columns: int) -> list[str]:
    return [
        line
        for check in checks
        for line in _of_check(check, detail.get(check.status, _Told.WHOLE), columns)
    ]


def _of_check(check: Check, told: _Told, columns: int) -> list[str]:
    what, *others = sentences_of(check)
    if told is _Told.ONE_LINE:
        return [in_one_line(shown(what), columns)]
    told_why = others[1:] if told is _Told.WITHOUT_WHY else others
    return wrapped_lines([what, *told_why], columns, _INDENT)
