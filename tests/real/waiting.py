"""Waiting for real processes: poll a condition, and say at the deadline what was missing."""

from __future__ import annotations

import time
from collections.abc import Callable

from kafka_unclean_recovery.deadline import Deadline

POLL_SECONDS = 0.05


def wait_until(
    condition: Callable[[], bool],
    timeout: float,
    missing: Callable[[], str],
) -> None:
    """Return once `condition` holds; `missing` describes the state to whoever reads the failure."""
    deadline = Deadline.after(timeout)
    while not condition():
        if deadline.expired:
            raise TimeoutError(f"not within {timeout:g} s: {missing()}")
        time.sleep(POLL_SECONDS)
