"""Where a log ends: every way in which a segment can, seen through windows of any size."""

from __future__ import annotations

import itertools
import struct
import zlib

import pytest
from crc32c import crc32c
from hypothesis import given
from hypothesis import strategies as st

from kafka_unclean_recovery.log_dir.segments.batch_runs import Batch, compact, take, take_runs
from kafka_unclean_recovery.log_dir.segments.batches import Reason, parse_header
from kafka_unclean_recovery.log_dir.segments.walk import CHUNK, End, Walk
from tests.log_dir.segments import legacy, reader, v2

CHUNKS = (1, 7, 61, 64, 100, 150, 1000, CHUNK)


def walk(
    data: bytes, *, chunk: int = CHUNK, check_crc: bool = True, base: int = 0, start: int = 0
) -> tuple[list[Batch], End]:
    steps = Walk(reader(data), start, len(data), base, check_crc, chunk=chunk)
    found = list(steps)
    assert steps.ended is not None
    return found, steps.ended


def end_of(data: bytes, *, base: int = 0) -> tuple[int, Reason, str]:
    """Return where the walk ends, the same whatever the window."""
    ends = {walk(data, chunk=chunk, base=base)[1] for chunk in CHUNKS}
    (end,) = ends
    return end.position, end.reason, end.detail


def flip(data: bytes, byte: int, bit: int = 1) -> bytes:
    return data[:byte] + bytes([data[byte] ^ bit]) + data[byte + 1 :]


def resized(data: bytes) -> bytes:
    """Return a batch with the length and the CRC that its bytes call for."""
    if data[16] == 2:
        crc = struct.pack(">I", crc32c(data[21:]))
        return data[:8] + struct.pack(">i", len(data) - 12) + data[12:17] + crc + data[21:]
    crc = struct.pack(">I", zlib.crc32(data[16:]))
    return data[:8] + struct.pack(">i", len(data) - 12) + crc + data[16:]


GOOD = v2(0, 3) + v2(3, 2, epoch=1)
LAST = v2(10, 5, body=b"x" * 200)


@pytest.mark.parametrize("chunk", CHUNKS)
@pytest.mark.parametrize("check_crc", [True, False])
def test_all_formats_in_one_segment(chunk: int, check_crc: bool) -> None:
    parts = [
        legacy(0, magic=0),
        legacy(1, magic=1),
        legacy(8, attributes=1, value=b"x" * 300),
        v2(9, 3, epoch=5, attributes=0x10),
        v2(12, 0, delta=7, body=b""),  # compaction left nothing in it
        legacy(25, magic=1),
        v2(30, 1, body=b"y" * 500),
    ]
    starts = [0, *itertools.accumulate(map(len, parts))]
    found, end = walk(b"".join(parts), chunk=chunk, check_crc=check_crc)
    expected = [compact(at, parse_header(p)) for at, p in zip(starts, parts, strict=False)]
    assert found == expected
    assert found[3] == (starts[3], len(parts[3]), 9, 11, 5, 0x10, 3)
    assert end == End(starts[-1], Reason.END)


def test_the_tight_loops_take_all_formats_of_a_window() -> None:
    parts = [legacy(0, magic=0), v2(1), legacy(2, magic=1), legacy(3, attributes=1), v2(4)]
    data = b"".join(parts)
    run, used, last = take(memoryview(data + v2(5)[:-1]), 1000, -1, 99, True)
    starts = [0, *itertools.accumulate(map(len, parts))]
    assert run == [
        compact(1000 + at, parse_header(p)) for at, p in zip(starts, parts, strict=False)
    ]
    assert (used, last) == (len(data), 4)


@pytest.mark.parametrize("epoch", [-(2**31), -2, -1, 0, 2**31 - 1])
def test_a_run_of_any_epoch_has_its_first_offset(epoch: int) -> None:
    window = memoryview(v2(5, 5, epoch=epoch) + v2(10, 5, epoch=epoch))
    runs, _, _ = take_runs(window, 0, 4, 100, True)
    assert runs == [(5, 14, epoch, 10, 10, 2)]


def test_a_walk_can_begin_at_any_batch() -> None:
    found, end = walk(GOOD + LAST, start=len(v2(0, 3)))
    assert [batch[2] for batch in found] == [3, 10]
    assert end.reason is Reason.END


