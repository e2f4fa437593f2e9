"""The one gate, directly before each request that changes the cluster and puts nothing back.

What an election rests on was looked at before its journal was written and before a connection was
open, and either may have taken any time: a disk that hangs, a process that was stopped and goes on,
a broker that takes a minute. In that time a better replica may have come back, or somebody may have
asked to stop.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from kafka_unclean_recovery.boot_clock import boot_time
from kafka_unclean_recovery.deadline import Clock
from kafka_unclean_recovery.shutdown import Stop
from kafka_unclean_recovery.survey import budgets

GOOD_FOR_SECONDS = budgets.LAST_LOOK.good_for
"""What was looked at is taken for true for so long, by the clock that also runs while the machine
sleeps."""


class NotSent(Exception):
    """A request was kept back at the gate: nothing was sent. `reason` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class StopAsked(NotSent):
    """A signal asked to stop before the request was sent."""


class LookTooOld(NotSent):
    """What had been seen before is too old to elect by: look again, and go on with the rest."""


def since_boot() -> float:
    """Return seconds since the boot, sleep included; where the system does not tell them, those of
    the monotonic clock."""
    now = boot_time()
    return time.monotonic() if now is None else now.ms / 1000


class Gate:
    """It is open for a while after each look."""

    def __init__(self, clock: Clock = since_boot) -> None:
        self._clock = clock
        self._closes: float | None = None

    def begin_look(self) -> Callable[[], None]:
        """Note that a look begins now; its end, once all answers are there, is to be told by the
        function that is returned, and opens the gate. Until then the gate is closed."""
        self._closes = None
        asked = self._clock()

        def end() -> None:
            self._closes = asked + GOOD_FOR_SECONDS

        return end

    def pass_one(self, stop: Stop) -> None:
        """Let one request pass. Raises StopAsked, LookTooOld."""
        if stop.requested:
            raise StopAsked("interrupted before it was sent")
        self.pass_whoever_stops()

    def pass_whoever_stops(self) -> None:
        """Let one request pass that puts something back. Raises LookTooOld."""
        if self._closes is None or self._clock() > self._closes:
            raise LookTooOld(
                "what had been seen before is too old to elect by: the controller, the journal's"
                " disk or this machine took too long"
            )
