"""Something happens to a cluster while a request waits for it, however long that takes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from kafka_unclean_recovery.emulator.listener.intercepts import Hold


def held_while(act: Callable[[], object], at_least: float = 0.0) -> Hold:
    """Begin the act in a thread of its own, where a cluster's methods may be called, and hold a
    request until it has ended, and for so many seconds at least."""
    acting = threading.Thread(target=act, daemon=True)
    acting.start()
    begun = time.monotonic()
    return Hold(lambda: not acting.is_alive() and time.monotonic() - begun > at_least)
