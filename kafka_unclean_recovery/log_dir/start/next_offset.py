"""Where a broker takes a segment to end without recovering it: it goes to the last entry of the
offset index, and from there over the headers of batches; no CRC is read.

Source: org.apache.kafka.storage.internals.log.LogSegment (readNextOffset), OffsetIndex.lookup and
AbstractIndex.indexSlotRangeFor, FileRecords.searchForOffsetFromPosition (before 4.0
searchForOffsetWithSize), org.apache.kafka.common.record.FileLogInputStream.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from kafka_unclean_recovery.log_dir.segments import batches as b
from kafka_unclean_recovery.log_dir.segments.batch_runs import Run
from kafka_unclean_recovery.log_dir.start.fate import EndsBroker

_ENTRY = struct.Struct(">ii")
# A broker looks among the last 8 KiB of an index first.
_WARM_ENTRIES = 8192 // _ENTRY.size
_WINDOW = 8 << 10
_SIZE = struct.Struct(">i")
_PREFIX = struct.Struct(">qi4xb")

ReadAt = Callable[[int, int], bytes]
"""Takes (position, length) and returns that many bytes, fewer only at the end of the file."""


@dataclass(frozen=True, slots=True)
class Head:
    """A batch by its header alone, whatever is in it; `size` is the whole batch in bytes. wraps: a
    compressed message of format 0 or 1, whose first offset is within."""

    position: int
    size: int
    base: int
    last: int
    epoch: int | None
    count: int | None
    wraps: bool = False

    @property
    def run(self) -> Run:
        base = None if self.count is None else self.base
        return base, self.last, self.epoch, base, self.count, 1


@dataclass(frozen=True, slots=True)
class Next:
    """The next offset of a segment, exclusive end of its last batch. heads: the batches that it was
    read from, none where the segment reads as if it were empty. older: as brokers before 4.0 read
    it."""

    end: int
    heads: tuple[Head, ...]
    older: int


def heads(read_at: ReadAt, start: int, stop: int) -> Iterator[Head]:
    """Yield the batches in bytes [start, stop) as a broker steps over them. Raises EndsBroker."""
    at, origin, window = start, start, b""
    while at < stop - b.UP_TO_MAGIC:
        if not origin <= at <= origin + len(window) - b.V2.size:
            origin, window = at, read_at(at, min(_WINDOW, stop - at))
        head = window[at - origin : at - origin + b.V2.size]
        if len(head) < b.UP_TO_MAGIC:
            return
        _, length, magic = _PREFIX.unpack_from(head)
        if length < b.LEAST_LENGTH[0]:
            raise EndsBroker(f"a batch of {length} bytes is announced at byte {at}")
        if at > stop - b.OVERHEAD - length:
            return
        yield _head(at, head, magic)
        at += b.OVERHEAD + length


def _head(at: int, head: bytes, magic: int) -> Head:
    offset, length, _ = _PREFIX.unpack_from(head)
    size = b.OVERHEAD + length
    if magic < 2:
        plain = len(head) > b.UP_TO_MAGIC and not head[b.UP_TO_MAGIC] & b.CODEC_MASK
        return Head(at, size, offset, offset, None, 1 if plain else None, wraps=not plain)
    if len(head) < b.V2.size:
        raise EndsBroker(f"the header of the batch at byte {at} is cut")
    fields = b.V2.unpack(head)
    return Head(at, size, offset, _int64(offset + fields[6]), fields[2], fields[12])


def legacy_crc_fits(data: bytes) -> bool:
    """Return whether a whole message of format 0 or 1 is as it was written."""
    return _off_by(data) == 0


def _off_by(data: bytes) -> int:
    """Return the bits in which the CRC of a message is another than the one it has."""
    written: int = b.LEGACY.unpack_from(data)[2]
    return zlib.crc32(data[b.LEGACY_CRC_FROM :]) ^ written


def _sound_but_for_its_crc(data: bytes) -> bool:
    """Return whether at most one byte of the CRC itself is wrong: whatever else is damaged makes
    more of them differ. Who decompresses the message checks no CRC."""
    bits = _off_by(data)
    return any(bits & ~(0xFF << shift) == 0 for shift in (0, 8, 16, 24))


def _unwraps(data: bytes) -> bool:
    """Return whether what the message wraps can be read, which does not need its length to be
    right: the sizes of key and value count."""
    at, size = b.LEGACY.size + (8 if data[b.UP_TO_MAGIC - 1] == 1 else 0), 0
    for _ in ("key", "value"):
        at += max(size, 0)
        if len(data) < at + _SIZE.size:
            return False
        (size,) = _SIZE.unpack_from(data, at)
        at += _SIZE.size
    return _sound_but_for_its_crc(data) or (
        0 <= size <= len(data) - at and _sound_but_for_its_crc(data[: at + size])
    )


def must_unwrap(found: Iterable[Head], read_at: ReadAt, target: int) -> None:
    """Raise EndsBroker where a broker of 4.0 or later fails: it looks for the first offset within
    the compressed messages up to `target`, which are damaged, or no messages at all."""
    for head in found:
        if head.wraps and not _unwraps(read_at(head.position, head.size)):
            raise EndsBroker(
                f"a broker of 4.0 or later can't decompress the message at byte {head.position}"
            )
        if _first(head) >= target:
            return


def _first(head: Head) -> int:
    """Return the first offset of a batch, of a compressed message the last that it can be: it wraps
    several, as a rule."""
    return head.base - 1 if head.wraps else head.base


def _int64(number: int) -> int:
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def last_indexed(read_at: ReadAt, size: int, base_offset: int) -> tuple[int, int]:
    """Return (the offset of the last entry of an index of `size` bytes, the position in the segment
    to which a broker goes for it)."""
    count = size // _ENTRY.size
    if count == 0:
        return base_offset, 0
    target = _entry(read_at, count - 1)[0]
    return base_offset + target, lookup(read_at, size, target)


def lookup(read_at: ReadAt, size: int, target: int) -> int:
    """Return the position in the segment that a broker finds in an index of `size` bytes for an
    offset, relative to the segment's: it bisects, among the last entries first."""
    count = size // _ENTRY.size
    if count == 0:
        return 0
    warm = max(0, count - 1 - _WARM_ENTRIES)
    block = read_at(warm * _ENTRY.size, (count - warm) * _ENTRY.size)

    def entry(number: int) -> tuple[int, int]:
        if number < warm:
            return _entry(read_at, number)
        found: tuple[int, int] = _ENTRY.unpack_from(block, (number - warm) * _ENTRY.size)
        return found

    if entry(warm)[0] < target:
        low, high = warm, count - 1
    elif entry(0)[0] > target:
        return 0
    else:
        low, high = 0, warm
    while low < high:
        middle = (low + high + 1) // 2
        found = entry(middle)[0]
        if found == target:
            low = high = middle
        else:
            low, high = (middle, high) if found < target else (low, middle - 1)
    return max(0, entry(low)[1])


def _entry(read_at: ReadAt, number: int) -> tuple[int, int]:
    data = read_at(number * _ENTRY.size, _ENTRY.size)
    offset, position = _ENTRY.unpack(data.ljust(_ENTRY.size, b"\0"))
    return offset, position


def next_offset(found: Sequence[Head], target: int, base_offset: int) -> Next:
    """Return the next offset of the segment. found: its batches from the last entry of its index
    on; target: the offset of that entry."""
    if not found:
        return Next(base_offset, (), base_offset)
    end = _int64(found[-1].last + 1)
    reached = any(_first(head) >= target for head in found) or found[-1].last >= target
    older = end if any(head.last >= target for head in found) else base_offset
    return Next(end, tuple(found), older) if reached else Next(base_offset, (), older)
