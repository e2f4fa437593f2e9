"""A wait ends in time, but what held up this process is not counted as the silence of others."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from typing import Any

# So much later than it should be is a wait that this process itself, or the machine, held up.
_LATE_SECONDS = 0.05
_MOST_SECONDS = 2.0


async def all_done(waited_for: Iterable[asyncio.Future[Any]], seconds: float) -> None:
    """Wait until all of these are done, at most this long; none is cancelled.

    Where the wait ended late, because nothing ran meanwhile, what came in that time has not been
    looked at: it gets as long again, up to two seconds.
    """
    these = list(waited_for)
    ends = time.monotonic() + seconds
    _, left = await asyncio.wait(these, timeout=seconds)
    late = time.monotonic() - ends
    if left and late > _LATE_SECONDS:
        await asyncio.wait(left, timeout=min(late, _MOST_SECONDS))
