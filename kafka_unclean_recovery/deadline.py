"""Every wait of the package hangs on a Deadline, and a Deadline on one clock.

Tests inject the clock; nothing else in the package reads time to decide how long to wait.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

Clock = Callable[[], float]
"""Returns seconds of a monotonic clock, from any origin."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """A point in time, in seconds of its clock."""

    at: float
    clock: Clock = time.monotonic

    @classmethod
    def after(cls, seconds: float, clock: Clock = time.monotonic) -> Deadline:
        return cls(clock() + seconds, clock)

    def remaining(self) -> float:
        """Return the seconds left, never below 0."""
        return max(0.0, self.at - self.clock())

    @property
    def expired(self) -> bool:
        return self.clock() >= self.at

    def at_least(self, seconds: float) -> Deadline:
        """Return the later of this deadline and `seconds` from now, on the same clock."""
        return Deadline(max(self.at, self.clock() + seconds), self.clock)

    def within(self, seconds: float) -> Deadline:
        """Return the earlier of this deadline and `seconds` from now, on the same clock."""
        return Deadline(min(self.at, self.clock() + seconds), self.clock)
