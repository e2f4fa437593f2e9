"""Look whether copies of the metadata log grow: then a controller leads, and writes."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence

from kafka_unclean_recovery.log_dir.metadata.cluster_metadata import segments_of
from kafka_unclean_recovery.log_dir.tree import Unreadable
from kafka_unclean_recovery.metadata_quorum.copies import Copy
from kafka_unclean_recovery.metadata_quorum.places import metadata_files

_FRESH_MS, _AHEAD_MS = 10_000, 3_600_000
# A controller that leads writes every 500 ms. One that has lost its majority goes on until it
# resigns, after one and a half times the fetch time-out of 2 s.
_STANDS_STILL_SECONDS = 2.0
_RESIGNS_WITHIN_SECONDS = 6.0
_LOOK_AGAIN_SECONDS = 0.25


def growing(copies: Sequence[Copy], now_ms: Callable[[], int]) -> Iterator[str]:
    """Yield the copies whose last record is of a moment ago, and that get more for longer than a
    leader without a majority would write. Where none is so fresh nothing is waited for."""
    fresh = [copy for copy in copies if _is_fresh(copy, now_ms())]
    begun = time.monotonic()
    sizes, grown = [_size(copy) for copy in fresh], [begun for _ in fresh]
    while any(time.monotonic() < last + _STANDS_STILL_SECONDS for last in grown):
        time.sleep(_LOOK_AGAIN_SECONDS)
        for index, copy in enumerate(fresh):
            if (now := _size(copy)) > sizes[index]:
                sizes[index], grown[index] = now, time.monotonic()
        lasting = [last > begun + _RESIGNS_WITHIN_SECONDS for last in grown]
        if any(lasting):
            yield from (f"the log of {c.name} grows" for c in itertools.compress(fresh, lasting))
            return


def _is_fresh(copy: Copy, now_ms: int) -> bool:
    # Clocks of other machines may go ahead.
    last = copy.last_timestamp_ms
    return last is not None and -_AHEAD_MS < now_ms - last < _FRESH_MS


def _size(copy: Copy) -> int:
    try:
        with metadata_files(copy.place) as files:
            return sum(file.size for _, file in segments_of(files))
    except Unreadable:
        return 0
