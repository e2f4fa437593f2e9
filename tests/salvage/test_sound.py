"""Every sound batch of a segment, also behind what can't be read."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

from kafka_unclean_recovery.log_dir.replica_files import Segment
from kafka_unclean_recovery.salvage.sound import SoundBatches
from tests.log_dir.segments import legacy, reader, v2

NAME = "00000000000000000000.log"
OFFSETS = list(range(0, 100, 10))
PARTS = [v2(at, 10, body=bytes([at]) * 300) for at in OFFSETS]
SIZE = len(PARTS[0])
WHOLE = b"".join(PARTS)


def sound(data: bytes, base: int = 0) -> tuple[list[int], list[str]]:
    """Return the first offsets, and what was left out."""
    batches = SoundBatches(reader(data), Segment(base, NAME, len(data)), active=True)
    found = [batch[3] if batch[2] is None else batch[2] for batch in batches]
    return found, batches.left_out


def changed(place: int, new: bytes, of: int = 4) -> bytes:
    at = of * SIZE + place
    return WHOLE[:at] + new + WHOLE[at + len(new) :]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (changed(200, b"\xff"), "batch crc"),
        (changed(0, bytes(SIZE)), "zeros before data"),
        (changed(8, b"\x7f\xff\xff\xff"), "truncated batch"),
        (changed(8, bytes(4)), "batch length"),
        (changed(0, b"\xee" * SIZE), "batch length"),
        (changed(16, b"\x80"), "batch magic"),
    ],
)
def test_what_lies_behind_a_bad_batch_is_found(data: bytes, why: str) -> None:
    found, left_out = sound(data)
    assert found == [at for at in OFFSETS if at != 40]
    (sentence,) = left_out
    assert f"bytes {4 * SIZE} to {5 * SIZE} (exclusive) can't be read: {why}" in sentence


def test_what_lies_behind_is_found_where_offsets_pass_a_multiple_of_two_to_the_32() -> None:
    base = (1 << 32) - 50
    parts = [v2(at, 10, body=bytes([at % 251]) * 300) for at in range(base, base + 100, 10)]
    data = bytearray(b"".join(parts))
    data[4 * SIZE + 100] ^= 1
    found, _ = sound(bytes(data), base)
    assert found == [base + at for at in OFFSETS if at != 40]


def test_several_bad_batches_and_a_torn_end_are_told_one_by_one() -> None:
    data = bytearray(WHOLE[:-5])
    for place in (2, 5):
        data[place * SIZE + 100] ^= 1
    found, left_out = sound(bytes(data))
    assert found == [at for at in OFFSETS if at not in (20, 50, 90)]
    assert len(left_out) == 3
    assert "could be read up to byte" in left_out[-1]


def test_old_messages_are_found_again_too() -> None:
    parts = [legacy(at, value=b"v" * 100) for at in range(5)]
    data = bytearray(b"".join(parts))
    data[2 * len(parts[0]) + 40] ^= 1
    assert sound(bytes(data))[0] == [0, 1, 3, 4]


def shifted(place: int, by: int) -> bytes:
    return changed(0, struct.pack(">q", OFFSETS[place] + by), place)


@pytest.mark.parametrize(
    "wrong", [lambda: shifted(4, 1 << 20), lambda: shifted(4, 1 << 40), lambda: shifted(4, -25)]
)
def test_a_batch_with_a_wrong_base_offset_costs_that_batch_alone(
    wrong: Callable[[], bytes],
) -> None:
    found, left_out = sound(wrong())
    assert found == [at for at in OFFSETS if at != 40]
    assert any("where that can't be: it is left out" in each for each in left_out)


def test_a_gap_that_is_followed_by_more_is_a_gap() -> None:
    data = b"".join(PARTS[:4] + PARTS[6:])
    assert sound(data) == ([0, 10, 20, 30, 60, 70, 80, 90], [])


def test_garbage_that_looks_like_a_header_is_none() -> None:
    looks = struct.pack(">qiibI", 45, 300, 0, 2, 0) + bytes(40)
    data = WHOLE[: 4 * SIZE] + b"\x01" * 7 + looks * 3 + WHOLE[5 * SIZE :]
    assert sound(data)[0] == [at for at in OFFSETS if at != 40]
