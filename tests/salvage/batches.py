"""Batches as producers and brokers write them, by kafka-python's builders."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any

from crc32c import crc32c
from kafka.record import default_records, legacy_records

from tests.log_dir.segments import v2

CODECS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
_NEW: Any = default_records.DefaultRecordBatchBuilder
_OLD: Any = legacy_records.LegacyRecordBatchBuilder

Fields = tuple[int, bytes | None, bytes | None, Sequence[tuple[str, bytes | None]]]
"""Timestamp (ms), key, value, headers."""


def batch(
    base: int,
    records: Sequence[Fields],
    *,
    codec: str = "none",
    epoch: int = 0,
    producer: tuple[int, int, int] = (-1, -1, -1),
    transactional: bool = False,
    attributes: int = 0,
) -> bytes:
    """Return a batch of format 2. producer: its id, its epoch, the sequence of the first record.
    attributes: bits to set beside those of the codec and of the transaction."""
    id_, producer_epoch, sequence = producer
    builder = _NEW(
        2,
        CODECS[codec],
        is_transactional=transactional,
        producer_id=id_,
        producer_epoch=producer_epoch,
        base_sequence=sequence,
        batch_size=1 << 30,
    )
    for place, (timestamp, key, value, headers) in enumerate(records):
        builder.append(place, timestamp, key, value, list(headers))
    built = bytearray(builder.build())
    return placed(bytes(built), base, epoch, attributes)


def placed(built: bytes, base: int, epoch: int, attributes: int = 0) -> bytes:
    """Return the batch as the leader stores it, its CRC made right."""
    (before,) = struct.unpack_from(">h", built, 21)
    covered = struct.pack(">h", before | attributes) + built[23:]
    head = struct.pack(">qiibI", base, len(covered) + 9, epoch, 2, crc32c(covered))
    return head + covered


def numbered(base: int, count: int, **fields: Any) -> bytes:
    """Return records whose values are their offsets."""
    return batch(
        base, [(1000 + n, None, b"%d" % n, ()) for n in range(base, base + count)], **fields
    )


def marker(base: int, *, commit: bool, producer: tuple[int, int] = (7, 0), epoch: int = 0) -> bytes:
    """Return the end of a transaction, as a broker writes it: one control record."""
    key = struct.pack(">hh", 0, int(commit))
    value = struct.pack(">hi", 0, 3)
    body = b"\x00\x00\x00" + _sized(key) + _sized(value) + b"\x00"
    record = _varint(len(body)) + body
    plain = v2(base, 1, attributes=0x30, body=record, epoch=epoch)
    covered = bytearray(plain[21:])
    struct.pack_into(">qh", covered, 22, *producer)
    return plain[:17] + struct.pack(">I", crc32c(bytes(covered))) + bytes(covered)


def _sized(data: bytes) -> bytes:
    return _varint(len(data)) + data


def _varint(value: int) -> bytes:
    assert 0 <= value < 64
    return bytes([value << 1])


def old(
    magic: int, codec: str, base: int, records: Iterable[tuple[int, bytes | None, bytes | None]]
) -> bytes:
    """Return one compressed message of format 0 or 1 with these (timestamp, key, value); its offset
    is that of the last, and in format 1 those that it wraps count from 0."""
    builder = _OLD(magic, CODECS[codec], 1 << 20)
    rows = list(records)
    for place, (timestamp, key, value) in enumerate(rows):
        builder.append(place if magic == 1 else base + place, timestamp, key, value)
    return struct.pack(">q", base + len(rows) - 1) + bytes(builder.build())[8:]
