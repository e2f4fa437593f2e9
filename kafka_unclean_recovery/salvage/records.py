"""Batches are decoded to records, one batch at a time.

The record classes are kafka-python's; they get the batch already decompressed, within a bound.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from kafka.errors import CorruptRecordError
from kafka.record import default_records, legacy_records

from kafka_unclean_recovery.log_dir.errors import BadFormat, excerpt
from kafka_unclean_recovery.log_dir.segments.batches import (
    CODEC_MASK,
    LEGACY,
    OVERHEAD,
    V2,
    BatchHeader,
)
from kafka_unclean_recovery.salvage.codecs import decompress
from kafka_unclean_recovery.salvage.counting import check_count, check_values

LARGEST_BATCH = 256 << 20
"""The largest batch that is decoded, in bytes, before and after decompression. Brokers take batches
of 1 MiB by default."""

_NONE = -1
_MAX_SEQUENCE = 0x7FFFFFFF
_LOG_APPEND_TIME = 0x08
_ATTRIBUTES = struct.Struct(">h")
_ATTRIBUTES_AT = 21
# The key of a control record holds its version, then its type.
_CONTROL_KEY = struct.Struct(">hh")
_CONTROL_TYPES = {0: "abort", 1: "commit"}
_SIZE = struct.Struct(">i")

_V2_BATCH: Any = default_records.DefaultRecordBatch
_LEGACY_MESSAGE: Any = legacy_records.LegacyRecordBatch

Headers = tuple[tuple[str, bytes | None], ...]


class TimestampType(StrEnum):
    CREATE = "create"
    LOG_APPEND = "log_append"


@dataclass(frozen=True, slots=True)
class Record:
    """A decoded record. A field that the record or its format lacks is None.

    timestamp: ms since 1970. control: the type of a control record: "commit" or "abort" for a
    marker, "control N" for any other.
    """

    offset: int
    leader_epoch: int | None
    timestamp: int | None
    timestamp_type: TimestampType | None
    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    producer_id: int | None = None
    producer_epoch: int | None = None
    sequence: int | None = None
    transactional: bool = False
    control: str | None = None


def decode(header: BatchHeader, batch: bytes, most: int = LARGEST_BATCH) -> list[Record]:
    """Return all records of a batch whose CRC holds. Raises BadFormat when any of them can't be
    read, or when they unfold to more than `most` bytes, or more of them than are held at once."""
    try:
        return list(_v2(header, batch, most) if header.magic >= 2 else _old(header, batch, most))
    except (CorruptRecordError, ValueError, IndexError, struct.error) as error:
        raise BadFormat("records", excerpt(str(error))) from None


def _v2(header: BatchHeader, batch: bytes, most: int) -> Iterator[Record]:
    check_count(header.record_count or 0)
    body = decompress(header.codec, batch[V2.size :], most)
    check_values(body)
    plain = _ATTRIBUTES.pack(header.attributes & ~CODEC_MASK)
    head = batch[:_ATTRIBUTES_AT] + plain + batch[_ATTRIBUTES_AT + _ATTRIBUTES.size : V2.size]
    last = header.last_offset
    for found in _V2_BATCH(head + body):
        if not (header.base_offset or 0) <= found.offset <= last:
            raise BadFormat("records", f"offset {found.offset} is not in a batch up to {last}")
        yield Record(
            found.offset,
            _known(header.leader_epoch),
            _known(found.timestamp),
            _time_type(header),
            found.key,
            found.value,
            tuple(found.headers),
            _known(header.producer_id),
            _known(header.producer_epoch),
            _sequence(header, found.offset),
            header.is_transactional,
            control_type(found.key) if header.is_control else None,
        )


def _sequence(header: BatchHeader, offset: int) -> int | None:
    """Return the record's sequence number, which rises with the offset and begins at 0 again after
    the largest."""
    if header.base_sequence == _NONE or header.base_offset is None:
        return None
    return (header.base_sequence + offset - header.base_offset) & _MAX_SEQUENCE


def control_type(key: bytes | None) -> str:
    """Return the type that the key of a control record tells. Raises struct.error for a key that is
    too short. Source: org.apache.kafka.common.record.ControlRecordType."""
    _, kind = _CONTROL_KEY.unpack_from(key or b"")
    return _CONTROL_TYPES.get(kind, f"control {kind}")


def _old(header: BatchHeader, batch: bytes, most: int) -> Iterator[Record]:
    """Yield the records of a batch of format 0 or 1. The messages that a compressed message wraps
    have offsets of their own in format 0. In format 1 they count from 0, and the wrapper has the
    offset of the last message."""
    if header.codec == "none":
        yield from _messages(header, batch, header.last_offset)
        return
    wrapped: list[tuple[int, bytes]] = []
    for each in _split(decompress(header.codec, _value(header, batch), most)):
        wrapped.append(each)
        check_count(len(wrapped))
    if not wrapped:
        raise BadFormat("records", "a compressed message wraps none")
    shift = header.last_offset - wrapped[-1][0] if header.magic == 1 else 0
    for offset, message in wrapped:
        if message[LEGACY.size - 1] & CODEC_MASK or message[LEGACY.size - 2] != header.magic:
            raise BadFormat("records", "a compressed message wraps one that is compressed too")
        yield from _messages(header, message, offset + shift)


def _messages(header: BatchHeader, message: bytes, offset: int) -> Iterator[Record]:
    for found in _LEGACY_MESSAGE(message, header.magic):
        appended = header.magic == 1 and bool(header.attributes & _LOG_APPEND_TIME)
        timestamp = header.max_timestamp if appended else found.timestamp
        kind = _time_type(header) if header.magic == 1 else None
        yield Record(offset, None, _known(timestamp), kind, found.key, found.value)


def _value(header: BatchHeader, batch: bytes) -> bytes:
    position = LEGACY.size + (8 if header.magic == 1 else 0)
    for _ in range(2):
        (size,) = _SIZE.unpack_from(batch, position)
        start = position + _SIZE.size
        position = start + max(size, 0)
    return batch[start:position]


def _split(messages: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield (offset, message) for each message of a set. A message begins with its offset and the
    length of the rest."""
    position = 0
    while position < len(messages):
        offset, length, *_ = LEGACY.unpack_from(messages, position)
        stop = position + OVERHEAD + length
        if length < LEGACY.size - OVERHEAD or stop > len(messages):
            raise BadFormat("records", f"a wrapped message of {length} bytes")
        yield offset, messages[position:stop]
        position = stop


def _time_type(header: BatchHeader) -> TimestampType:
    appended = bool(header.attributes & _LOG_APPEND_TIME)
    return TimestampType.LOG_APPEND if appended else TimestampType.CREATE


def _known(value: int | None) -> int | None:
    return None if value == _NONE else value