@pytest.mark.parametrize(
    ("tail", "reason", "detail"),
    [
        (b"", Reason.END, ""),
        (bytes(1), Reason.ZEROS, ""),
        (bytes(17), Reason.ZEROS, ""),
        (bytes(5000), Reason.ZEROS, ""),
        (bytes(2000) + b"x", Reason.HOLE, "zeros up to 2136, data again from there"),
        (bytes(2000) + LAST, Reason.HOLE, "zeros up to 2143, data again from there"),
        (b"\0" * 16 + b"\1", Reason.TRUNCATED, "17 bytes of a header"),
        (LAST[:17], Reason.TRUNCATED, "17 bytes of a header"),
        (LAST[:18], Reason.TRUNCATED, "18 bytes of 261"),
        (LAST[:-1], Reason.TRUNCATED, "260 bytes of 261"),
        (bytes(8) + b"\x7f\xff\xff\xff" + LAST[12:], Reason.TRUNCATED,
         "261 bytes of 2147483659"),
        (bytes(8) + b"\xff\xff\xff\xff" + LAST[12:], Reason.LENGTH, "-1 is too small for any"),
        (LAST[:8] + bytes(4) + LAST[12:], Reason.LENGTH, "0 is too small for any"),
        (LAST[:8] + struct.pack(">i", 48) + LAST[12:], Reason.LENGTH,
         "48 is too small for format 2"),
        (LAST[:8] + struct.pack(">i", 200) + LAST[12:], Reason.CRC, None),
        (flip(LAST, 16, 0x80), Reason.MAGIC, "130 is not known"),
        (flip(LAST, 17), Reason.CRC, None),
        (flip(LAST, 260), Reason.CRC, None),
        (flip(LAST, 23, 0x80), Reason.OFFSETS, "base offset 10, last -2147483644 after it"),
        (flip(legacy(7), 16, 2), Reason.LENGTH, "23 is too small for format 2"),
        (flip(legacy(7), 16, 0x80), Reason.MAGIC, "129 is not known"),
        (flip(legacy(7), 33), Reason.CRC, None),
        (resized(v2(9)[:57]) + LAST, Reason.LENGTH, "45 is too small for format 2"),
        (resized(legacy(9)[:33]) + LAST, Reason.LENGTH, "21 is too small for format 1"),
        (v2(9, -1, delta=0), Reason.COUNT, "-1"),
        (v2(4), Reason.ORDER, "4 follows 4"),
        (legacy(4), Reason.ORDER, "4 follows 4"),
        (legacy(4, attributes=1), Reason.ORDER, "4 follows 4"),
        (v2(0, 9), Reason.ORDER, "0 follows 4"),
        (v2(-5, 100), Reason.OFFSETS, "base offset -5, last 99 after it"),
        (v2(2**31, 1), Reason.OFFSETS, "2147483648 is too far from the segment's 0"),
        (v2(5, 2**31 - 1), Reason.OFFSETS, "2147483651 is too far from the segment's 0"),
        (legacy(2**31), Reason.OFFSETS, "2147483648 is too far from the segment's 0"),
    ],
)  # fmt: skip
def test_ends(tail: bytes, reason: Reason, detail: str | None) -> None:
    """After two good batches."""
    position, why, said = end_of(GOOD + tail)
    assert (position, why) == (len(GOOD), reason)
    assert said == detail or (detail is None and "written" in said)


def test_a_magic_that_nobody_writes_does_not_end_the_walk() -> None:
    """A broker goes on: the magic lies outside of the CRC."""
    data = GOOD + flip(LAST, 16) + v2(20)
    steps = Walk(reader(data), 0, len(data), 0)
    assert [batch[2] for batch in steps] == [0, 3, 10, 20]
    assert steps.strange is not None
    assert (steps.strange.base_offset, steps.strange.magic) == (10, 3)


def test_what_follows_a_bad_batch_is_not_seen() -> None:
    found, end = walk(GOOD + flip(LAST, 100) + v2(20))
    assert [batch[2] for batch in found] == [0, 3]
    assert end.reason is Reason.CRC


def test_nothing_lies_below_the_segments_base_offset() -> None:
    assert end_of(GOOD, base=1) == (0, Reason.ORDER, "0 follows 0")
    assert end_of(v2(2**31 + 4), base=5) == (len(v2()), Reason.END, "")


def test_offsets_lie_above_what_was_seen_before() -> None:
    steps = Walk(reader(GOOD), 0, len(GOOD), 0, previous=7)
    assert list(steps) == []
    assert steps.ended == End(0, Reason.ORDER, "0 follows 7")


@pytest.mark.parametrize("chunk", CHUNKS)
def test_without_crc_headers_alone_are_judged(chunk: int) -> None:
    data = flip(GOOD, len(GOOD) - 1) + bytes(1000) + b"x"
    found, end = walk(data, chunk=chunk, check_crc=False)
    assert [batch[2] for batch in found] == [0, 3]
    assert end == End(len(GOOD), Reason.ZEROS)


