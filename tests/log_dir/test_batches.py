"""Headers of batches of every format: our encoder's, kafka-python's, and a broker's."""

from __future__ import annotations

import contextlib
import json
import struct
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.record import memory_records

from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.segments.batches import (
    BatchHeader,
    Buffer,
    Reason,
    check_crc,
    parse_header,
)
from tests.log_dir.segments import legacy, outcome, v2

# The first batch of a topic of each codec, and a partition with a committed, an aborted and an
# open transaction.
OF_A_BROKER = {
    name: bytes.fromhex(value)
    for name, value in json.loads(
        (Path(__file__).parent / "batches_of_4.3.1.json").read_text()
    ).items()
}
BUILDER: Any = memory_records.MemoryRecordsBuilder
NAMES = {0: "none", 1: "gzip", 2: "snappy", 3: "lz4", 4: "zstd"}


def whole_check(buffer: Buffer, position: int = 0) -> bool:
    return check_crc(parse_header(buffer, position), buffer, position)


def test_every_field_of_format_2() -> None:
    body = struct.pack(">hiqqqhii", 0x34, 4, 11, 12, 13, 14, 15, 5)
    data = b"junk" + struct.pack(">qiibI", 100, 49, 7, 2, 99) + body
    expected = BatchHeader(100, 104, 61, 2, 99, 7, 0x34, 11, 12, 13, 14, 15, 5)
    header = parse_header(data, 4)
    assert header == expected
    assert (header.codec, header.is_transactional, header.is_control) == ("zstd", True, True)


@pytest.mark.parametrize("magic", [0, 1])
def test_a_message_of_the_old_formats_is_a_batch_of_one(magic: int) -> None:
    header = parse_header(legacy(9, magic=magic, value=b"abc"))
    time = 3000 if magic else -1
    size = 37 if magic else 29
    crc = header.crc
    assert header == BatchHeader(9, 9, size, magic, crc, None, 0, time, time, -1, -1, -1, 1)
    assert not header.is_control


@pytest.mark.parametrize("magic", [3, 66, 127])
def test_a_magic_above_2_is_read_as_format_2(magic: int) -> None:
    """A broker keeps such a batch: the magic lies outside of the CRC."""
    good = v2(9, 3, epoch=4)
    header = parse_header(good[:16] + bytes([magic]) + good[17:])
    assert header == replace(parse_header(good), magic=magic)
    assert check_crc(header, good)
    assert (header.known, parse_header(good).known) == (False, True)


@pytest.mark.parametrize("magic", [0, 1])
def test_of_a_compressed_old_message_only_the_last_offset_is_known(magic: int) -> None:
    header = parse_header(legacy(9, magic=magic, attributes=0x31))
    assert (header.base_offset, header.last_offset, header.record_count) == (None, 9, None)
    assert (header.codec, header.is_transactional, header.is_control) == ("gzip", False, False)


# zstd came with format 2.
FORMATS = [(m, c) for m in (0, 1, 2) for c in NAMES if m == 2 or NAMES[c] != "zstd"]


