"""How a run is asked to stop: the first signal lets the step in hand finish, a second does not."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(Exception):
    """A signal ended what was being waited for."""


class Stop:
    """Set by the first SIGINT or SIGTERM."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._event = asyncio.Event()
        self._signal: int | None = None

    def install(self) -> None:
        """Take over the signals of the running event loop."""
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, self._receive, number)

    def _receive(self, number: int) -> None:
        if self._signal is not None:
            self._say("stopped at once; the journal tells what is left to finish")
            os._exit(128 + number)
        self._signal = number
        self._say("stopping: the step in hand is finished first (a second signal stops at once)")
        self._event.set()

    @property
    def requested(self) -> bool:
        return self._event.is_set()

    @property
    def exit_code(self) -> int | None:
        """130 after SIGINT, 143 after SIGTERM, None while nobody asked."""
        return None if self._signal is None else 128 + self._signal

    async def wait(self) -> None:
        await self._event.wait()

    async def unless(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`; when asked to stop, `work` is cancelled and Interrupted raised."""
        task = asyncio.ensure_future(work)
        asked = asyncio.ensure_future(self._event.wait())
        try:
            await asyncio.wait({task, asked}, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            raise Interrupted
        finally:
            for pending in (task, asked):
                pending.cancel()
            await asyncio.gather(task, asked, return_exceptions=True)
