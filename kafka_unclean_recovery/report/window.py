"""What fits into the window of a terminal; no I/O.

A line is never wider than the window, so that the terminal wraps none in the middle of a word or a
number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from os import terminal_size

from kafka_unclean_recovery.shown import fitting, shown, width_of

_LEFT_OUT = "..."
_LEAST_LINES = 12


@dataclass(frozen=True, slots=True)
class Window:
    """The size of a terminal's window, in characters and lines."""

    columns: int
    lines: int

    @classmethod
    def above(cls, taken: int, size: terminal_size) -> Window:
        """Return what is left of the terminal above so many lines; 12 at least, since fewer hold
        nothing worth reading: a lower window scrolls."""
        return cls(size.columns, max(size.lines - taken, _LEAST_LINES))

    def less(self, lines: int) -> Window:
        """Return what is left of the window above so many lines."""
        return Window(self.columns, max(1, self.lines - lines))

    def fitting(self, lines: Iterable[str]) -> list[str] | None:
        """Return the lines if all of them fit, None if not; no more are asked for than that takes.

        Where a line has an end, it counts as several.
        """
        found: list[str] = []
        for text in lines:
            found += text.split("\n")
            if len(found) > self.lines or any(width_of(line) > self.columns for line in found):
                return None
        return found

    def taken(self, line: str) -> int:
        """Return how many lines the terminal makes of one that may be too wide."""
        return max(1, -(-width_of(line) // self.columns))


def folded(text: str, window: Window, hint: str) -> str:
    """Return the text if it fits into the window; else of each paragraph the beginning, how many
    lines are left out, and the hint at the end."""
    paragraphs = [part.split("\n") for part in text.rstrip("\n").split("\n\n")]
    costs = [sum(map(window.taken, part)) for part in paragraphs]
    if sum(costs) + len(costs) - 1 <= window.lines:
        return text
    room = window.lines - (len(costs) - 1) - window.taken(hint)
    given = shares(costs, max(room, len(costs)))
    kept = [_beginning(part, most, window) for part, most in zip(paragraphs, given, strict=True)]
    return "\n\n".join(map("\n".join, filter(None, kept))) + f"\n{hint}\n"


def _beginning(lines: Sequence[str], most: int, window: Window) -> list[str]:
    """Return all lines if they take at most so many, else the first and how many follow."""
    kept: list[str] = []
    left = most - (sum(map(window.taken, lines)) > most)
    for line in lines:
        left -= window.taken(line)
        if left < 0:
            break
        kept.append(line)
    others = len(lines) - len(kept)
    return [*kept, f"... and {others} more lines"] if others and most else kept


def wrapped(sentence: str, columns: int, indent: str = "  ") -> list[str]:
    """Return the sentence as lines. Only a word that is longer than a line is broken."""
    lines: list[str] = []
    # One character of two columns fits behind each indent, or the end would never come nearer.
    most = max(0, min(columns // 2, columns - 2))
    indent = indent[:most]
    blanks = len(sentence) - len(sentence.lstrip(" "))
    first, *others = sentence[blanks:].split(" ")
    line = " " * min(blanks, most) + first
    for word in [*others, None]:
        while width_of(line) > columns:
            begins, line = _broken(line, columns, indent)
            lines.append(begins)
        if word is not None and width_of(f"{line} {word}") <= columns:
            line = f"{line} {word}"
        else:
            lines.append(line)
            line = f"{indent}{word}"
    return lines


def wrapped_lines(sentences: Iterable[str], columns: int, indent: str = "  ") -> list[str]:
    """Return the lines of sentences that may quote what comes from outside."""
    return [line for each in sentences for line in wrapped(shown(each), columns, indent)]


def _broken(line: str, columns: int, indent: str) -> tuple[str, str]:
    """Return the beginning of a line that fits, at least one character of it, and the rest."""
    most = len(line)
    while most > len(indent) + 1 and width_of(line[:most]) > columns:
        most -= 1
    return line[:most], f"{indent}{line[most:]}"


def in_one_line(text: str, columns: int) -> str:
    """Return the text, or as much of its beginning as fits and "..."."""
    if width_of(text) <= max(0, columns):
        return text
    # The cursor stands where the dots begin.
    return f"{fitting(text, columns - len(_LEFT_OUT) + 1)}{_LEFT_OUT}"


def shares(wanted: Sequence[int], room: int) -> list[int]:
    """Return how many lines each of those gets who want so many: nobody more than wanted, all
    together no more than there is room, and who gets less than wanted no less than another."""
    given = [0] * len(wanted)
    while room > 0 and (short := [n for n, want in enumerate(wanted) if given[n] < want]):
        each = max(1, room // len(short))
        for number in islice(short, room):
            more = min(each, wanted[number] - given[number], room)
            given[number] += more
            room -= more
    return given


def first_of(rows: Sequence[str], most: int, more: str, of: int = 0) -> Iterator[str]:
    """Yield at most so many lines of `rows`, and one at least: the last one says how many `more`
    there are. of: how many there are in all, where `rows` are only the first `most` of them."""
    count = max(of, len(rows))
    if count <= most:
        yield from rows
        return
    kept = max(0, most - 1)
    yield from rows[:kept]
    left = count - kept
    yield f"... and {left} more {more}" if kept else f"{left} {more}"
