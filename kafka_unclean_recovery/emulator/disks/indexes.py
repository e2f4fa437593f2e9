"""This module makes the offset index and time index of a segment, entry for entry as a broker of
4.x writes them. Pure.

An entry is made for the first batch that begins more than index.interval.bytes behind the last
batch with an entry (LogSegment.append, LogSegment.recover). Offset index: int32 last offset of the
batch, less the segment's base offset; int32 position where the batch begins. Time index: int64
greatest timestamp so far, ms; int32 last offset of the batch that has this timestamp, less the base
offset; only where the timestamp rises. A broker that stops in order adds the greatest time of the
whole segment (LogSegment.close).

Files are not preallocated: nothing follows the last entry.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, replace

from kafka_unclean_recovery.emulator.broker.log import Batch

INTERVAL_BYTES = 4096
"""This is the default of index.interval.bytes."""

_OFFSET_ENTRY = struct.Struct(">ii")
_TIME_ENTRY = struct.Struct(">qi")
_NO_TIME = -1
# For a batch beyond this offset a broker begins a new segment, or splits the segment at start.
_LARGEST_RELATIVE = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Indexed:
    """The progress of a segment's indexes. `position`: that of the last batch with an entry.
    `greatest`: the greatest timestamp so far, ms, and the last offset of its batch, relative to the
    segment. `last_time`: the timestamp of the last entry of the time index, ms."""

    position: int = 0
    greatest: tuple[int, int] = (_NO_TIME, 0)
    last_time: int = _NO_TIME


NOTHING_INDEXED = Indexed()


@dataclass(frozen=True, slots=True)
class Entries:
    """The bytes to append to the two index files."""

    offsets: bytes = b""
    times: bytes = b""

    def relative_offsets(self) -> list[int]:
        """Return the relative offsets in the entries of the offset index."""
        return [offset for offset, _ in _OFFSET_ENTRY.iter_unpack(self.offsets)]


def index(known: Indexed, batches: Iterable[Batch], base_offset: int) -> tuple[Indexed, Entries]:
    """Return the progress and the entries that appended batches add. Their positions are those in
    the segment."""
    offsets, times = bytearray(), bytearray()
    for batch in batches:
        last = batch.last_offset - base_offset
        if last > _LARGEST_RELATIVE:
            continue
        if batch.max_timestamp > known.greatest[0]:
            known = replace(known, greatest=(batch.max_timestamp, last))
        if batch.position - known.position > INTERVAL_BYTES:
            offsets += _OFFSET_ENTRY.pack(last, batch.position)
            known, time = final_time(replace(known, position=batch.position))
            times += time
    return known, Entries(bytes(offsets), bytes(times))


def final_time(known: Indexed) -> tuple[Indexed, bytes]:
    """Return an entry for the greatest timestamp so far, or no bytes if there is one already."""
    if known.greatest[0] <= known.last_time:
        return known, b""
    return replace(known, last_time=known.greatest[0]), _TIME_ENTRY.pack(*known.greatest)
