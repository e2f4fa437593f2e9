"""Lists and sizes are put into words for sentences. This module does no I/O."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_unclean_recovery.wording import brokers_text

_SHOWN = 5


def some(names: Iterable[object]) -> str:
    """Return the first few names, and how many more there are."""
    found = [str(name) for name in names]
    more = len(found) - _SHOWN
    shown = ", ".join(found[:_SHOWN])
    return f"{shown} and {more} more" if more > 0 else shown


def brokers(ids: Iterable[int]) -> str:
    """Return "broker 1" or "brokers 1, 2", with all: each may have to be looked after."""
    return brokers_text(sorted(ids))


def seconds(ms: int) -> str:
    return f"{ms / 1000:.1f} s"


def size(number: int) -> str:
    """Return a number of bytes in binary units, as "1.5 GiB"."""
    value = float(number)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.0f} B" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"
