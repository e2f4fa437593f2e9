"""Ask a run to stop: the first signal lets the step in hand finish, a second does not."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine
from types import FrameType
from typing import Any, TypeVar

from kafka_unclean_recovery.signals import StopRequest, stopping_signals

T = TypeVar("T")

# A signal right behind the first is the same wish, and does not count as a second one.
_TELL_SECONDS = 0.1


class Interrupted(Exception):
    """A signal ended a wait."""


class Stop:
    """The request to stop, made by the first signal that asks for it (signals.py)."""

    def __init__(
        self, say: Callable[[str], None], last_words: Callable[[str], None] = lambda _: None
    ) -> None:
        """Prepare the request. `last_words` is called in the handler of a second signal, just
        before the process ends."""
        self._say = say
        self._last_words = last_words
        self._request = StopRequest()
        self._event = asyncio.Event()
        self._left = ""

    def leaves_a_journal(self) -> None:
        """Note that from now on a second signal leaves something to finish."""
        self._left = "; the journal tells what is left to finish"

    def install(self) -> None:
        """Take over the signals of the running event loop."""
        loop = asyncio.get_running_loop()
        for number in stopping_signals():
            # The first handler wakes the loop up. The second is the handler proper, which does not
            # wait for a busy loop.
            loop.add_signal_handler(number, self._woken)
            signal.signal(number, self._receive)

    def let_go(self) -> None:
        """Restore the signals because all is done: a signal ends the process, without Python's
        traceback of a Ctrl-C."""
        loop = asyncio.get_running_loop()
        for number in stopping_signals():
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)

    def _receive(self, number: int, _: FrameType | None = None) -> None:
        if self._request.receive(number):
            self._last_words(f"stopped at once{self._left}")
            os._exit(128 + number)

    def _woken(self) -> None:
        if not self._event.is_set():
            self._event.set()
            asyncio.get_running_loop().call_later(_TELL_SECONDS, self.tell)

    def tell(self) -> None:
        """Say once that the run is stopping; say nothing while nobody asked."""
        if self.requested and not self._request.told:
            self._say(
                "stopping: the step in hand is finished first (a second signal stops at once)"
            )
            self._request.told = True

    @property
    def requested(self) -> bool:
        return self._request.requested

    @property
    def exit_code(self) -> int | None:
        """Return 128 and the number of the first signal, None while nobody asked."""
        return self._request.exit_code

    async def wait(self) -> None:
        await self._event.wait()

    async def unless(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of `work`; when asked to stop, cancel `work` and raise Interrupted."""
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
