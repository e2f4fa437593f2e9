"""Recover one segment as a broker does, where the fast walk found offsets that a broker takes
another way: a fall, or an offset too far from the segment's name.

A broker checks the CRC of each batch, and its offset only when it builds the index: about every
4 KiB (index.interval.bytes) the last offset of a batch must lie above that of the entry before,
else the segment is emptied whole. An offset that does not fit the index, 2^31 or more above the
segment's name, splits the segment.

Source: org.apache.kafka.storage.internals.log.LogSegment (recover, hasOverflow), OffsetIndex and
TimeIndex (append), LogLoader.recoverLog, LocalLog.splitOverflowedSegment.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from crc32c import crc32c

from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.metadata.codec import Reader
from kafka_unclean_recovery.log_dir.segments import batches as b
from kafka_unclean_recovery.log_dir.segments.batch_runs import Run
from kafka_unclean_recovery.log_dir.small_files.text_lines import INT32_MAX
from kafka_unclean_recovery.log_dir.start.fate import EndsBroker
from kafka_unclean_recovery.log_dir.start.next_offset import (
    Head,
    ReadAt,
    heads,
    legacy_crc_fits,
    next_offset,
)

_INDEX_INTERVAL = 4096
INT8_MAX = 127
_LARGEST_MAGIC = 2
_NO_TIME = -1
_TIMESTAMP = struct.Struct(">q")


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes [start, stop) of a segment's file, as a segment that begins at `base_offset`."""

    base_offset: int
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Recovered:
    """A part after its recovery: bytes up to `valid` are kept. end: exclusive; older: as brokers
    before 4.0 read it. emptied: nothing of it is kept, because the index can't be built."""

    part: Part
    valid: int
    end: int
    older: int
    runs: tuple[Run, ...]
    emptied: bool = False

    @property
    def cut(self) -> bool:
        return self.valid < self.part.stop


class _Falls(Exception):
    """The offsets fall where an entry of the index is due."""


class _Overflows(Exception):
    """An offset does not fit the index of the segment."""


def recover(read_at: ReadAt, base_offset: int, size: int) -> list[Recovered]:
    """Return the segments that a broker makes of this one, by offset. Raises EndsBroker."""
    parts = [Part(base_offset, 0, size)]
    done: list[Recovered] = []
    while parts:
        part = parts.pop(0)
        index = _Index(part.base_offset)
        try:
            done.append(_recovered(read_at, part, index))
        except _Falls:
            end = part.base_offset
            done.append(Recovered(part, part.start, end, end, (), emptied=True))
        except _Overflows:
            parts = [*_split(read_at, part, index), *parts]
    return sorted(done, key=lambda each: each.part.base_offset)


@dataclass(slots=True)
class _Index:
    """The indexes that a recovery builds, as far as they decide. tail: the batches from the last
    entry on."""

    base_offset: int
    offset: int | None = None
    position: int = 0
    tail: list[Head] = field(default_factory=list)
    time: tuple[int, int] = (_NO_TIME, -1)
    last_time: tuple[int, int] = (_NO_TIME, -1)

    def take(self, head: Head, position: int, time: int) -> None:
        """Take a batch that begins `position` bytes behind the start of its segment."""
        if not 0 <= head.last - self.base_offset <= INT32_MAX:
            raise _Overflows
        if time > self.time[0]:
            self.time = time, head.last
        if position - self.position > _INDEX_INTERVAL:
            if self.offset is not None and head.last <= self.offset:
                raise _Falls
            self.offset, self.position, self.tail = head.last, position, []
            self.append_time()
        self.tail.append(head)

    def append_time(self) -> None:
        time, offset = self.time
        if self.last_time[0] != _NO_TIME and offset < self.last_time[1]:
            raise _Falls
        if time > self.last_time[0]:
            self.last_time = time, offset


def _recovered(read_at: ReadAt, part: Part, index: _Index) -> Recovered:
    valid = part.start
    runs: list[Run] = []
    aborted = _Aborted()
    for head, time, data in _sound(read_at, part):
        index.take(head, valid - part.start, time)
        aborted.take(head, data)
        valid += head.size
        runs.append(head.run)
    index.append_time()
    target = part.base_offset if index.offset is None else index.offset
    found = next_offset(index.tail, target, part.base_offset)
    return Recovered(part, valid, found.end, found.older, tuple(runs))


