"""A post-mortem in the window of a terminal."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_unclean_recovery.post_mortem.reading import read_post_mortem
from kafka_unclean_recovery.post_mortem.screen import screen
from kafka_unclean_recovery.post_mortem.story import Moment, PostMortem
from kafka_unclean_recovery.report.window import Window
from kafka_unclean_recovery.shown import width_of
from tests.post_mortem.journals import planned, write_journal

COMMAND = "  kafka-"


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> PostMortem:
    journal = tmp_path_factory.mktemp("journals") / "journal.jsonl"
    write_journal(journal, [planned(number) for number in range(30)])
    return read_post_mortem(journal.read_text(), str(journal))


def _taken(lines: list[str], window: Window) -> int:
    return sum(map(window.taken, lines))


@given(
    problem=st.text(),
    problems=st.integers(0, 80),
    moments=st.lists(st.builds(Moment, st.just(0), st.just("e"), st.text(), st.booleans())),
    columns=st.integers(60, 220),
    lines=st.integers(23, 60),
)
def test_any_report_fits_into_any_window(
    told: PostMortem,
    problem: str,
    problems: int,
    moments: list[Moment],
    columns: int,
    lines: int,
) -> None:
    several = (problem,) * problems
    story = replace(told, problems=several, moments=tuple(moments), journal="j.jsonl")
    window = Window(columns, lines)
    shown = screen(story, window)
    assert _taken(shown, window) <= lines
    commands = [line for line in shown if line.startswith(COMMAND)]
    assert commands
    assert [line for line in shown if line not in commands and width_of(line) > columns] == []


def test_the_first_step_is_whole_and_of_the_moments_the_last_and_those_that_alarm_are_there(
    told: PostMortem,
) -> None:
    moments = [Moment(number, "e", f"moment {number}", number == 1) for number in range(30)]
    shown = screen(
        replace(told, moments=tuple(moments), elections=told.elections[:3]), Window(120, 40)
    )
    at = next(n for n, line in enumerate(shown) if line.startswith("  ... "))
    assert shown[at].endswith(" others")
    kept = [line.split()[-1] for line in shown[at + 1 :] if " moment " in line]
    assert kept[0] == "1"
    assert kept[-1] == "29"
    assert kept[1:] == [str(number) for number in range(30 - len(kept) + 1, 30)]
    (step,) = (n for n, line in enumerate(shown) if line.startswith("1. "))
    assert any(line.startswith(COMMAND) for line in shown[step:])
