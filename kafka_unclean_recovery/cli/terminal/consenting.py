"""The operator is asked for consent to the elections: the larger the risk, the more must be
typed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

from kafka_unclean_recovery.cli.terminal import standard_streams
from kafka_unclean_recovery.cli.terminal.console import Console, ask, is_terminal
from kafka_unclean_recovery.model import PartitionPlan
from kafka_unclean_recovery.recovery.consent import (
    Consent,
    Notes,
    render_consent,
    total_lines,
    warning,
)
from kafka_unclean_recovery.shutdown import Interrupted, Stop

# A warning with the question, which may be wrapped, and what is to be saved.
_QUESTION_LINES = 4

ToSave = Callable[[Sequence[PartitionPlan]], tuple[Notes, str]]
"""Tells of the plans to be elected what is to be saved first: notes by partition, and the total."""


async def consent_to(
    console: Console,
    stop: Stop,
    plans: Sequence[PartitionPlan],
    electable: Sequence[PartitionPlan],
    to_save: ToSave | None,
    *,
    yes: bool,
) -> Consent:
    """Show `plans` and ask for consent to elect those in `electable`.

    Nobody is asked with `yes` or without a terminal: the author of the command line has consented.
    """
    if stop.requested:
        return Consent(given=False, how="interrupted")
    if yes:
        return Consent(given=True, how="--yes")
    if not is_terminal():
        return Consent(given=True, how="no terminal")
    notes, total = ({}, "") if to_save is None else to_save(electable)
    if not console.show_person(elections_text(plans, notes) + total):
        return Consent(given=False, how="the terminal did not take what would be elected")
    try:
        return await _asked(console, stop, electable)
    except Interrupted:
        return Consent(given=False, how="interrupted")


def elections_text(plans: Sequence[PartitionPlan], notes: Notes) -> str:
    """Return each election, in lines that fit into the window, or else an overview."""
    whole = render_consent(plans, notes)
    size = _size()
    if size is None:
        return whole
    from kafka_unclean_recovery.report.overview import overview_of_plans
    from kafka_unclean_recovery.report.window import Window, wrapped

    room = Window.above(_QUESTION_LINES, size)
    sentences = whole.splitlines()
    lines = room.fitting(line for each in sentences for line in wrapped(each, size.columns))
    return "\n".join(lines or overview_of_plans(plans, total_lines(plans), room)) + "\n"


def _size() -> os.terminal_size | None:
    """Return the size of the window where the person is asked."""
    return standard_streams.size_of(sys.stderr) or standard_streams.size_of(sys.stdin)


async def _asked(console: Console, stop: Stop, electable: Sequence[PartitionPlan]) -> Consent:
    why = warning(electable)
    if why is not None:
        return await number_typed(console, stop, f"{why}: to elect", len(electable))
    answer = await ask(console, "elect these leaders? [y/N] ", stop)
    if answer.lower() in ("y", "yes"):
        return Consent(given=True, how="y")
    return Consent(given=False, how="nobody said yes")


async def typed(console: Console, question: str) -> tuple[str, int | None]:
    """Return what is typed to a command that does nothing else, and the exit code of a signal that
    came instead, else None."""
    # Nothing is begun yet, so nothing is said of a signal.
    stop = Stop(lambda _: None)
    # Python's own handler may miss a Ctrl-C that comes right before the event loop waits.
    stop.install()
    try:
        return await ask(console, question, stop), None
    except Interrupted:
        return "", stop.exit_code
    finally:
        stop.let_go()


def _last_line(console: Console, question: str) -> str:
    """Show all of the question but its last line, where the window is too narrow for one line, and
    return that."""
    size = _size()
    if size is None or len(question) < size.columns:
        return question
    from kafka_unclean_recovery.report.window import wrapped

    *lines, last = wrapped(question.rstrip(), size.columns - 2)
    console.show_person("".join(f"{line}\n" for line in lines))
    return f"{last} "


async def number_typed(console: Console, stop: Stop, to_do: str, partitions: int) -> Consent:
    """Ask for the number of partitions to be typed, and once more after another answer than none.
    Raises Interrupted."""
    question = f"{to_do} these leaders, type the number of partitions, {partitions}: "
    again = f"nothing is done yet: type {partitions} to elect, or Enter to leave: "
    for asked in (question, again):
        answer = await ask(console, _last_line(console, asked), stop)
        if answer == str(partitions):
            return Consent(given=True, how="number typed")
        if not answer:
            break
    return Consent(given=False, how="the number of partitions was not typed")
