"""Encode record batches of the metadata log: message format 2, uncompressed, as KRaft writes them
(batches.py has the layout). Pure."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from crc32c import crc32c

_MAGIC = 2
_BEFORE_CRC = struct.Struct(">qiibI")
_AFTER_CRC = struct.Struct(">hiqqqhii")
# `length` counts the fields that follow it: leader epoch, magic and CRC, then the fields that the
# CRC covers.
_COUNTED_BEFORE_CRC = 9
_NO_PRODUCER = (-1, -1, -1)
_NO_KEY = b"\1"  # The number -1 in zigzag encoding.
# These are the attributes of the record and the time since the batch's first record, both zero.
_RECORD_BEGINS = b"\0\0"
_NO_HEADERS = b"\0"


def unsigned_varint(value: int) -> bytes:
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def string(text: str | None) -> bytes:
    """Return a text in Kafka's flexible encoding (layouts.py)."""
    if text is None:
        return b"\0"
    data = text.encode()
    return unsigned_varint(len(data) + 1) + data


def encode_batch(
    records: Sequence[tuple[bytes | None, bytes]],
    attributes: int,
    base_offset: int,
    leader_epoch: int,
    time_ms: int,
) -> bytes:
    """Return a batch. `records`: the key, None for none, and the value; `time_ms`: of all of them,
    ms since the Unix epoch."""
    count = len(records)
    covered = _AFTER_CRC.pack(attributes, count - 1, time_ms, time_ms, *_NO_PRODUCER, count)
    covered += b"".join(_record(delta, *each) for delta, each in enumerate(records))
    length = _COUNTED_BEFORE_CRC + len(covered)
    header = _BEFORE_CRC.pack(base_offset, length, leader_epoch, _MAGIC, crc32c(covered))
    return header + covered


def _record(delta: int, key: bytes | None, value: bytes) -> bytes:
    begins = (_RECORD_BEGINS, unsigned_varint(delta << 1))
    return _sized(
        b"".join((*begins, _NO_KEY if key is None else _sized(key), _sized(value))) + _NO_HEADERS
    )


def _sized(data: bytes) -> bytes:
    """Return data after its length, a varint in zigzag: twice the number, never negative here."""
    return unsigned_varint(len(data) << 1) + data
