"""Copies of a journal that went to other hosts become one journal again."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.post_mortem.copies import joined


def _line(at_ms: int, event: str) -> str:
    line = {"v": 1, "at": "2026-11-28T00:00:00+00:00", "at_ms": at_ms, "event": event}
    return json.dumps(line, separators=(",", ":")) + "\n"


BEGUN = _line(1, "begin") + _line(2, "end")


def test_what_each_host_learnt_stands_where_its_time_is() -> None:
    one, other = BEGUN + _line(5, "one"), BEGUN + _line(4, "other") + _line(7, "later")
    ours = BEGUN + _line(6, "aftercare")
    lines = [_line(4, "other"), _line(5, "one"), _line(6, "aftercare"), _line(7, "later")]
    assert joined(ours, [(one, "one"), (other, "other")]) == BEGUN + "".join(lines)


def test_a_copy_of_a_copy_adds_a_line_once() -> None:
    copy = BEGUN + _line(5, "one")
    assert joined(BEGUN, [(copy, "a"), (copy, "b"), (copy + _line(6, "two"), "c")]) == (
        copy + _line(6, "two")
    )


def test_a_clock_that_is_behind_moves_no_line_before_what_both_begin_with() -> None:
    assert joined(BEGUN, [(BEGUN + _line(0, "one"), "a")]) == BEGUN + _line(0, "one")


def test_a_line_that_was_cut_off_is_left_out_of_a_copy_and_kept_last_in_the_journal() -> None:
    torn = '{"v":1,"at":'
    copy = BEGUN + _line(5, "one") + torn
    assert joined(BEGUN + torn, [(copy, "a")]) == BEGUN + _line(5, "one") + torn


@pytest.mark.parametrize("copy", ["", _line(9, "begin"), "no journal\n"])
def test_another_journal_is_refused(copy: str) -> None:
    with pytest.raises(InputError, match=r"^--copy x: is no copy"):
        joined(BEGUN, [(copy, "--copy x")])


@pytest.mark.parametrize("line", ["no line\n", '{"at_ms":"x"}\n', "[]\n", "[" * 100_000 + "\n"])
def test_what_is_no_line_is_refused(line: str) -> None:
    with pytest.raises(InputError, match=r"^--copy x: a line is not one"):
        joined(BEGUN + _line(3, "one"), [(BEGUN + line, "--copy x")])


@given(st.lists(st.tuples(st.integers(3, 9), st.integers(0, 2)), max_size=12))
def test_no_line_is_lost_or_twice_and_each_host_keeps_its_order(
    rows: list[tuple[int, int]],
) -> None:
    hosts = [
        [_line(at, f"e{host}-{n}") for n, (at, own) in enumerate(rows) if own == host]
        for host in range(3)
    ]
    ours, *others = (BEGUN + "".join(lines) for lines in hosts)
    found = joined(ours, [(text, "a") for text in others])
    assert sorted(found.splitlines()) == sorted(
        [*BEGUN.splitlines(), *(line.rstrip() for host in hosts for line in host)]
    )
    for lines in hosts:
        assert [line for line in found.splitlines(keepends=True) if line in lines] == lines
