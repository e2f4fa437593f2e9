"""Batches decoded: what went in comes out, whatever wraps it, and nothing unfolds without bound."""

from __future__ import annotations

import gzip
import struct
import tracemalloc
from typing import Any

import lz4.frame
import pytest
import snappy as untyped_snappy
import zstandard
from crc32c import crc32c
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.segments.batches import BatchHeader, parse_header
from kafka_unclean_recovery.salvage import counting
from kafka_unclean_recovery.salvage.codecs import decompress
from kafka_unclean_recovery.salvage.records import LARGEST_BATCH, Record, TimestampType, decode
from tests.log_dir.segments import legacy, v2
from tests.salvage.batches import CODECS, Fields, batch, marker, numbered, old

lz4_frame: Any = lz4.frame
snappy: Any = untyped_snappy

_maybe = st.none() | st.binary(max_size=200)
_headers = st.lists(st.tuples(st.text(max_size=5), _maybe), max_size=4)
_fields = st.tuples(st.integers(0, 2**41), _maybe, _maybe, _headers)


def _decoded(data: bytes, most: int = 1 << 20) -> list[Record]:
    return decode(parse_header(data), data, most)


@settings(deadline=None)
@given(st.lists(_fields, min_size=1, max_size=20), st.sampled_from(sorted(CODECS)))
def test_what_went_in_comes_out_in_every_codec(records: list[Fields], codec: str) -> None:
    data = batch(50, records, codec=codec, epoch=3)
    found = [(r.timestamp, r.key, r.value, r.headers) for r in _decoded(data)]
    assert found == [(time, key, value, tuple(headers)) for time, key, value, headers in records]
    placed = [(r.offset, r.leader_epoch, r.timestamp_type, r.control) for r in _decoded(data)]
    assert placed == [(50 + n, 3, TimestampType.CREATE, None) for n in range(len(records))]


def test_a_producer_is_told_with_its_sequences_which_begin_again_after_the_largest() -> None:
    data = numbered(10, 3, producer=(7, 2, 2**31 - 2), transactional=True)
    found = [(r.producer_id, r.producer_epoch, r.sequence, r.transactional) for r in _decoded(data)]
    assert found == [(7, 2, 2**31 - 2, True), (7, 2, 2**31 - 1, True), (7, 2, 0, True)]


def test_what_is_not_there_is_none() -> None:
    (found,) = _decoded(batch(0, [(1000, None, None, ())], epoch=-1))
    assert found == Record(0, None, 1000, TimestampType.CREATE, None, None)


def test_the_time_of_appending_is_that_of_the_batch() -> None:
    data = batch(0, [(1000, None, b"a", ()), (1500, None, b"b", ())], attributes=0x08)
    found = [(r.timestamp, r.timestamp_type) for r in _decoded(data)]
    assert found == [(1500, TimestampType.LOG_APPEND)] * 2


@pytest.mark.parametrize(("commit", "kind"), [(True, "commit"), (False, "abort")])
def test_a_marker_says_which_it_is(commit: bool, kind: str) -> None:
    (found,) = _decoded(marker(9, commit=commit, producer=(7, 4)))
    assert (found.offset, found.control, found.transactional) == (9, kind, True)
    assert (found.producer_id, found.producer_epoch) == (7, 4)


@pytest.mark.parametrize(
    ("magic", "codec"), [(0, "gzip"), (0, "snappy"), (1, "gzip"), (1, "snappy"), (1, "lz4")]
)
def test_a_compressed_message_of_the_old_formats_unfolds_with_offsets(
    magic: int, codec: str
) -> None:
    rows = [(100 + n, b"k", None if n == 1 else b"v%d" % n) for n in range(4)]
    found = _decoded(old(magic, codec, 20, rows))
    assert [(r.offset, r.key, r.value) for r in found] == [
        (20 + n, key, value) for n, (_, key, value) in enumerate(rows)
    ]
    times = [100, 101, 102, 103] if magic else [None] * 4
    assert [r.timestamp for r in found] == times


def test_lz4_of_format_0_is_said_to_be_unreadable() -> None:
    # Kafka wrote a wrong header checksum then, and Arrow holds to the right one.
    with pytest.raises(BadFormat, match="lz4"):
        _decoded(old(0, "lz4", 0, [(0, None, b"v" * 100)]))


@pytest.mark.parametrize("magic", [0, 1])
def test_a_plain_message_of_the_old_formats_is_a_record(magic: int) -> None:
    (found,) = _decoded(legacy(5, magic=magic, value=b"v"))
    kind = TimestampType.CREATE if magic else None
    assert found == Record(5, None, 3000 if magic else None, kind, None, b"v")


def test_a_message_within_a_message_within_a_message_is_refused() -> None:
    inner = old(1, "gzip", 0, [(0, None, b"v")])
    with pytest.raises(BadFormat, match="compressed too"):
        _decoded(_wrapping(inner))


def _wrapping(messages: bytes) -> bytes:
    return legacy(0, attributes=1, value=gzip.compress(messages))


BOMB = bytes(64 << 20)


def _packed(codec: str) -> bytes:
    if codec == "gzip":
        return gzip.compress(BOMB)
    if codec == "zstd":
        return zstandard.compress(BOMB)
    if codec == "lz4":
        return bytes(lz4_frame.compress(BOMB))
    block = bytes(snappy.compress(BOMB))
    return _xerial(block) if codec == "xerial" else block


