"""Offset indexes tell where in a segment some of its batches lie.

Source: org.apache.kafka.storage.internals.log.OffsetIndex and LogSegment.append.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Callable, Iterator

from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.small_files.text_lines import INT32_MAX

# An index has entries of 8 bytes, big-endian, one for every 4 KiB of the segment
# (index.interval.bytes):
#
#     0  int32  offset, relative to the segment's base offset
#     4  int32  position in the segment
#
# Both rise strictly. The first batch has no entry, so neither is ever 0. The file of the active
# segment is allocated whole (10 MiB) and zeros follow the last entry; a broker that stops in order
# or rolls the segment cuts the zeros off. Nothing guards the contents.
#
# A batch begins at `position`. A broker of 4.x indexes batch by batch, and `offset` is the last
# offset of that batch. An older broker indexes append by append, and `offset` is the last offset of
# all batches appended at once: the batch at `position` then ends at or before `offset`.
_ENTRY = struct.Struct(">ii")
_SIZE = _ENTRY.size
_NONE = bytes(_SIZE)
_BLOCK = 4096
_WHAT = "offset index"

ReadAt = Callable[[int, int], bytes]
"""Takes (position, length) and returns that many bytes, fewer only at the end of the file."""

Entry = tuple[int, int]
"""An entry is (absolute offset, position in the segment)."""


def entries(data: bytes, base_offset: int) -> Iterator[Entry]:
    """Yield all entries of a whole index, up to the first that is zero. Raises BadFormat, when it
    gets there, for an entry that does not rise and for data after the zeros."""
    _check_size(len(data))
    used = len(data)
    offset = position = 0
    for number, (next_offset, next_position) in enumerate(_ENTRY.iter_unpack(data)):
        if next_offset == 0 == next_position:
            used = number * _SIZE
            break
        if next_offset <= offset or next_position <= position:
            raise BadFormat(_WHAT, f"entry {number} does not rise above the one before")
        offset, position = next_offset, next_position
        yield base_offset + offset, position
    if data[used:] != bytes(len(data) - used):
        raise BadFormat(_WHAT, f"data after the zeros that begin at byte {used}")


def entries_from(data: bytes, position: int, base_offset: int) -> Iterator[Entry]:
    """Yield the entries of a whole index at or behind a position in the segment, found by
    bisection.

    If the index does not rise, the entries may be any: check each entry against the batch that lies
    at its position.
    """
    count = len(data) // _SIZE

    def lies_at(number: int) -> int:
        """Return the entry's position; allocated entries that are not in use lie last."""
        found: int = _ENTRY.unpack_from(data, number * _SIZE)[1]
        return found or INT32_MAX + 1

    for number in range(bisect_left(range(count), position, key=lies_at), count):
        offset, at = _ENTRY.unpack_from(data, number * _SIZE)
        if at == 0:
            return
        yield base_offset + offset, at


def last_entries(read_at: ReadAt, size: int, base_offset: int) -> list[Entry]:
    """Return the last entries of an index of `size` bytes, in rising order, by a few small reads.

    The entries are those of the last two blocks in use. Raises BadFormat when they do not rise.
    Check each entry against the batch that lies at its position.
    """
    _check_size(size)
    begin = max(_last_block(read_at, -(-size // _BLOCK)) - 1, 0) * _BLOCK
    blocks = _whole_entries(read_at(begin, min(2 * _BLOCK, size)))
    return list(entries(blocks, base_offset))


def _last_block(read_at: ReadAt, blocks: int) -> int:
    """Return the number of the last block in use, 0 when none is; missing blocks read as zeros."""
    if blocks and _block_in_use(read_at, blocks - 1):
        return blocks - 1
    low, high = 0, 1
    while high < blocks and _block_in_use(read_at, high):
        low, high = high, high * 2
    high = min(high, blocks)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _block_in_use(read_at, middle) else (low, middle)
    return low


def _block_in_use(read_at: ReadAt, block: int) -> bool:
    """Return True when the first entry of the block is not zero."""
    return read_at(block * _BLOCK, _SIZE).ljust(_SIZE, b"\0") != _NONE


def _whole_entries(data: bytes) -> bytes:
    return data[: len(data) // _SIZE * _SIZE]


def _check_size(size: int) -> None:
    if size % _SIZE:
        raise BadFormat(_WHAT, f"{size} bytes are not entries of {_SIZE}")
