"""Blocking calls that may never end: a resolver, a FIFO, a server that sends byte by byte."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def in_daemon_thread(call: Callable[[], T]) -> Future[T]:
    """Begin the call in a thread that does not hold up the end of the process, as asyncio's own
    threads do. The future has what the call returned, or the exception that it raised."""
    result: Future[T] = Future()
    result.set_running_or_notify_cancel()  # Who waits no more can't end it.

    def run() -> None:
        try:
            result.set_result(call())
        except Exception as error:  # noqa: BLE001 - it is raised where the result is asked for
            result.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return result
