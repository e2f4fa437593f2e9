"""Time that passes only while nobody has anything to do: a wait of a minute costs nothing.

`install` comes before the first import of the package, whose deadlines remember the clock that
they find. One event loop holds the emulated cluster and the tool. Where nothing is ready, time is
set to what is due next: the loopback delivers before `send` returns, so nothing is on its way.
"""

from __future__ import annotations

import asyncio
import selectors
import threading
import time
from collections.abc import Mapping
from typing import Any

# What work takes: without it, asking over and over would never run out of time.
_A_TURN = 20e-6
# The tool looks host names up in threads of its own; the selector wakes when one is done.
_FOR_THREADS = 0.002
_BOOT = 10_000.0
_WALL = 1_790_000_000.0
_YEARS = 10 * 365 * 86400.0


class Clock:
    """`boot`: seconds since the machine started. The wall clock is apart, and may jump."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.boot = _BOOT
        self.wall_ahead = _WALL - _BOOT

    def monotonic(self) -> float:
        return self.boot

    def monotonic_ns(self) -> int:
        return int(self.boot * 1e9)

    def wall(self) -> float:
        return self.boot + self.wall_ahead

    def wall_ns(self) -> int:
        return int(self.wall() * 1e9)

    def of_kind(self, kind: int) -> float:
        return self.wall() if kind == time.CLOCK_REALTIME else self.boot

    def of_kind_ns(self, kind: int) -> int:
        return int(self.of_kind(kind) * 1e9)


CLOCK = Clock()


def install() -> None:
    """Put the clock into this process, for good."""
    time.monotonic = CLOCK.monotonic
    time.monotonic_ns = CLOCK.monotonic_ns
    time.time = CLOCK.wall
    time.time_ns = CLOCK.wall_ns
    time.clock_gettime = CLOCK.of_kind
    time.clock_gettime_ns = CLOCK.of_kind_ns


class NothingToDo(Exception):
    """All wait, and nothing is due."""


class _Selector(selectors.EpollSelector):
    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        CLOCK.boot += _A_TURN
        ready = super().select(0)
        while not ready and threading.active_count() > 1:
            ready = super().select(_FOR_THREADS)
        if ready or timeout == 0:
            return ready
        if timeout is None or timeout > _YEARS:
            raise NothingToDo
        CLOCK.boot += max(timeout or 0.0, 0.0)
        return ready


class Loop(asyncio.SelectorEventLoop):
    """What went wrong in callbacks and tasks that nobody awaited is in `unheard`."""

    def __init__(self) -> None:
        super().__init__(_Selector())
        self.unheard: list[str] = []
        self.set_exception_handler(lambda _, context: self._hear(context))

    def _hear(self, context: Mapping[str, Any]) -> None:
        self.unheard.append(f"{context['message']}: {context.get('exception')!r}")
