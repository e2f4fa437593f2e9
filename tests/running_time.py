"""A clock for the tests, which stands still while the machine does.

A shared machine may stop this process for seconds. Afterwards every deadline of a few seconds has
passed, though nobody had time to answer: a test in which a command asks an emulator of the same
process would fail for what neither of them did.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

EVERY_SECONDS = 0.05
STOOD_STILL_SECONDS = 0.25
"""A thread that should have run by then did not: neither did any other."""
MOST_SECONDS = 60.0
"""A thread that is behind by more has ended, and a clock that stands for ever ends no wait."""


class RunningTime:
    """Seconds of a monotonic clock, less those for which `beat` was not called. Any thread may
    read it."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._beaten, self._stood_still = clock(), 0.0
        self._most = MOST_SECONDS

    def beat(self) -> None:
        with self._lock:
            now = self._clock()
            self._stood_still += self._lacking(now)
            self._beaten = now

    def seconds(self) -> float:
        with self._lock:
            now = self._clock()
            return now - self._stood_still - self._lacking(now)

    def go_on_alone(self) -> None:
        """Leave nothing out any more: nobody beats from now on, and nobody else reads."""
        self._lock = threading.Lock()
        self._most = 0.0

    def _lacking(self, now: float) -> float:
        return min(max(now - self._beaten - STOOD_STILL_SECONDS, 0.0), self._most)


def install() -> None:
    """Let time.monotonic, and so each deadline and each event loop of this process, leave out the
    seconds in which the process did not run."""
    running = RunningTime(time.monotonic)

    def beat() -> None:
        while True:
            time.sleep(EVERY_SECONDS)
            running.beat()

    # A forked process has no other thread.
    os.register_at_fork(after_in_child=running.go_on_alone)
    threading.Thread(target=beat, name="running time", daemon=True).start()
    time.monotonic = running.seconds