@pytest.mark.parametrize("chunk", CHUNKS)
def test_a_cut_batch_is_none_without_crc_either(chunk: int) -> None:
    for left in range(1, len(LAST)):
        found, end = walk(GOOD + LAST[:left], chunk=chunk, check_crc=False)
        assert len(found) == 2
        assert (end.position, end.reason) == (
            len(GOOD),
            Reason.ZEROS if left < 8 else Reason.TRUNCATED,
        )


def test_what_a_window_holds_of_a_large_batch_is_read_once() -> None:
    data = b"".join(v2(n, body=bytes(60_000)) for n in range(20))
    reads: list[int] = []
    assert len(list(Walk(reader(data, reads), 0, len(data), 0, chunk=100_000))) == 20
    assert sum(reads) < 1.2 * len(data)


@pytest.mark.parametrize("check_crc", [True, False])
def test_reads_stay_small_however_large_a_batch_is(check_crc: bool) -> None:
    data = v2(0, body=bytes(300_000)) + legacy(1, value=bytes(300_000)) + v2(2) + bytes(300_000)
    reads: list[int] = []
    steps = Walk(reader(data, reads), 0, len(data), 0, check_crc, chunk=4096)
    assert [batch[3] for batch in steps] == [0, 1, 2]
    assert max(reads) <= 4096
    assert sum(reads) < (1.1 * len(data) if check_crc else 50_000)


def test_a_file_that_became_shorter() -> None:
    for cut in range(len(GOOD)):
        for chunk in (7, 64, CHUNK):
            steps = Walk(reader(GOOD[:cut]), 0, len(GOOD), 0, chunk=chunk)
            found = list(steps)
            whole = len(v2(0, 3))
            at = whole if cut >= whole else 0
            assert len(found) == (at > 0)
            assert steps.ended is not None
            assert (steps.ended.position, steps.ended.reason) == (at, Reason.TRUNCATED)


def test_a_walk_past_the_end_ends_there() -> None:
    assert walk(GOOD, start=len(GOOD) + 5) == ([], End(len(GOOD) + 5, Reason.END))


def parts_of(draw: st.DrawFn) -> list[bytes]:
    """Return batches of any format in rising offsets, some apart."""
    parts, offset = [], draw(st.integers(0, 3))
    for _ in range(draw(st.integers(0, 8))):
        body, kind = b"b" * draw(st.integers(0, 200)), draw(st.integers(0, 3))
        count = draw(st.integers(1, 5))
        if kind < 2:
            parts.append(legacy(offset, magic=kind, value=body))
            count = 1
        elif kind == 2:
            parts.append(legacy(offset + count - 1, attributes=1, value=body))
        else:
            parts.append(v2(offset, count, epoch=draw(st.integers(-1, 9)), body=body))
        offset += count + draw(st.integers(0, 2))
    return parts


@st.composite
def segments(draw: st.DrawFn) -> list[bytes]:
    return parts_of(draw)


@given(segments(), st.integers(1, 700), st.booleans())
def test_good_segments_are_walked_to_their_end(
    parts: list[bytes], chunk: int, check_crc: bool
) -> None:
    data = b"".join(parts)
    found, end = walk(data, chunk=chunk, check_crc=check_crc)
    assert [batch[1] for batch in found] == [len(part) for part in parts]
    assert end == End(len(data), Reason.END)


@given(segments(), st.data(), st.sampled_from(CHUNKS))
def test_a_flipped_bit_ends_the_log_before_it_or_lies_outside_the_crc(
    parts: list[bytes], data: st.DataObject, chunk: int
) -> None:
    good = b"".join(parts)
    if not good:
        return
    byte = data.draw(st.integers(0, len(good) - 1))
    bad = flip(good, byte, 1 << data.draw(st.integers(0, 7)))
    (found, end), (intact, _) = walk(bad, chunk=chunk), walk(good)
    hit = next(b for b in intact if b[0] <= byte < b[0] + b[1])
    before = [b for b in intact if b[0] < hit[0]]
    assert found[: len(before)] == before
    if end.position > hit[0]:
        outside = byte - hit[0] < (16 if hit[4] is None else 17)
        assert outside


@given(st.binary(max_size=300) | segments().map(b"".join), st.sampled_from(CHUNKS), st.booleans())
def test_any_bytes_have_an_end(data: bytes, chunk: int, check_crc: bool) -> None:
    found, end = walk(data, chunk=chunk, check_crc=check_crc)
    assert (found, end) == walk(data, check_crc=check_crc)
    position = 0
    for batch in found:
        assert batch[0] == position
        position += batch[1]
    assert end.position == position <= len(data)
