"""Endings by markers, against a log played from its beginning."""

from __future__ import annotations

import random
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_unclean_recovery.salvage.transactions import Ending, Transaction, Transactions

C, A, O = Ending.COMMITTED, Ending.ABORTED, Ending.OPEN  # noqa: E741


def test_a_record_ends_as_the_next_marker_of_its_producer_says() -> None:
    told = Transactions(10, {})
    told.data(10, 1, 0)
    told.data(12, 2, 0)
    told.marker(14, 1, 0, commit=True)
    told.data(15, 1, 0)
    told.marker(16, 2, 0, commit=False)
    endings = [told.ending(1, 11), told.ending(2, 12), told.ending(1, 15)]
    assert endings == [C, A, O]
    assert told.counts == {C: 1, A: 1}
    assert told.crossing == []
    assert told.open == (Transaction(1, 0, 15, None, O),)


def test_a_marker_beyond_the_cut_ends_what_began_before_it() -> None:
    told = Transactions(10, {1: 4, 2: 6})
    told.marker(10, 1, 3, commit=True)
    told.data(11, 2, 7)
    told.marker(12, 2, 8, commit=False)
    assert told.crossing == [Transaction(1, 3, 4, 10, C), Transaction(2, 8, 6, 12, A)]


def test_what_began_before_the_cut_is_not_what_the_producer_begins_next() -> None:
    told = Transactions(10, {1: 4})
    told.marker(10, 1, 0, commit=True)
    told.data(11, 1, 0)
    assert told.open == (Transaction(1, 0, 11, None, O),)


def test_a_marker_without_any_record_left_is_named_as_such() -> None:
    told = Transactions(10, {})
    told.marker(10, 1, 0, commit=True)
    assert told.crossing == [Transaction(1, 0, None, 10, C)]


@settings(deadline=None)
@given(st.randoms(use_true_random=False))
def test_any_log_cut_anywhere_tells_what_the_whole_of_it_tells(chance: random.Random) -> None:
    log = [(chance.randrange(3), chance.choice("dddca")) for _ in range(chance.randrange(30))]
    cut = chance.randrange(len(log) + 1)
    truth, first = _played(log)
    told = Transactions(cut, _open_at(log, cut))
    for offset in range(cut, len(log)):
        producer, what = log[offset]
        if what == "d":
            told.data(offset, producer, 0)
        else:
            told.marker(offset, producer, 0, commit=what == "c")
    wrote = [offset for offset in range(cut, len(log)) if log[offset][1] == "d"]
    assert [told.ending(log[at][0], at) for at in wrote] == [truth[at] for at in wrote]
    markers = [offset for offset in range(cut, len(log)) if log[offset][1] != "d"]
    assert told.counts == Counter(C if log[at][1] == "c" else A for at in markers)
    begun = {at: first[at] for at in markers if first[at] is None or (first[at] or 0) < cut}
    assert {t.marker_offset: t.first_offset for t in told.crossing} == begun
    left = {first[at] for at in wrote if truth[at] is O}
    assert {t.first_offset for t in told.open} == left


Log = list[tuple[int, str]]


def _played(log: Log) -> tuple[dict[int, Ending], dict[int, int | None]]:
    """Return (the ending of each record, the first offset of each transaction by offset)."""
    endings: dict[int, Ending] = {}
    first: dict[int, int | None] = {}
    running: dict[int, list[int]] = {}
    for offset, (producer, what) in enumerate(log):
        if what == "d":
            running.setdefault(producer, []).append(offset)
            endings[offset], first[offset] = O, running[producer][0]
            continue
        records = running.pop(producer, [])
        first[offset] = records[0] if records else None
        endings.update(dict.fromkeys(records, C if what == "c" else A))
    return endings, first


def _open_at(log: Log, cut: int) -> dict[int, int]:
    running: dict[int, int] = {}
    for offset, (producer, what) in enumerate(log[:cut]):
        if what == "d":
            running.setdefault(producer, offset)
        else:
            running.pop(producer, None)
    return running
