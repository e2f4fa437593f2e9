"""Decide how long to go on looking for a change: as long as parts of it appear, and a while after.

Brokers publish the controller's changes one after the other, and a loaded broker is late: no fixed
time is right for every cluster, and a change that never appears must end the wait all the same.
"""

from __future__ import annotations

import asyncio
import time

from kafka_unclean_recovery.deadline import Clock, Deadline

_STILL_SECONDS = 10.0
# A broker publishes a batch when the batch before is applied, which costs one fsync per partition
# on a disk.
_STILL_SECONDS_EACH = 0.02
_MOST_SECONDS = 300.0
_FIRST_PAUSE_SECONDS = 0.02
_LONGER_BY = 1.2
_LONGEST_PAUSE_SECONDS = 0.5


class Coming:
    """Decides whether to look once more for `count` partitions that should appear as made."""

    def __init__(self, count: int, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._patience = _STILL_SECONDS + count * _STILL_SECONDS_EACH
        self._end = Deadline.after(_MOST_SECONDS, clock)
        self._still = Deadline.after(self._patience, clock)
        self._least: int | None = None
        self._pause = _FIRST_PAUSE_SECONDS

    def over(self, left: int) -> bool:
        """Return True once `left`, the number not seen yet, has not fallen for too long."""
        if self._least is None or left < self._least:
            self._least = left
            self._still = Deadline.after(self._patience, self._clock)
        return self._still.expired or self._end.expired

    async def pause(self) -> None:
        """Wait between two looks, each time longer."""
        await asyncio.sleep(self._pause)
        self._pause = min(_LONGER_BY * self._pause, _LONGEST_PAUSE_SECONDS)
