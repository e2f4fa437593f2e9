"""The order of starting as lines for a terminal of 80 columns; no I/O.

There is a line for each step and each broker, however many partitions there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from textwrap import wrap

from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.report.table import page
from kafka_unclean_recovery.shown import shown_lines
from kafka_unclean_recovery.start_order.result import Gone, Harm, Start, StartOrder
from kafka_unclean_recovery.wording import (
    brokers_text,
    count_text,
    number_text,
    one_line,
    short_names,
)

_COLUMNS = 80
# A command stays on one line, to be copied.
_COMMAND = "   "


def render_start_order(found: StartOrder, elect: Callable[[int], str]) -> str:
    """Return the steps, what starts too early would cost, the disks that are gone, what is unknown
    and the totals. elect: the command line that elects after a step."""
    return page(
        _folded(_steps(found, elect)),
        _folded(_too_early(found.starts)),
        _folded(line for gone in found.gone for line in _gone(gone)),
        _folded(f"unknown: {one_line(sentence)}" for sentence in found.unknown),
        _folded(_totals(found)),
    )


def _steps(found: StartOrder, elect: Callable[[int], str]) -> Iterator[str]:
    number = 0
    for step in range(found.steps + 1):
        group = [start.broker for start in found.starts if start.step == step]
        if group:
            number += 1
            yield f"{number}. start {brokers_text(group)}{_then(found, step)}"
        elected = found.elected_after(step)
        if elected:
            number += 1
            yield f"{number}. elect {_partitions(elected)}:"
            yield f"{_COMMAND}{elect(step)}"


def _then(found: StartOrder, step: int) -> str:
    """Return what the start of this step brings about by itself."""
    led = found.led_after(step)
    if led:
        return f": the controller leads {count_text(led, 'partition')} again by itself"
    before = any(row.step is not None and row.step < step for row in found.partitions)
    return "" if before else ": no partition has a leader yet"


def _partitions(partitions: Sequence[TopicPartition]) -> str:
    first = partitions[0]
    name = f"{short_names([first.topic]).get(first.topic, first.topic)}-{first.partition}"
    count = count_text(len(partitions), "partition")
    return f"{count}, the first {name}" if len(partitions) > 1 else name


def _too_early(starts: Sequence[Start]) -> Iterator[str]:
    for start in starts:
        if start.too_early is not None:
            yield (
                f"too early, broker {start.broker} would lead by itself"
                f" {_harm_text(start.too_early)}"
            )


def _harm_text(harm: Harm) -> str:
    at = f"at {number_text(harm.leader_end)}"
    best = f"where broker {harm.best} holds {number_text(harm.best_end)}"
    records = "an unknown number of records" if harm.records is None else _records(harm.records)
    return f"{_partitions(harm.partitions)} {at} {best}: {records} lost"


def _records(number: int) -> str:
    return count_text(number, "record")


def _gone(gone: Gone) -> Iterator[str]:
    if gone.trap is not None:
        yield (
            f"not yet an empty disk under id {gone.broker}: it may lead by itself"
            f" {_harm_text(gone.trap)}; register it once these have a leader"
        )
    else:
        yield f"an empty disk under id {gone.broker} costs nothing"
    if gone.frees:
        waits = "waits" if gone.frees == 1 else "wait"
        yield (
            f"{count_text(gone.frees, 'partition')} {waits} for id {gone.broker}, until it"
            " registers with an empty disk or an election gives them a leader"
        )


def _totals(found: StartOrder) -> Iterator[str]:
    unled = sum(row.step is None for row in found.partitions)
    order = "what this order costs is not known"
    if found.costs is not None:
        order = f"this order costs {_records(found.costs)} more than the best leaders"
    if found.costs == 0:
        order = "in this order the best log leads each partition"
    if found.worst is not None:
        order += f"; the worst order costs {_records(found.worst)}"
    yield f"{count_text(len(found.partitions), 'partition')} without a leader: {order}"
    if unled:
        yield f"{count_text(unled, 'partition')} get no leader: none of their brokers starts"
    if found.rests_on is not None:
        yield f"this rests on {found.rests_on}, and on no controller"
    if found.foretold:
        yield (
            "foretold: the controllers have yet to fence brokers, a session after they begin; ask"
            " again once they have"
        )


def _folded(lines: Iterator[str]) -> str:
    """Return the lines, broken between words at the width of a terminal."""
    return shown_lines(piece for line in lines for piece in _pieces(line))


def _pieces(line: str) -> list[str]:
    if line.startswith(_COMMAND):
        return [line]
    return wrap(
        line, _COLUMNS, subsequent_indent="   ", break_long_words=False, break_on_hyphens=False
    )
