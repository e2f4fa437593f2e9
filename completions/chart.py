"""The way of an incident as a picture, drawn from docs/incident.chart.

The first line is the title. A line that ends with a question mark is a question, and the line below
it, `yes: ...`, is what to do then; each other line is a step. All of it is read downwards.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
SOURCE, PICTURE = DOCS / "incident.chart", DOCS / "incident.svg"
# In units of the picture; on a telephone of 390 pixels a letter is 13 pixels high.
_WIDTH, _MARGIN, _INDENT = 440, 10, 56
_LINE, _PADDING, _GAP = 20, 9, 18
_LETTER = 7.6
_YES = "yes: "
_FILLS = {"question": "#fff7df", "answer": "#e3f3e6", "step": "#e6eefb"}


@dataclass(frozen=True, slots=True)
class Box:
    """A question, its answer, or a step, with its place in the picture."""

    kind: str
    lines: Sequence[str]
    left: int
    top: int

    @property
    def width(self) -> int:
        return _WIDTH - _MARGIN - self.left

    @property
    def bottom(self) -> int:
        return self.top + 2 * _PADDING + _LINE * len(self.lines)


def drawn(text: str) -> str:
    """Return the picture. Raises ValueError for an answer without a question, and for a question
    without an answer."""
    title, *lines = (line.strip() for line in text.splitlines() if line.strip())
    boxes = list(_boxes(lines))
    height = boxes[-1].bottom + _MARGIN
    return "\n".join(
        [
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}"'
                f' width="{_WIDTH}" height="{height}" role="img"'
                ' font-family="sans-serif" font-size="15" fill="#1b1f24">'
            ),
            f"<title>{escape(title)}</title>",
            f"<desc>{escape(' '.join(lines))}</desc>",
            f'<rect width="{_WIDTH}" height="{height}" rx="8" fill="#ffffff"/>',
            *_arrows(boxes),
            *(part for box in boxes for part in _box(box)),
            "</svg>",
            "",
        ]
    )


def _boxes(lines: Sequence[str]) -> Iterator[Box]:
    top, asked = _MARGIN, False
    for line in lines:
        answer = line.startswith(_YES)
        if answer != asked:
            raise ValueError(f"a question has one line with {_YES!r} below it: {line}")
        asked = line.endswith("?")
        kind = "answer" if answer else "question" if asked else "step"
        left = _INDENT if answer else _MARGIN
        letters = int((_WIDTH - _MARGIN - left - 2 * _PADDING) / _LETTER)
        box = Box(kind, textwrap.wrap(line.removeprefix(_YES), letters), left, top)
        yield box
        top = box.bottom + _GAP
    if asked:
        raise ValueError(f"a question has no line with {_YES!r} below it")


def _box(box: Box) -> Iterator[str]:
    yield (
        f'<rect x="{box.left}" y="{box.top}" width="{box.width}" height="{box.bottom - box.top}"'
        f' rx="5" fill="{_FILLS[box.kind]}" stroke="#8c959f"/>'
    )
    for number, line in enumerate(box.lines, 1):
        y = box.top + _PADDING + _LINE * number - 5
        yield f'<text x="{box.left + _PADDING}" y="{y}">{escape(line)}</text>'


def _arrows(boxes: Sequence[Box]) -> Iterator[str]:
    """Yield a line down the left side, and the words at it: on from a question unless yes."""
    middle = (_MARGIN + _INDENT) // 2
    for above, below in pairwise(boxes):
        if below.kind == "answer":
            yield f'<text x="{_INDENT + 2}" y="{below.top - 4}" font-size="13">yes</text>'
        elif above.kind == "answer":
            yield f'<text x="{middle + 5}" y="{below.top - 4}" font-size="13">no</text>'
    main = [box for box in boxes if box.kind != "answer"]
    for above, below in pairwise(main):
        yield (
            f'<path d="M{middle} {above.bottom}V{below.top - 1}m-4 -7l4 7l4 -7" fill="none"'
            ' stroke="#57606a" stroke-width="1.5"/>'
        )


def chart() -> dict[Path, str]:
    return {PICTURE: drawn(SOURCE.read_text())}
