"""The doctor's checks in the window of a terminal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kafka_unclean_recovery.doctor.check import Check, Status
from kafka_unclean_recovery.doctor.diagnosis import Diagnosis
from kafka_unclean_recovery.doctor.screen import screen
from kafka_unclean_recovery.report.window import Window
from kafka_unclean_recovery.shown import width_of

WIDE = "why, and what to do: --format wide"
STATUSES = st.sampled_from([Status.FAILURE, Status.WARNING, Status.UNKNOWN, Status.NOTICE])
TEXTS = st.text(max_size=200)


def _diagnosis(*checks: Check) -> Diagnosis:
    gravest_first = sorted(checks, key=lambda check: -check.status.gravity)
    return Diagnosis("id", "2026-01-01T00:00:00+00:00", tuple(gravest_first))


def test_what_is_well_is_one_sentence_and_the_gravest_comes_last() -> None:
    found = _diagnosis(
        Check("worst", Status.FAILURE, "it is broken " * 9, "nothing works", "mend it"),
        Check("odd", Status.NOTICE, "it is odd", "somebody may wonder"),
        *(Check(f"fine_{number}", Status.OK, "it is", "") for number in range(12)),
    )
    lines = screen(found, Window(40, 30))
    assert lines[0] == "12 ok: fine_0, fine_1, fine_2, fine_3,"
    text = "\n".join(lines)
    assert text.index("fine_11") < text.index("notice   odd: it is odd") < text.index("failure")
    assert lines[-5:-2] == ["         do:  mend it", "", "cluster id: 1 failure, 1 notice, 12 ok;"]
    for line in ("why: nothing works", "why: somebody may wonder"):
        assert line in text
    assert WIDE not in text


OUTAGE = (
    Check("down", Status.WARNING, "broker 1 is down", "its logs are not read", "start it"),
    Check("clocks", Status.UNKNOWN, "clocks are not known", "times are compared", "compare them"),
    Check("bug", Status.NOTICE, "a bug is known", "the controller resigns", "delete no topic"),
    Check("fine", Status.OK, "it is", ""),
)
VERDICT = [
    "cluster id: 1 warning, 1 unknown, 1 notice, 1 ok; not well: a recovery may fail",
    "  or do harm by what is named",
]


def test_in_a_low_window_the_least_grave_say_less_and_the_hint_says_how_to_see_all() -> None:
    assert screen(_diagnosis(*OUTAGE), Window(80, 11)) == [
        "1 ok",
        "notice   bug: a bug is known",
        "unknown  clocks: clocks are not known",
        "         do:  compare them",
        "warning  down: broker 1 is down",
        "         why: its logs are not read",
        "         do:  start it",
        "",
        WIDE,
        *VERDICT,
    ]


def test_where_not_each_check_has_a_line_the_least_grave_are_counted() -> None:
    many = [Check(f"w{n}", Status.WARNING, f"it is {n}", "", "") for n in range(20)]
    assert screen(_diagnosis(*OUTAGE, *many), Window(80, 10))[:-4] == [
        "1 ok",
        "... and 19 more checks, less grave",
        *(f"warning  w{n}: it is {n}" for n in (2, 1, 0)),
        "warning  down: broker 1 is down",
    ]


@given(
    st.lists(st.builds(Check, st.sampled_from(["a", "b"]), STATUSES, TEXTS, TEXTS, TEXTS)),
    st.integers(40, 120),
    st.integers(12, 60),
)
def test_any_checks_fit_into_any_window_and_the_gravest_is_there(
    checks: list[Check], columns: int, lines: int
) -> None:
    found = _diagnosis(*checks, Check("fine", Status.OK, "it is", ""))
    shown = screen(found, Window(columns, lines))
    assert len(shown) <= lines
    assert [line for line in shown if width_of(line) > columns] == []
    if checks:
        gravest = found.checks[0]
        assert any(line.startswith(f"{gravest.status:<9}"[:columns]) for line in shown)
