"""Parse the headers of the batches in a segment, in message formats 0, 1 and 2.

Source: org.apache.kafka.common.record.DefaultRecordBatch, LegacyRecord, AbstractLegacyRecordBatch.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from enum import StrEnum

from crc32c import crc32c

from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.small_files.text_lines import INT64_MAX

Buffer = bytes | bytearray | memoryview

# Every format begins alike, big-endian; `length` counts the bytes that follow it:
#
#     0  int64   offset      8  int32  length      16  int8  magic
#
# Format 2 has 61 bytes and then the records. The base offset and the last offset stay as they are
# when compaction takes records out. `leader epoch` is -1 where none is known.
#
#      0  int64   base offset                23  int32   last offset, less the base offset
#      8  int32   length                     27  int64   base timestamp, ms, or the delete horizon
#     12  int32   partition leader epoch     35  int64   max timestamp, ms
#     16  int8    magic                      43  int64   producer id, or -1
#     17  uint32  CRC-32C of all after it    51  int16   producer epoch, or -1
#     21  int16   attributes                 53  int32   base sequence, or -1
#                                            57  int32   record count
#
# The CRC does not cover the fields before it (base offset, length, leader epoch, magic). A broker
# reads every magic from 2 on, up to 127, as format 2.
V2 = struct.Struct(">qiibIhiqqqhii")
V2_CRC_FROM = 21

# Formats 0 and 1 have one message: 26 or 34 bytes, without key and value.
#
#      0  int64   offset                     17  int8    attributes
#      8  int32   length                     18  int64   timestamp, ms; format 1 only
#     12  uint32  CRC-32 of all after it         int32   key size, key, int32 value size, value
#     16  int8    magic
#
# A compressed message wraps a set of others in its value. In both formats its offset is the offset
# of the last of them; the first offset is known only after decompressing.
LEGACY = struct.Struct(">qiIbb")
LEGACY_CRC_FROM = 16
_TIMESTAMP = struct.Struct(">q")

# The sizes are those of `offset` and `length`, which `length` does not count; of all up to the
# magic; and the least `length` by magic.
OVERHEAD = 12
UP_TO_MAGIC = 17
_LARGEST_MAGIC = 127
LEAST_LENGTH = {0: 14, 1: 22, 2: V2.size - OVERHEAD}

# The bits of the attributes: 0-2 codec, 3 log append time, 4 transactional, 5 control, 6 delete
# horizon. The old formats have the codec only, and format 1 also bit 3.
CODEC_MASK, TRANSACTIONAL, CONTROL = 0x07, 0x10, 0x20
CODECS = ("none", "gzip", "snappy", "lz4", "zstd", "codec 5", "codec 6", "codec 7")


class Reason(StrEnum):
    """The reason why a walk over batches ends; also `BadFormat.what` of a bad header."""

    END = "end"
    ZEROS = "zeros"
    HOLE = "zeros before data"
    TRUNCATED = "truncated batch"
    LENGTH = "batch length"
    MAGIC = "batch magic"
    CRC = "batch crc"
    OFFSETS = "batch offsets"
    COUNT = "batch record count"
    ORDER = "offset order"


@dataclass(frozen=True, slots=True)
class BatchHeader:
    """The header of one batch. Both offsets are inclusive; times in ms; `length` is the whole batch
    in bytes.

    In the old formats, `base_offset` and `record_count` are None for a compressed message (a
    message that is not compressed is a batch of one), `leader_epoch` is None, and fields that the
    format lacks are -1.
    """

    base_offset: int | None
    last_offset: int
    length: int
    magic: int
    crc: int
    leader_epoch: int | None
    attributes: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int | None

    @property
    def known(self) -> bool:
        """Return False for a magic that no broker writes; brokers keep it, nobody reads it."""
        return self.magic in LEAST_LENGTH

    @property
    def codec(self) -> str:
        return CODECS[self.attributes & CODEC_MASK]

    @property
    def is_transactional(self) -> bool:
        """Return True for a batch written inside a transaction, and for its end marker."""
        return self.magic >= 2 and bool(self.attributes & TRANSACTIONAL)

    @property
    def is_control(self) -> bool:
        """Return True for a marker of Kafka's (commit, abort ...), which consumers never see."""
        return self.magic >= 2 and bool(self.attributes & CONTROL)


def parse_header(buffer: Buffer, position: int = 0) -> BatchHeader:
    """Parse the header at `position`; the rest of the batch need not be there.

    Raises BadFormat, its `what` being a Reason: TRUNCATED, LENGTH, MAGIC, OFFSETS or COUNT.
    """
    if position < 0 or len(buffer) - position < UP_TO_MAGIC:
        raise BadFormat(Reason.TRUNCATED, "the header is not all there")
    magic = buffer[position + UP_TO_MAGIC - 1]
    length = int.from_bytes(buffer[position + 8 : position + OVERHEAD], "big", signed=True)
    if length < LEAST_LENGTH[0]:
        raise BadFormat(Reason.LENGTH, f"{length} is too small for any")
    if magic > _LARGEST_MAGIC:
        raise BadFormat(Reason.MAGIC, f"{magic} is not known")
    if length < LEAST_LENGTH[min(magic, 2)]:
        raise BadFormat(Reason.LENGTH, f"{length} is too small for format {min(magic, 2)}")
    try:
        return _v2(buffer, position) if magic >= 2 else _legacy(buffer, position)
    except struct.error:
        raise BadFormat(Reason.TRUNCATED, "the header is not all there") from None


def _v2(buffer: Buffer, position: int) -> BatchHeader:
    (
        base,
        length,
        epoch,
        magic,
        crc,
        attributes,
        delta,
        base_timestamp,
        max_timestamp,
        producer_id,
        producer_epoch,
        base_sequence,
        count,
    ) = V2.unpack_from(buffer, position)
    if base < 0 or delta < 0 or base + delta > INT64_MAX:
        raise BadFormat(Reason.OFFSETS, f"base offset {base}, last {delta} after it")
    if count < 0:
        raise BadFormat(Reason.COUNT, str(count))
    return BatchHeader(
        base,
        base + delta,
        length + OVERHEAD,
        magic,
        crc,
        epoch,
        attributes,
        base_timestamp,
        max_timestamp,
        producer_id,
        producer_epoch,
        base_sequence,
        count,
    )


def _legacy(buffer: Buffer, position: int) -> BatchHeader:
    offset, length, crc, magic, attributes = LEGACY.unpack_from(buffer, position)
    if offset < 0:
        raise BadFormat(Reason.OFFSETS, f"offset {offset}")
    time = _TIMESTAMP.unpack_from(buffer, position + LEGACY.size)[0] if magic == 1 else -1
    whole, compressed = length + OVERHEAD, attributes & CODEC_MASK
    base, count = (None, None) if compressed else (offset, 1)
    return BatchHeader(
        base, offset, whole, magic, crc, None, attributes, time, time, -1, -1, -1, count
    )


def check_crc(header: BatchHeader, buffer: Buffer, position: int = 0) -> bool:
    """Return whether the batch at `position`, whose header is `header`, is as it was written.
    Raises BadFormat (TRUNCATED) when it is not all there."""
    end = position + header.length
    if end > len(buffer):
        raise BadFormat(Reason.TRUNCATED, f"{end - len(buffer)} bytes are missing")
    view = memoryview(buffer)
    if header.magic >= 2:
        return crc32c(view[position + V2_CRC_FROM : end]) == header.crc
    return zlib.crc32(view[position + LEGACY_CRC_FROM : end]) == header.crc
