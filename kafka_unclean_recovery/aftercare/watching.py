"""The watch looks again until the aftercare is over, and stays so."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from kafka_unclean_recovery.aftercare.result import Aftercare
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.survey.any_broker import FAILURES, will_not_pass

IN_A_ROW = 3


async def watch(
    look: Callable[[], Awaitable[Aftercare]],
    tell: Callable[[Aftercare | Exception], None],
    deadline: Deadline,
    pause: float,
) -> bool:
    """Look until the aftercare was over IN_A_ROW times, and return whether that came before the
    deadline. There is at least one look, and `pause` seconds lie between two; `tell` gets what each
    look found, or why it failed. A refused login is raised, because it will not pass."""
    over = 0
    while True:
        try:
            found = await look()
        except FAILURES as error:
            if will_not_pass(error):
                raise
            over = 0
            tell(error)
        else:
            over = over + 1 if found.over else 0
            tell(found)
        if over >= IN_A_ROW:
            return True
        if deadline.remaining() <= pause:
            return False
        await asyncio.sleep(pause)
