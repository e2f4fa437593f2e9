"""What a start will do to many replicas, in the window of a terminal: what is destroyed first, each
effect once, with its count and the replicas that lose most. No I/O."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kafka_unclean_recovery.before_start.commands import commands
from kafka_unclean_recovery.before_start.result import BeforeStart
from kafka_unclean_recovery.before_start.start_table import CUTS, SAYS, totals
from kafka_unclean_recovery.before_start.verdict import Effect, Verdict
from kafka_unclean_recovery.report.window import (
    Window,
    first_of,
    in_one_line,
    shares,
    wrapped,
    wrapped_lines,
)
from kafka_unclean_recovery.wording import count_text, number_text, one_line

_INDENT = "  "
_LEAST_EXAMPLES = 2


@dataclass(frozen=True, slots=True)
class _Group:
    """Replicas to which the start does the same."""

    effect: Effect
    cuts: bool
    verdicts: Sequence[Verdict]

    @property
    def gravity(self) -> tuple[bool, bool, bool, int]:
        """Return what sorts the gravest group first: records go, it can't be told, the broker or
        the directory does not come up, and how many replicas."""
        destroys = self.cuts or any(verdict.destroys_own for verdict in self.verdicts)
        untold = any(verdict.untold for verdict in self.verdicts)
        down = self.effect in (Effect.REFUSED, Effect.OFFLINE)
        return (not destroys, not untold, not down, -len(self.verdicts))


def screen(found: BeforeStart, window: Window) -> list[str]:
    """Return the lines for the window; more than it has only where effects alone are more."""
    columns = window.columns
    groups = sorted(_groups(found.verdicts), key=lambda group: group.gravity)
    heads = [wrapped(_head(group), columns) for group in groups]
    tail = wrapped_lines(_tail(found), columns)
    unknown = [in_one_line(f"unknown: {one_line(each)}", columns) for each in found.unknown]
    room = window.lines - sum(map(len, heads)) - len(tail) - 1
    wanted = [*(len(group.verdicts) for group in groups), len(unknown)]
    given = shares(wanted, max(room, 0))
    lines = []
    for group, head, most in zip(groups, heads, given[:-1], strict=True):
        lines += [*head, *_examples(group, most, columns)]
    lines += first_of(unknown, max(given[-1], 1), "things that are unknown") if unknown else ()
    return [*lines, "", *tail]


def _groups(verdicts: Sequence[Verdict]) -> Iterator[_Group]:
    kinds = dict.fromkeys((each.effect, each.destroys_others) for each in verdicts)
    for effect, cuts in kinds:
        same = [v for v in verdicts if (v.effect, v.destroys_others) == (effect, cuts)]
        same.sort(key=lambda verdict: -(verdict.records or 0))
        yield _Group(effect, cuts, same)


def _head(group: _Group) -> str:
    what = SAYS[group.effect] + (CUTS if group.cuts else "")
    count = count_text(len(group.verdicts), "replica")
    if not any(verdict.deletes for verdict in group.verdicts):
        return f"{count}: the start {what}"
    records = sum(verdict.records or 0 for verdict in group.verdicts)
    unknown = sum(verdict.records is None for verdict in group.verdicts)
    more = f", of {unknown} an unknown number" if unknown else ""
    return f"{count}: the start {what}: {count_text(records, 'record')} deleted{more}"


def _examples(group: _Group, most: int, columns: int) -> Iterator[str]:
    if most < _LEAST_EXAMPLES and len(group.verdicts) > most:
        return
    rows = [in_one_line(_INDENT + _example(each), columns) for each in group.verdicts]
    yield from (f"{_INDENT}{row.lstrip()}" for row in first_of(rows, most, "replicas"))


def _example(verdict: Verdict) -> str:
    where = str(verdict.replica.topic_partition)
    if not verdict.deletes:
        return f"{where}: {one_line(verdict.why)}"
    unknown = "an unknown number of records"
    records = unknown if verdict.records is None else count_text(verdict.records, "record")
    offset = number_text(verdict.offset)
    return f"{where}: {records} from offset {offset} on: {one_line(verdict.why)}"


def _tail(found: BeforeStart) -> Iterator[str]:
    yield from totals(found)
    if commands(found):
        yield "each replica, and the commands that keep what goes: --format wide"
    else:
        yield "each replica: --format wide"
