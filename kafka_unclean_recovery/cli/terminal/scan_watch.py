"""A scan shows its progress to a person, and signals end it early."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator

from kafka_unclean_recovery.cli.terminal.console import Console, Pulse
from kafka_unclean_recovery.log_dir.watching import Progress
from kafka_unclean_recovery.signals import StopRequest, taken

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")


class Signals:
    """Signals that ask the command to stop, while `taken`: the first is remembered, a second one
    ends the process.

    first, second: the sentences for the first and the second signal. The first sentence is said at
    the next call of `tell`.
    """

    def __init__(self, console: Console, first: str, second: str) -> None:
        self._console = console
        self._first = first
        self._second = second
        self._request = StopRequest()

    @property
    def stopped(self) -> bool:
        return self._request.requested

    @property
    def exit_code(self) -> int | None:
        """Return 128 plus the number of the first signal, None when none came."""
        return self._request.exit_code

    @contextlib.contextmanager
    def taken(self) -> Iterator[None]:
        try:
            with taken(self._receive):
                yield
        finally:
            self.tell()

    def tell(self) -> None:
        """Say once that the command is stopping; nothing when no signal came."""
        if self.stopped and not self._request.told:
            self._console.say(self._first)
            self._request.told = True

    def _receive(self, number: int) -> None:
        if self._request.receive(number):
            self._console.last_words(self._second)
            os._exit(128 + number)


class ProgressLine:
    """When called with a Progress, the object shows how far the work is and its speed since the
    first call."""

    def __init__(self, console: Console, clock: Callable[[], float]) -> None:
        self._show = Pulse(console)
        self._clock = clock
        self._begun: float | None = None

    def __call__(self, so_far: Progress) -> None:
        now = self._clock()
        if self._begun is None:
            self._begun = now
        self._show(progress_text(so_far, now - self._begun), now)


class ScanWatch:
    """The Watch of scan_log_directories, which shows progress and takes signals.

    then: the words for what follows a first signal. left: the words for what a second signal leaves
    behind. clock: in seconds.
    """

    def __init__(
        self,
        console: Console,
        then: str = "what was scanned is reported",
        left: str = "nothing was written",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._line = ProgressLine(console, clock)
        self._signals = Signals(
            console,
            f"stopping: {then} (a second signal stops at once)",
            f"stopped at once; {left}",
        )

    def progress(self, so_far: Progress) -> None:
        self._line(so_far)
        self._signals.tell()

    @property
    def stopped(self) -> bool:
        return self._signals.stopped

    @property
    def exit_code(self) -> int | None:
        return self._signals.exit_code

    @contextlib.contextmanager
    def signals(self) -> Iterator[None]:
        """Take signals: the first ends the scan with what it has read, a second one ends the
        process."""
        with self._signals.taken():
            yield


def progress_text(so_far: Progress, seconds: float) -> str:
    """Return text such as "12.3 of 40.0 GiB, 310 of 900 replicas, 1.9 GiB/s, 15 s left". seconds:
    the time since the start.

    The speed is in replicas when the number of bytes is not known; parts that are not known yet are
    left out.
    """
    replicas = f"{so_far.replicas_done} of {so_far.replicas_total} replicas"
    if so_far.bytes_total:
        done, total = so_far.bytes_done, so_far.bytes_total
        parts = [f"{_bytes_text(done, total)} of {_bytes_text(total, total)} {_unit(total)}"]
        parts.append(replicas)
    else:
        done, total = so_far.replicas_done, so_far.replicas_total
        parts = [replicas]
    rate = done / seconds if seconds > 0 else 0.0
    if rate > 0:
        parts.append(
            f"{_bytes_text(rate, rate)} {_unit(rate)}/s"
            if so_far.bytes_total
            else f"{rate:.0f} replicas/s"
        )
        if done < total:
            parts.append(f"{_duration_text((total - done) / rate)} left")
    return ", ".join(parts)


def size_text(size: int) -> str:
    """Return text such as "12.3 GiB"."""
    return f"{_bytes_text(size, size)} {_unit(size)}"


def _power(size: float) -> int:
    """Return the power of 1024 of the unit in which `size` is at least 1 and below 1024."""
    return min(max(int(size).bit_length() - 1, 0) // 10, len(_UNITS) - 1)


def _unit(size: float) -> str:
    return _UNITS[_power(size)]


def _bytes_text(size: float, scale: float) -> str:
    """Return the size in the unit that fits `scale`."""
    power = _power(scale)
    return f"{size:.0f}" if power == 0 else f"{size / 1024**power:.1f}"


def _duration_text(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
