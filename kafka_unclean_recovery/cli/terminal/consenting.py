"""The operator is asked for consent to the elections: the larger the risk, the more must be
typed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kafka_unclean_recovery.cli.terminal.console import Console, ask, is_terminal
from kafka_unclean_recovery.model import PartitionPlan
from kafka_unclean_recovery.recovery.consent import Consent, Notes, render_consent, warning
from kafka_unclean_recovery.shutdown import Interrupted, Stop

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
    console.show(render_consent(plans, notes) + total)
    try:
        return await _asked(console, stop, electable)
    except Interrupted:
        return Consent(given=False, how="interrupted")


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


async def number_typed(console: Console, stop: Stop, to_do: str, partitions: int) -> Consent:
    """Ask for the number of partitions to be typed. Raises Interrupted."""
    question = f"{to_do} these leaders, type the number of partitions: "
    if await ask(console, question, stop) == str(partitions):
        return Consent(given=True, how="number typed")
    return Consent(given=False, how="the number of partitions was not typed")
