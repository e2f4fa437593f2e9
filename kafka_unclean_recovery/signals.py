"""The signals that ask a run to stop, in one place for every command.

The first lets the step in hand finish, a second stops at once. SIGPIPE is ignored, as in Python: a
reader that is gone shows where the run writes to it, and changes nothing else.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

OF_A_TERMINAL = (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
"""A terminal sends these signals to all processes in its foreground."""

_ALWAYS = (signal.SIGINT, signal.SIGTERM)
_UNLESS_IGNORED = (signal.SIGHUP, signal.SIGQUIT)
# timeout(1) and supervisors send the same signal twice, to the process and to its group.
_SAME_WISH_SECONDS = 0.2


def stopping_signals() -> tuple[signal.Signals, ...]:
    """Return the signals to heed, without any that our parent ignores, as nohup does SIGHUP."""
    heeded = (n for n in _UNLESS_IGNORED if signal.getsignal(n) is not signal.SIG_IGN)
    return (*_ALWAYS, *heeded)


class StopRequest:
    """The request that signals have made so far.

    told: somebody was told of the first signal, and so of what a second one does.
    """

    def __init__(self) -> None:
        self.told = False
        self._number: int | None = None
        self._at = 0.0

    def receive(self, number: int) -> bool:
        """Return whether to stop at once. Call this in the handler: it prints nothing.

        The same signal right behind the first is the same wish, and a SIGHUP always is: a session
        that drops sends two of them.
        """
        if self._number is None:
            self._number, self._at = number, time.monotonic()
            return False
        if number == signal.SIGHUP:
            return False
        later = time.monotonic() - self._at > _SAME_WISH_SECONDS
        return number != self._number or self.told or later

    @property
    def requested(self) -> bool:
        return self._number is not None

    @property
    def exit_code(self) -> int | None:
        """Return 128 and the number of the first signal, None while nobody asked."""
        return None if self._number is None else 128 + self._number


@contextmanager
def taken(receive: Callable[[int], None]) -> Iterator[None]:
    """Call `receive` with the number of each signal that asks to stop, in its handler."""

    def handle(number: int, _: FrameType | None) -> None:
        receive(number)

    before = {number: signal.signal(number, handle) for number in stopping_signals()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
