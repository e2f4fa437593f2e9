"""Long work shows a line of progress, to a person or to a log."""

from __future__ import annotations

import time
from collections.abc import Callable

from kafka_unclean_recovery.cli.terminal.console import Console

# Where no line can be rewritten, progress is printed as a new line this often.
_SAID_EVERY_SECONDS = 10.0


class Pulse:
    """A line of progress: rewritten in place on a terminal, elsewhere printed every 10 s."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._said: float | None = None

    def __call__(self, text: str, now: float) -> None:
        """Show the text. now: in seconds."""
        self._console.progress(text)
        if self._said is None:
            self._said = now
        if not self._console.rewrites and now - self._said >= _SAID_EVERY_SECONDS:
            self._console.say(text)
            self._said = now


def clocked(pulse: Pulse, clock: Callable[[], float] = time.monotonic) -> Callable[[str], None]:
    """Return a function that shows a text at the time of the clock, which tells seconds."""
    return lambda text: pulse(text, clock())
