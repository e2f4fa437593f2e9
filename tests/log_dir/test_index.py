"""Offset indexes, preallocated or cut, sound or not."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.segments.index import entries, entries_from, last_entries
from tests.log_dir.segments import index, outcome, reader

RISING = st.lists(st.integers(1, 2**31 - 1), unique=True, max_size=40).map(sorted)


def pairs(numbers: list[int]) -> list[tuple[int, int]]:
    return list(zip(numbers, reversed([2**31 - n for n in numbers]), strict=True))


@given(RISING, st.integers(0, 40), st.integers(0, 2**62))
def test_round_trip(numbers: list[int], zeros: int, base: int) -> None:
    expected = [(base + offset, position) for offset, position in pairs(numbers)]
    data = index(*pairs(numbers), zeros=zeros)
    assert list(entries(data, base)) == expected
    assert last_entries(reader(data), len(data), base) == expected


@given(RISING, st.integers(0, 40), st.integers(0, 2**31))
def test_entries_from_a_position_on(numbers: list[int], zeros: int, position: int) -> None:
    expected = [(7 + offset, at) for offset, at in pairs(numbers) if at >= position]
    assert list(entries_from(index(*pairs(numbers), zeros=zeros), position, 7)) == expected


def test_entries_of_any_bytes_come_to_an_end() -> None:
    data = index((5, 3), (0, 0), (1, 1), (-1, -5), (2, 2)) + b"odd"
    for position in range(-6, 6):
        assert len(list(entries_from(data, position, 0))) <= 5


@pytest.mark.parametrize("used", [0, 1, 511, 512, 513, 1024, 1025, 4000, 5000])
@pytest.mark.parametrize("size", [5000, 5120, 100_000])
def test_the_last_entries_are_found_by_a_few_small_reads(used: int, size: int) -> None:
    data = index(*((n, n * 4096) for n in range(1, used + 1)), zeros=size - used)
    reads: list[int] = []
    found = last_entries(reader(data, reads), len(data), 100)
    assert found[-1:] == ([(100 + used, used * 4096)] if used else [])
    assert len(found) >= min(used, 512)
    assert max(reads) <= 8192
    assert len(reads) <= 12


def test_an_empty_preallocated_index_costs_three_reads() -> None:
    reads: list[int] = []
    assert last_entries(reader(bytes(10 << 20), reads), 10 << 20, 0) == []
    assert len(reads) == 3


def test_a_file_that_became_shorter() -> None:
    data = index((1, 1), (2, 2))
    assert last_entries(reader(data), 8 * 4000, 0) == [(1, 1), (2, 2)]


@pytest.mark.parametrize(
    ("data", "detail"),
    [
        (b"\0" * 9, "9 bytes are not entries of 8"),
        (index((1, 1), (1, 2)), "entry 1 does not rise above the one before"),
        (index((1, 1), (2, 1)), "entry 1 does not rise above the one before"),
        (index((0, 5)), "entry 0 does not rise above the one before"),
        (index((-1, 5)), "entry 0 does not rise above the one before"),
        (index((5, -1)), "entry 0 does not rise above the one before"),
        (index((1, 1), (0, 0), (2, 2)), "data after the zeros that begin at byte 8"),
    ],
)
def test_bad_indexes(data: bytes, detail: str) -> None:
    reads: tuple[Callable[[], object], ...] = (
        lambda: list(entries(data, 0)),
        lambda: last_entries(reader(data), len(data), 0),
    )
    for read in reads:
        with pytest.raises(BadFormat) as raised:
            read()
        assert (raised.value.what, raised.value.detail) == ("offset index", detail)


@given(st.binary(max_size=100), st.integers(0, 200))
def test_any_bytes_give_a_value_or_bad_format(data: bytes, size: int) -> None:
    assert len(outcome(lambda: list(entries(data, 0)))) < 200
    assert len(outcome(lambda: last_entries(reader(data), size, 0))) < 200