@pytest.mark.parametrize(("magic", "codec"), FORMATS)
def test_batches_of_kafka_python(magic: int, codec: int) -> None:
    builder = BUILDER(magic=magic, compression_type=codec, batch_size=1 << 20)
    for number in range(5):
        builder.append(1000 + number, b"key", b"value" * 20)
    builder.close()
    data = bytes(builder.buffer())
    header = parse_header(data)
    assert check_crc(header, data)
    assert header.codec == NAMES[codec]
    whole_set = magic == 2 or codec
    assert header.length == (len(data) if whole_set else len(data) // 5)
    if magic == 2:
        assert (header.base_offset, header.last_offset, header.record_count) == (0, 4, 5)
        assert (header.base_timestamp, header.max_timestamp) == (1000, 1004)


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_batches_of_a_broker(codec: str) -> None:
    data = OF_A_BROKER[codec]
    header = parse_header(data)
    assert (header.codec, header.length, header.leader_epoch) == (codec, len(data), 0)
    assert (header.base_offset, header.is_transactional) == (0, False)
    assert header.record_count == header.last_offset + 1
    assert check_crc(header, data)


def test_transactions_of_a_broker() -> None:
    data, position, seen = OF_A_BROKER["transactions"], 0, []
    while position < len(data):
        header = parse_header(data, position)
        assert check_crc(header, data, position)
        seen.append((header.base_offset, header.is_transactional, header.is_control))
        position += header.length
    markers = [control for _, _, control in seen]
    assert seen == [(offset, True, control) for offset, control in enumerate(markers)]
    assert markers == [False, True, False, True, False]


@pytest.mark.parametrize("whole", [v2(5, 3), legacy(5, magic=0), legacy(5, magic=1)])
def test_every_flipped_bit_that_the_crc_covers_is_seen(whole: bytes) -> None:
    covered = 21 if whole[16] == 2 else 16
    for bit in range(covered * 8, len(whole) * 8):
        data = bytearray(whole)
        data[bit // 8] ^= 1 << bit % 8
        with contextlib.suppress(BadFormat):
            assert not whole_check(data)


def length(value: int, magic: int = 2) -> bytes:
    return struct.pack(">qiib", 0, value, 0, magic) + bytes(44)


@pytest.mark.parametrize(
    ("data", "reason", "detail"),
    [
        (b"", Reason.TRUNCATED, "the header is not all there"),
        (v2()[:60], Reason.TRUNCATED, "the header is not all there"),
        (legacy(magic=0)[:17], Reason.TRUNCATED, "the header is not all there"),
        (legacy(magic=1)[:25], Reason.TRUNCATED, "the header is not all there"),
        (length(0), Reason.LENGTH, "0 is too small for any"),
        (length(-1), Reason.LENGTH, "-1 is too small for any"),
        (length(-(2**31)), Reason.LENGTH, "-2147483648 is too small for any"),
        (length(48), Reason.LENGTH, "48 is too small for format 2"),
        (length(21, magic=1), Reason.LENGTH, "21 is too small for format 1"),
        (length(13, magic=0), Reason.LENGTH, "13 is too small for any"),
        (length(48, magic=3), Reason.LENGTH, "48 is too small for format 2"),
        (length(100, magic=-128), Reason.MAGIC, "128 is not known"),
        (length(100, magic=-1), Reason.MAGIC, "255 is not known"),
        (v2(-1), Reason.OFFSETS, "base offset -1, last 0 after it"),
        (v2(2**63 - 1, 2), Reason.OFFSETS, "base offset 9223372036854775807, last 1 after it"),
        (v2(0, 1, delta=-1), Reason.OFFSETS, "base offset 0, last -1 after it"),
        (v2(0, -1, delta=0), Reason.COUNT, "-1"),
        (legacy(-1), Reason.OFFSETS, "offset -1"),
    ],
)
def test_bad_headers(data: bytes, reason: Reason, detail: str) -> None:
    with pytest.raises(BadFormat) as raised:
        parse_header(data)
    assert (raised.value.what, raised.value.detail) == (reason, detail)


def test_no_position_lies_before_the_buffer() -> None:
    with pytest.raises(BadFormat, match="truncated batch"):
        parse_header(v2() * 2, -len(v2()))


def test_a_crc_needs_the_whole_batch() -> None:
    data = v2()
    with pytest.raises(BadFormat, match="truncated batch: 1 bytes are missing"):
        check_crc(parse_header(data), data[:-1])


@given(
    st.integers(0, 2**62),
    st.integers(1, 2**31 - 1),
    st.integers(-1, 2**31 - 1),
    st.integers(-(2**15), 2**15 - 1),
    st.binary(max_size=50),
    st.integers(0, 20),
)
def test_format_2_round_trip(
    base: int, count: int, epoch: int, attributes: int, body: bytes, junk: int
) -> None:
    data = bytes(junk) + v2(base, count, epoch=epoch, attributes=attributes, body=body)
    header = parse_header(memoryview(data), junk)
    assert (header.base_offset, header.last_offset) == (base, base + count - 1)
    assert (header.record_count, header.leader_epoch, header.attributes) == (
        count,
        epoch,
        attributes,
    )
    assert header.length == len(data) - junk
    assert check_crc(header, data, junk)


@given(st.binary(max_size=100), st.integers(-5, 100))
def test_any_bytes_give_a_value_or_bad_format(data: bytes, position: int) -> None:
    headed = length(49)[:17] + data
    for buffer in (data, bytearray(headed), memoryview(headed)):
        said = outcome(partial(whole_check, buffer, position))
        assert not said or Reason(said.partition(":")[0])
