"""This module makes record batches of the metadata log: message format 2, uncompressed, as KRaft
writes them. Pure."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

from crc32c import crc32c

from kafka_unclean_recovery.emulator.disks.metadata_records import unsigned_varint
from kafka_unclean_recovery.log_dir.segments.batches import CONTROL

# KafkaRaftClient.MAX_BATCH_SIZE_BYTES is 8 MiB; a batch here ends at the first record beyond this.
_BATCH_BYTES = 1 << 20
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


def batches(
    values: Sequence[bytes], base_offset: int, leader_epoch: int, time_ms: int
) -> Iterator[bytes]:
    """Yield batches with the values of metadata records, from `base_offset` on."""
    first = size = 0
    for index, value in enumerate(values, 1):
        size += len(value)
        if size >= _BATCH_BYTES or index == len(values):
            found = [(_NO_KEY, each) for each in values[first:index]]
            yield _batch(found, 0, base_offset + first, leader_epoch, time_ms)
            first, size = index, 0


def control_batch(
    key: bytes, value: bytes, base_offset: int, leader_epoch: int, time_ms: int
) -> bytes:
    """Return a batch of one control record, which the quorum writes for itself."""
    return _batch([(_sized(key), value)], CONTROL, base_offset, leader_epoch, time_ms)


def _batch(
    records: Sequence[tuple[bytes, bytes]],
    attributes: int,
    base_offset: int,
    leader_epoch: int,
    time_ms: int,
) -> bytes:
    """Return a batch. `records`: the key with its length, and the value."""
    count = len(records)
    covered = _AFTER_CRC.pack(attributes, count - 1, time_ms, time_ms, *_NO_PRODUCER, count)
    covered += b"".join(_record(delta, *each) for delta, each in enumerate(records))
    length = _COUNTED_BEFORE_CRC + len(covered)
    header = _BEFORE_CRC.pack(base_offset, length, leader_epoch, _MAGIC, crc32c(covered))
    return header + covered


def _record(delta: int, key: bytes, value: bytes) -> bytes:
    body = b"".join((_RECORD_BEGINS, unsigned_varint(delta << 1), key, _sized(value), _NO_HEADERS))
    return _sized(body)


def _sized(data: bytes) -> bytes:
    """Return data after its length, a varint in zigzag: twice the number, never negative here."""
    return unsigned_varint(len(data) << 1) + data
