"""What fits into a window of a terminal."""

from __future__ import annotations

from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from kafka_unclean_recovery.report.window import (
    Window,
    first_of,
    folded,
    in_one_line,
    shares,
    wrapped,
)
from kafka_unclean_recovery.shown import shown, width_of
from kafka_unclean_recovery.wording import middle_left_out

sentences = st.text(st.characters(codec="utf-8"), max_size=200).map(shown)


@given(sentences, st.integers(2, 90), st.text(" ", max_size=90), st.text(" ", max_size=90))
def test_no_line_is_wider_than_the_window(
    sentence: str, columns: int, before: str, indent: str
) -> None:
    """However wide the indents are."""
    lines = wrapped(before + sentence, columns, indent)
    assert all(width_of(line) <= columns for line in lines)
    assert "".join("".join(lines).split()) == "".join(sentence.split())


@given(sentences, st.integers(1, 90))
def test_what_is_cut_to_one_line_fits(sentence: str, columns: int) -> None:
    assert width_of(in_one_line(sentence, columns)) <= max(columns, len("..."))


def test_a_window_of_one_column_ends_too() -> None:
    assert wrapped("  ab c", 1, "    ") == ["a", "b", "c"]


@given(st.lists(st.text("abcdefgh", min_size=1, max_size=12), min_size=1), st.integers(14, 40))
def test_no_word_is_broken_that_fits(words: list[str], columns: int) -> None:
    lines = wrapped(" ".join(words), columns)
    assert " ".join(lines).split() == words
    assert all(line.startswith("  ") for line in lines[1:])


@given(st.text("abcdefgh ", min_size=1, max_size=200), st.integers(12, 40))
def test_of_a_word_that_is_broken_nothing_is_lost(sentence: str, columns: int) -> None:
    lines = wrapped(sentence, columns)
    assert "".join("".join(lines).split()) == "".join(sentence.split())


def test_a_sentence_keeps_its_own_indent() -> None:
    assert wrapped("  1: broker is down", 12, "      ") == ["  1: broker", "      is", "      down"]


def test_all_lines_fit_or_none() -> None:
    window = Window(10, 3)
    assert window.fitting(["one", "two\nthree"]) == ["one", "two", "three"]
    assert window.fitting(["one", "two\nthree\nfour"]) is None
    assert window.fitting(["eleven long"]) is None
    assert window.fitting([]) == []


def test_no_more_is_asked_for_than_it_takes_to_know_that_it_does_not_fit() -> None:
    asked = count()
    assert Window(10, 3).fitting(str(next(asked)) for _ in range(1000)) is None
    assert next(asked) == 4


@given(st.lists(st.integers(0, 50), max_size=6), st.integers(0, 60))
def test_what_there_is_room_for_is_given_and_shared_alike(wanted: list[int], room: int) -> None:
    given_ = shares(wanted, room)
    assert all(got <= want for got, want in zip(given_, wanted, strict=True))
    assert sum(given_) == min(room, sum(wanted))
    short = [got for got, want in zip(given_, wanted, strict=True) if got < want]
    assert all(got <= least + 1 for got in given_ for least in short)


def test_what_is_left_out_is_counted() -> None:
    rows = [str(number) for number in range(10)]
    assert list(first_of(rows, 10, "rows")) == rows
    assert list(first_of(rows, 3, "rows")) == ["0", "1", "... and 8 more rows"]
    assert list(first_of(rows, 1, "rows")) == ["10 rows"]
    assert list(first_of(rows, 0, "rows")) == ["10 rows"]
    assert list(first_of([], 0, "rows")) == []


@given(st.text("abcdef-", max_size=300), st.integers(8, 60))
def test_a_long_name_keeps_its_beginning_and_its_end(name: str, columns: int) -> None:
    short = middle_left_out(name, columns)
    assert len(short) <= columns
    if short != name:
        begins, ends = short.split("...")
        assert name.startswith(begins)
        assert name.endswith(ends)
        assert len(short) == columns


WINDOW = Window(40, 10)
HINT = "all of it: elsewhere"


def test_a_text_that_fits_stays_as_it_is() -> None:
    text = "a\nb\n\nc\n"
    assert folded(text, WINDOW, HINT) == text
    assert folded("", WINDOW, HINT) == ""


def test_of_a_longer_one_each_paragraph_keeps_its_beginning_and_short_ones_stay_whole() -> None:
    rows = "".join(f"row {number}\n" for number in range(100))
    assert folded(f"{rows}\n{rows}\nthe total\n", WINDOW, HINT).splitlines() == [
        *("row 0", "row 1", "... and 98 more lines", ""),
        *("row 0", "row 1", "... and 98 more lines", ""),
        *("the total", HINT),
    ]


@given(st.lists(st.integers(1, 60), min_size=1, max_size=4), st.integers(12, 50))
def test_what_is_left_fits_and_what_is_left_out_is_counted(sizes: list[int], lines: int) -> None:
    """Rows that are too wide count as the terminal makes lines of them."""
    window = Window(40, lines)
    wide = [["x" * (30 + 18 * (number % 3)) for number in range(size)] for size in sizes]
    told = folded("\n\n".join(map("\n".join, wide)) + "\n", window, HINT).rstrip("\n").split("\n")
    assert sum(map(window.taken, told)) <= lines
    kept = sum(line.startswith("x") for line in told)
    assert kept + sum(int(line.split()[2]) for line in told if line[:3] == "...") == sum(sizes)
