"""The one way to wait: every wait hangs on a Deadline, and a Deadline on one clock.

Tests inject the clock; nothing else in the package reads time to decide how long to wait.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

Clock = Callable[[], float]
"""Seconds, monotonic, from any origin."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """A point in time, in seconds of its clock."""

    at: float
    clock: Clock = time.monotonic

    @classmethod
    def after(cls, seconds: float, clock: Clock = time.monotonic) -> Deadline:
        return cls(clock() + seconds, clock)

    def remaining(self) -> float:
        """Seconds left, never below 0."""
        return max(0.0, self.at - self.clock())

    @property
    def expired(self) -> bool:
        return self.clock() >= self.at

    def at_least(self, seconds: float) -> Deadline:
        """The later of this deadline and `seconds` from now, on the same clock."""
        return Deadline(max(self.at, self.clock() + seconds), self.clock)

    def within(self, seconds: float) -> Deadline:
        """The earlier of this deadline and `seconds` from now, on the same clock."""
        return Deadline(min(self.at, self.clock() + seconds), self.clock)
