"""A ladder is drawn as inline SVG, one bar for each replica.

Nothing is shown by colour alone: an epoch has its number on the bar when there is room, and always
in the sentence below the bar. This module does no I/O.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_unclean_recovery.report.html_page import html_text
from kafka_unclean_recovery.report.ladder import Ladder, Rung, rung_texts

# (bar, text on the bar): colours that colour-blind readers can tell apart (Okabe and Ito). They are
# used again from the start when there are more epochs than colours.
_COLOURS = (
    ("#0072b2", "#fff"),
    ("#e69f00", "#000"),
    ("#009e73", "#000"),
    ("#cc79a7", "#000"),
    ("#56b4e9", "#000"),
    ("#d55e00", "#000"),
    ("#8f8a00", "#000"),
    ("#9d92f5", "#000"),
)
_UNKNOWN_EPOCH = ("#888", "#000")
# Percent of the width: the smallest visible width, and the width of a digit on a phone.
_LEAST_WIDTH = 0.4
_DIGIT_WIDTH = 2.6

EXPLAINED = (
    '<p class="dim">A bar is a replica, its colours are leader epochs; the red line is where it'
    " parts from the designated leader, and what is hatched behind it is lost. The dashed line is"
    " the high watermark that it knew. Grey with a question mark is not known.</p>"
)


def ladder_picture(ladder: Ladder, designated_leader: int | None) -> Iterator[str]:
    """Return the HTML of a ladder, piece by piece."""
    yield f'<p class="dim">Offsets {ladder.low} to {ladder.high} (exclusive)</p>'
    yield '<p class="dim keys">'
    for epoch in ladder.epochs:
        background = _colours(ladder, epoch)[0]
        yield f'<span><span class="key" style="background:{background}"></span>epoch {epoch}</span>'
    yield "</p>"
    for rung in ladder.rungs:
        yield from _rung(ladder, rung, rung.log.broker == designated_leader)


def _colours(ladder: Ladder, epoch: int | None) -> tuple[str, str]:
    """Return the colours of an epoch: (its bar, text on the bar)."""
    if epoch is None:
        return _UNKNOWN_EPOCH
    return _COLOURS[ladder.epochs.index(epoch) % len(_COLOURS)]


def _rung(ladder: Ladder, rung: Rung, designated: bool) -> Iterator[str]:
    name = f"broker {rung.log.broker}"
    mark = " (designated)" if designated else "" if rung.log.live else " (not live)"
    told = "; ".join(rung_texts(rung))
    yield f'<div class="rung"><div><strong>{name}</strong>{mark}</div>'
    # The sentence below tells screen readers what the bar shows.
    yield '<svg aria-hidden="true">'
    for epoch, start, end in rung.spans:
        yield _rectangle(ladder, start, end, _colours(ladder, epoch)[0])
    if rung.lost and rung.kept is not None and rung.log.log_end_offset is not None:
        begin = max(rung.kept, ladder.low)
        yield _rectangle(ladder, begin, rung.log.log_end_offset, "url(#lost)")
        yield _line(ladder, begin, "cut")
    high_watermark = rung.log.high_watermark
    if high_watermark is not None and ladder.low <= high_watermark <= ladder.high:
        yield _line(ladder, high_watermark, "hw")
    for epoch, start, end in rung.spans:
        yield from _label(ladder, epoch, start, _kept_end(rung, end))
    yield f'</svg><div class="dim">{html_text(told)}</div></div>'


def _kept_end(rung: Rung, end: int) -> int:
    """Return where the label's room ends: text on the hatched part could not be read."""
    return min(end, rung.kept) if rung.lost and rung.kept is not None else end


def _label(ladder: Ladder, epoch: int | None, start: int, end: int) -> Iterator[str]:
    """Return the epoch's number as text on the bar, or nothing when there is no room."""
    left, width = _x(ladder, start), _x(ladder, end) - _x(ladder, start)
    label = "?" if epoch is None else str(epoch)
    if width > _DIGIT_WIDTH * (len(label) + 1):
        middle, ink = round(left + width / 2, 2), _colours(ladder, epoch)[1]
        yield f'<text x="{middle}%" y="68%" text-anchor="middle" fill="{ink}">{label}</text>'


def _x(ladder: Ladder, offset: int) -> float:
    """Return the place of an offset in percent of the width."""
    return round((offset - ladder.low) / (ladder.high - ladder.low) * 100, 2)


def _rectangle(ladder: Ladder, start: int, end: int, fill: str) -> str:
    left, right = _x(ladder, start), _x(ladder, end)
    # A single record among millions must be visible.
    width = max(round(right - left, 2), _LEAST_WIDTH)
    left = round(min(left, 100 - width), 2)
    return f'<rect x="{left}%" width="{width}%" height="100%" fill="{fill}"/>'


def _line(ladder: Ladder, offset: int, kind: str) -> str:
    x = min(max(_x(ladder, offset), 0.2), 99.8)
    return f'<line class="{kind}" x1="{x}%" x2="{x}%" y1="0" y2="100%"/>'
