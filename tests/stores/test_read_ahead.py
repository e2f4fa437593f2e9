"""Every read gives what lies there, and few of them ask."""

from __future__ import annotations

import random

import pytest

from kafka_unclean_recovery.stores.read_ahead import FIRST, LARGEST, WHOLE, ReadAhead

MIB = 1 << 20


class Asked:
    """Content that counts how it is asked for."""

    def __init__(self, size: int) -> None:
        self.content = random.Random(size).randbytes(size)
        self.reads: list[tuple[int, int]] = []

    def fetch(self, position: int, length: int) -> bytes:
        assert 0 < length <= len(self.content) - position
        self.reads.append((position, length))
        return self.content[position : position + length]

    def ahead(self) -> ReadAhead:
        return ReadAhead(self.fetch, len(self.content))


@pytest.mark.parametrize("size", [0, 1, FIRST, WHOLE, WHOLE + 1, 5 * MIB + 7])
def test_any_read_gives_what_lies_there(size: int) -> None:
    asked = Asked(size)
    ahead = asked.ahead()
    any_of = random.Random(size)
    for _ in range(300):
        position = any_of.randrange(size + 10)
        length = any_of.choice((0, 1, 61, 4096, FIRST, MIB, 3 * MIB))
        assert ahead.read_at(position, length) == asked.content[position : position + length]


def test_a_small_file_is_asked_for_once() -> None:
    asked = Asked(WHOLE)
    ahead = asked.ahead()
    for position in range(WHOLE - 8, 0, -4096):
        ahead.read_at(position, 8)
    assert asked.reads == [(0, WHOLE)]


@pytest.mark.parametrize("again", [0, 32 << 10])
def test_a_walk_asks_for_large_pieces(again: int) -> None:
    """`again`: how much of a window the next begins before its end."""
    asked = Asked(50 * MIB)
    ahead = asked.ahead()
    at = 0
    while at < len(asked.content):
        window = ahead.read_at(at, MIB)
        assert window == asked.content[at : at + MIB]
        at += max(1, len(window) - again) if at + MIB < len(asked.content) else MIB
    assert len(asked.reads) <= 50 * MIB // LARGEST + 4
    assert sum(length for _, length in asked.reads) == len(asked.content)


def test_the_end_of_a_large_file_costs_little() -> None:
    asked = Asked(40 * MIB)
    ahead = asked.ahead()
    at = 40 * MIB - 5000
    ahead.read_at(at, 61)
    assert ahead.read_at(at, MIB) == asked.content[at:]
    assert asked.reads == [(at, 5000)]