@pytest.mark.parametrize("codec", ["gzip", "snappy", "xerial", "lz4", "zstd"])
def test_what_unfolds_beyond_the_bound_is_refused_and_not_unfolded(codec: str) -> None:
    packed = _packed(codec)
    assert len(packed) < len(BOMB) // 15
    tracemalloc.start()
    try:
        with pytest.raises(BadFormat, match="unfolds to more than 1000000 bytes"):
            decompress(codec.replace("xerial", "snappy"), packed, 1_000_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 16 << 20


def _xerial(block: bytes) -> bytes:
    return b"\x82SNAPPY\x00" + struct.pack(">iii", 1, 1, len(block)) + block


def test_java_blocks_of_snappy_and_a_bare_one_unfold_alike() -> None:
    blocks = b"".join(struct.pack(">i", len(b)) + b for b in map(snappy.compress, (b"one", b"two")))
    assert decompress("snappy", _xerial(b"")[:16] + blocks, 10) == b"onetwo"
    assert decompress("snappy", snappy.compress(b"onetwo"), 10) == b"onetwo"


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd", "codec 5"])
def test_rubbish_and_half_a_stream_are_bad_format(codec: str) -> None:
    with pytest.raises(BadFormat):
        decompress(codec, b"\x01rubbish" * 9, 1000)
    if codec == "gzip":
        with pytest.raises(BadFormat, match="too early"):
            decompress(codec, gzip.compress(b"x" * 1000)[:-9], 10_000)


def test_a_batch_is_decoded_whole_or_not_at_all() -> None:
    whole = numbered(0, 3)
    with pytest.raises(BadFormat, match="records"):
        _decoded(v2(0, 4, body=whole[61:]))
    with pytest.raises(BadFormat, match="records"):
        _decoded(v2(0, 2, body=whole[61:]))
    with pytest.raises(BadFormat, match="records"):
        _decoded(v2(0, 3, body=whole[61:-3]))


def test_an_offset_outside_of_its_batch_is_bad_format() -> None:
    three = numbered(0, 3)
    with pytest.raises(BadFormat, match="offset 2 is not in a batch up to 1"):
        _decoded(v2(0, 3, delta=1, body=three[61:]))


def test_a_compressed_message_tells_the_time_of_appending_for_all_that_it_wraps() -> None:
    inner = b"".join(legacy(place, value=b"v") for place in range(3))
    wrapper = bytearray(legacy(12, attributes=0x09, value=gzip.compress(inner)))
    struct.pack_into(">q", wrapper, 18, 9000)
    found = [(r.offset, r.timestamp, r.timestamp_type) for r in _decoded(bytes(wrapper))]
    assert found == [(offset, 9000, TimestampType.LOG_APPEND) for offset in (10, 11, 12)]


@settings(deadline=None)
@given(st.binary(max_size=120), st.integers(0, 0x3F), st.integers(0, 5))
def test_no_records_however_mad_end_in_anything_but_bad_format(
    body: bytes, attributes: int, count: int
) -> None:
    data = v2(0, count, delta=max(count - 1, 0), attributes=attributes, body=body)
    try:
        found = _decoded(data)
    except BadFormat:
        return
    assert len(found) == count


def _packed_v2(records: bytes, count: int) -> tuple[BatchHeader, bytes]:
    """Return a batch of format 2 that unfolds to these bytes, with this count in its header."""
    body = gzip.compress(records, 1)
    rest = struct.pack(">hiqqqhii", 1, count - 1, 0, 0, -1, -1, -1, count) + body
    packed = struct.pack(">qiibI", 0, len(rest) + 9, 0, 2, crc32c(rest)) + rest
    return parse_header(packed), packed


def _varint(value: int) -> bytes:
    out, left = bytearray(), value << 1
    while left > 0x7F:
        out.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([*out, left])


_EMPTY = bytes([12, 0, 0, 0, 1, 1, 0])
_HEADERS = b"\0\0\0\1\1" + _varint(600_000) + b"\0\1" * 600_000


@pytest.mark.parametrize(
    ("records", "count", "says"),
    [
        (_EMPTY * 200_000, 8 << 20, "8388608 in one batch, and at most 5000"),
        (_EMPTY * 200_000, 1, "more than 5000 records and headers"),
        (_varint(len(_HEADERS)) + _HEADERS, 1, "more than 5000 records and headers"),
    ],
    ids=["by the header", "by what is there", "by headers of a record"],
)
def test_more_records_than_are_held_at_once_are_counted_and_not_made(
    records: bytes, count: int, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "MOST", 5000)
    header, packed = _packed_v2(records, count)
    tracemalloc.start()
    try:
        with pytest.raises(BadFormat, match=says):
            decode(header, packed)
        assert tracemalloc.get_traced_memory()[1] < 3 * len(records) + (8 << 20)
    finally:
        tracemalloc.stop()


def test_a_large_batch_of_few_records_is_decoded() -> None:
    """Larger than what is counted before it is decoded."""
    value = b"v" * (3 << 20)
    (record,) = _decoded(batch(0, [(0, None, value, [])]), LARGEST_BATCH)
    assert record.value == value
