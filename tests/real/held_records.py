"""The records that a replica's files hold, read without our scanner: whatever has its CRC, also
behind what a broker would take for the log's end."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from crc32c import crc32c

_HEADER = 61
_LENGTH, _EPOCH, _CRC, _COVERED, _COUNT = 8, 12, 17, 21, 57


@dataclass(frozen=True, slots=True)
class Record:
    """epoch: of the leader that wrote it; it lies outside of the CRC, and tells no two apart."""

    offset: int
    value: bytes
    epoch: int = field(default=0, compare=False)


def held_records(replica: Path) -> frozenset[Record]:
    segments = sorted(replica.glob("*.log"))
    return frozenset(record for path in segments for record in records_in(path.read_bytes()))


def records_in(data: bytes) -> Iterator[Record]:
    """Yield the records of whole uncompressed batches of format 2; skip what is between."""
    at = 0
    while at + _HEADER <= len(data):
        (length,) = struct.unpack_from(">i", data, at + _LENGTH)
        end = at + _LENGTH + 4 + length
        if end < at + _HEADER or end > len(data) or not _sound(data, at, end):
            at += 1
            continue
        yield from _records(data, at, end)
        at = end


def _sound(data: bytes, at: int, end: int) -> bool:
    crc: int = struct.unpack_from(">I", data, at + _CRC)[0]
    return crc == int(crc32c(data[at + _COVERED : end]))


def _records(data: bytes, at: int, end: int) -> Iterator[Record]:
    (base,) = struct.unpack_from(">q", data, at)
    (epoch,) = struct.unpack_from(">i", data, at + _EPOCH)
    (count,) = struct.unpack_from(">i", data, at + _COUNT)
    place = at + _HEADER
    for _ in range(count):
        size, place = _varint(data, place)
        after = place + size
        _, place = _varint(data, place + 1)
        delta, place = _varint(data, place)
        key, place = _varint(data, place)
        value, place = _varint(data, place + max(key, 0))
        yield Record(base + delta, data[place : place + max(value, 0)], epoch)
        place = after


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return (the number, where it ends)."""
    shift = number = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return (number >> 1) ^ -(number & 1), at