@dataclass(slots=True)
class _Aborted:
    """The transaction index that a recovery builds: the offsets of markers that abort."""

    last: int | None = None
    ended: set[int] = field(default_factory=set)

    def take(self, head: Head, data: bytes) -> None:
        if data[b.UP_TO_MAGIC - 1] < 2 or data[b.UP_TO_MAGIC - 1] > INT8_MAX:
            return
        header = b.V2.unpack_from(data)
        attributes, producer = header[5], header[9]
        if not attributes & b.TRANSACTIONAL:
            return
        if not attributes & b.CONTROL:
            self.ended.discard(producer)
        elif producer not in self.ended:
            self.ended.add(producer)
            if not _commits(data):
                self._append(head.last)

    def _append(self, offset: int) -> None:
        if self.last is not None and offset <= self.last:
            raise EndsBroker(
                f"a transaction is aborted at offset {self.last}, and behind that at {offset}: the"
                " transaction index can't be built"
            )
        self.last = offset


def _commits(data: bytes) -> bool:
    """Return whether the marker commits; one that can't be read counts as one that does."""
    record = Reader(data[b.V2.size :], "marker")
    try:
        record.varint()  # the length of the rest
        record.take(1)  # attributes
        record.varlong()  # the time
        record.varint()  # the offset
        key = record.take(record.varint())
    except BadFormat:
        return True
    return len(key) < 4 or key[3] != 0


def _sound(read_at: ReadAt, part: Part) -> Iterator[tuple[Head, int, bytes]]:
    """Yield (batch, its largest timestamp, its bytes) up to the first that is not sound."""
    try:
        for head in heads(read_at, part.start, part.stop):
            data = read_at(head.position, head.size)
            magic = _magic(data)
            least = b.V2.size if magic == _LARGEST_MAGIC else b.OVERHEAD + b.LEAST_LENGTH[0]
            if len(data) < max(head.size, least) or not _crc_fits(data, magic):
                return
            yield head, _largest_timestamp(data, magic), data
    except EndsBroker:
        # A recovery takes the wrong size of a batch for the end of the log.
        return


def _magic(data: bytes) -> int:
    """Return the format as which a broker reads the batch: it takes a byte that is none for the
    newest, and one that is negative for the oldest."""
    found = data[b.UP_TO_MAGIC - 1]
    return 0 if found > INT8_MAX else min(found, _LARGEST_MAGIC)


def _crc_fits(data: bytes, magic: int) -> bool:
    if magic == _LARGEST_MAGIC:
        return bool(crc32c(data[b.V2_CRC_FROM :]) == b.V2.unpack_from(data)[4])
    return legacy_crc_fits(data)


def _largest_timestamp(data: bytes, magic: int) -> int:
    if magic == _LARGEST_MAGIC:
        largest: int = b.V2.unpack_from(data)[8]
        return largest
    if magic == 1 and len(data) >= b.LEGACY.size + _TIMESTAMP.size:
        found: int = _TIMESTAMP.unpack_from(data, b.LEGACY.size)[0]
        return found
    return _NO_TIME


def _split(read_at: ReadAt, part: Part, index: _Index) -> list[Part]:
    """Return the parts that a broker splits this one into. Raises EndsBroker."""
    found = list(heads(read_at, part.start, part.stop))
    target = part.base_offset if index.offset is None else index.offset
    tail = [head for head in found if head.position >= part.start + index.position]
    end = next_offset(tail, target, part.base_offset).end
    if end - 1 - part.base_offset <= INT32_MAX:
        raise EndsBroker(f"offsets fall below the segment's name, {part.base_offset}")
    if found[-1].position + found[-1].size != part.stop:
        raise EndsBroker(
            f"segment {part.base_offset} has offsets too far from its name, and is torn: a broker"
            " can't split it"
        )
    for head in found:
        if read_at(head.position + b.UP_TO_MAGIC - 1, 1)[0] > _LARGEST_MAGIC:
            raise EndsBroker(
                f"the batch at byte {head.position} has a magic byte that is none, and its segment"
                " has to be split"
            )
    starts = _starts(found)
    if starts[0].wraps and starts[0].last - part.base_offset <= INT32_MAX:
        # Its first offset is within, where the segment begins as a rule. One that is too far from
        # the segment's name begins another, at its last offset at most.
        starts[0] = replace(starts[0], base=part.base_offset)
    stops = [*(start.position for start in starts[1:]), part.stop]
    return [
        Part(start.base, start.position, stop) for start, stop in zip(starts, stops, strict=True)
    ]


def _starts(found: Sequence[Head]) -> list[Head]:
    starts = [found[0]]
    for head in found:
        if not 0 <= head.last - starts[-1].base <= INT32_MAX:
            starts.append(head)
            if head.last < head.base:
                raise EndsBroker(f"the batch at byte {head.position} ends before it begins")
    return starts
