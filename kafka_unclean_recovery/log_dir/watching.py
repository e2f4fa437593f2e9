"""Tell how far a scan is, and stop it between any two reads."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

_EVERY_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a scan. `bytes_total` is 0 in a fast scan, which measures no files first."""

    bytes_done: int
    bytes_total: int
    replicas_done: int
    replicas_total: int


class Watch(Protocol):
    """An observer of a scan, who hears `progress` a few times a second and may stop the scan."""

    def progress(self, so_far: Progress) -> None: ...

    @property
    def stopped(self) -> bool: ...


class Unwatched:
    """A Watch that does nothing."""

    stopped = False

    def progress(self, so_far: Progress) -> None: ...


class Stopped(Exception):
    """The scan was told to stop; the replica that was being read is not known."""


class Meter(Protocol):
    """Counts the bytes that were read."""

    def add(self, count: int) -> None:
        """Count the bytes. Raises Stopped when the scan is to stop."""
        ...


class Unmetered:
    def add(self, count: int) -> None: ...


class WatchedMeter:
    """A Meter that tells a Watch in this process."""

    def __init__(
        self,
        watch: Watch,
        bytes_total: int,
        replicas_total: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._watch = watch
        self._bytes_total = bytes_total
        self._replicas_total = replicas_total
        self._clock = clock
        self._next = clock()
        self._bytes = 0
        self.replicas = 0

    def add(self, count: int) -> None:
        self._bytes += count
        if self._clock() >= self._next:
            self.tell()

    def tell(self) -> None:
        """Tell the progress. Raises Stopped when the scan is to stop."""
        self._next = self._clock() + _EVERY_SECONDS
        self._watch.progress(
            Progress(self._bytes, self._bytes_total, self.replicas, self._replicas_total)
        )
        if self._watch.stopped:
            raise Stopped
