"""Walk batch after batch through a segment, up to where the log ends; the hot path of every scan.

Memory is flat: the segment is read in windows of `chunk` bytes, and the CRC of a batch that reaches
beyond its window is computed piece by piece. Good batches that lie in the window whole, nearly all,
are taken by two tight loops; every other batch by `_inspect`, one at a time.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from crc32c import crc32c

from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.segments import batches as b
from kafka_unclean_recovery.log_dir.segments.batch_runs import (
    Batch,
    Run,
    compact,
    run_of,
    take,
    take_runs,
)
from kafka_unclean_recovery.log_dir.segments.batches import BatchHeader, Reason
from kafka_unclean_recovery.log_dir.small_files.text_lines import INT32_MAX, INT64_MAX

# Larger windows are slower: the data falls out of the processor's cache between reading and the
# CRC.
CHUNK = 1 << 20

# Up to this many bytes at a window's end are read again with the next window, not inspected alone.
_READ_TWICE = 32 << 10

ReadAt = Callable[[int, int], bytes]
"""Takes (position, length) and returns that many bytes, none only at the end of the file. Its
exceptions pass through. It may have a function `next_data` that leads over holes (LocalFile)."""


T = TypeVar("T")
_Take = Callable[[memoryview, int, int, int, bool], tuple[list[T], int, int]]


@dataclass(frozen=True, slots=True)
class End:
    """The first position beyond the log, and the reason. Only END and ZEROS are the normal look of
    a log; a killed broker leaves ZEROS."""

    position: int
    reason: Reason
    detail: str = ""


@dataclass(slots=True)
class Walk:
    """A walk over the batches in [start, end): iterate for the batches, or call `runs` for runs;
    then `ended` says where the log ends.

    start: the position of a batch; end: the size of the segment, or the end of a piece of it.
    base_offset: the segment's (its name); no offset can lie below it, or 2^31 or more above it.
    previous: the last offset before `start` where it is known. Without `check_crc` only headers are
    read, and zeros are not followed to the end. strange: the first batch of a magic that no broker
    writes.
    """

    read_at: ReadAt
    start: int
    end: int
    base_offset: int
    check_crc: bool = True
    previous: int | None = None
    chunk: int = CHUNK
    ended: End | None = field(default=None, init=False)
    strange: BatchHeader | None = field(default=None, init=False)

    def __iter__(self) -> Iterator[Batch]:
        return self._walk(take, lambda batch: batch)

    def runs(self) -> Iterator[Run]:
        return self._walk(take_runs, run_of)

    def _walk(self, take: _Take[T], one: Callable[[Batch], T]) -> Iterator[T]:
        least = self.base_offset - 1
        last = least if self.previous is None else max(self.previous, least)
        at = self.start
        while True:
            window = memoryview(self.read_at(at, max(0, min(self.chunk, self.end - at))))
            run, used, last = take(window, at, last, self._ceiling, self.check_crc)
            yield from run
            at += used
            if used and len(window) - used < _READ_TWICE:
                continue
            found = self._inspect(at, window[used:], last)
            if isinstance(found, End):
                self.ended = found
                return
            yield one(found)
            last = found[3]
            at += found[1]

    @property
    def _ceiling(self) -> int:
        """Return the last offset that fits the segment; the log end, one above, is an int64 too."""
        return min(self.base_offset + INT32_MAX, INT64_MAX - 1)

    def _inspect(self, at: int, window: memoryview, last: int) -> Batch | End:
        """Return the batch at `at`, which begins with `window`, or the end of the log."""
        head = self._head(at, window)
        try:
            if end := self._no_batch(at, head):
                return end
            header = b.parse_header(head)
            self._must_follow(header, last)
            self._must_be_whole(header, at, window)
            if not header.known and self.strange is None:
                self.strange = header
        except BadFormat as error:
            return End(at, Reason(error.what), error.detail)
        return compact(at, header)

    def _head(self, at: int, window: memoryview) -> bytes:
        head = bytes(window[: b.V2.size])
        while (missing := min(b.V2.size, self.end - at) - len(head)) > 0:
            more = self.read_at(at + len(head), missing)
            if not more:
                break
            head += more
        return head

    def _no_batch(self, at: int, head: bytes) -> End | None:
        """Return or raise an end that comes before a header, in the order of a broker's checks."""
        left = self.end - at
        if left <= 0:
            return End(at, Reason.END)
        if len(head) < min(left, b.V2.size):
            raise BadFormat(Reason.TRUNCATED, f"the file ends at {at + len(head)}")
        if not any(head):
            return self._zeros(at)
        if left <= b.UP_TO_MAGIC:
            raise BadFormat(Reason.TRUNCATED, f"{left} bytes of a header")
        length = int.from_bytes(head[8 : b.OVERHEAD], "big", signed=True)
        if length + b.OVERHEAD > left:
            raise BadFormat(Reason.TRUNCATED, f"{left} bytes of {length + b.OVERHEAD}")
        return None

    def _zeros(self, at: int) -> End:
        next_data: Callable[[int], int] = getattr(self.read_at, "next_data", lambda where: where)
        position = next_data(at)
        while self.check_crc and position < self.end:
            piece = self.read_at(position, min(self.chunk, self.end - position))
            if not piece:
                break
            if piece != bytes(len(piece)):
                data = position + len(piece) - len(piece.lstrip(b"\0"))
                return End(at, Reason.HOLE, f"zeros up to {data}, data again from there")
            position = next_data(position + len(piece))
        return End(at, Reason.ZEROS)

    def _must_follow(self, header: BatchHeader, last: int) -> None:
        first = header.last_offset if header.base_offset is None else header.base_offset
        if first <= last:
            raise BadFormat(Reason.ORDER, f"{first} follows {last}")
        if header.last_offset > self._ceiling:
            detail = f"{header.last_offset} is too far from the segment's {self.base_offset}"
            raise BadFormat(Reason.OFFSETS, detail)

    def _must_be_whole(self, header: BatchHeader, at: int, window: memoryview) -> None:
        """Check the CRC of the batch, first over the window, then over the rest in pieces."""
        if not self.check_crc:
            return
        add = crc32c if header.magic >= 2 else zlib.crc32
        skip = b.V2_CRC_FROM if header.magic >= 2 else b.LEGACY_CRC_FROM
        crc, position, stop = 0, at + skip, at + header.length
        piece = window[skip : header.length]
        while position < stop:
            if not piece:
                piece = memoryview(self.read_at(position, min(self.chunk, stop - position)))
            if not piece:
                raise BadFormat(Reason.TRUNCATED, f"the file ends at {position}")
            crc, position, piece = add(piece, crc), position + len(piece), piece[:0]
        if crc != header.crc:
            raise BadFormat(Reason.CRC, f"{crc:08x} found, {header.crc:08x} written")
