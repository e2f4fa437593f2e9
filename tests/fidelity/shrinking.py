"""The shortest sequence of events that still shows a difference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Event = TypeVar("Event")


def shrink(
    events: Sequence[Event], still_differs: Callable[[Sequence[Event]], bool]
) -> Sequence[Event]:
    """Return events of which none can be left out, in their order; the last one always stays.

    Halves are left out first, then quarters and so on (Zeller's ddmin, without its complements).
    `still_differs` is asked about sequences that are shorter than `events` only.
    """
    size = len(events) // 2
    while size > 0:
        shorter = _without_chunks(events, size, still_differs)
        if len(shorter) == len(events) or size > 1:
            size //= 2
        events = shorter
    return events


def _without_chunks(
    events: Sequence[Event], size: int, still_differs: Callable[[Sequence[Event]], bool]
) -> Sequence[Event]:
    """Return the events without each chunk of `size` that changes nothing, from the end on."""
    start = len(events) - 1 - size
    while start > -size:
        shorter = [*events[: max(start, 0)], *events[start + size :]]
        if still_differs(shorter):
            events = shorter
        start -= size
    return events
