"""A report of any size in one window: as blocks, or as an overview."""

from __future__ import annotations

import pytest
from hypothesis import given
from msgspec.structs import replace

from kafka_unclean_recovery.model import (
    Finding,
    Loss,
    Outcome,
    OutcomeKind,
    PartitionReport,
    Report,
    Severity,
    TopicPartition,
)
from kafka_unclean_recovery.report.narrow import narrow_lines
from kafka_unclean_recovery.report.overview import HINT, folded, overview, overview_of_plans
from kafka_unclean_recovery.report.window import Window
from kafka_unclean_recovery.shown import width_of
from tests.reports import any_reports, elected, plan, report, row, state

SMALL, LARGE = Window(80, 20), Window(200, 46)
WINDOWS = pytest.mark.parametrize("window", [SMALL, LARGE, Window(80, 12)], ids=str)


def looked_at(partitions: int, topic: str = "orders") -> list[PartitionReport]:
    """Return offline partitions of which each loses as many records as its number says."""
    found = []
    for number in range(partitions):
        planned = plan(number, loss=Loss(number, 2 * number))
        planned = replace(planned, state=replace(planned.state, topic=topic))
        before = replace(state(number), topic=topic)
        found.append(PartitionReport(TopicPartition(topic, number), before, planned))
    return found


def cells_of(lines: list[str], name: str) -> list[str]:
    (line,) = (line for line in lines if line.startswith(f"{name} "))
    return line.split()


@WINDOWS
@given(any_reports)
def test_any_report_fits(window: Window, given: Report) -> None:
    lines = overview(given, window)
    assert len(lines) <= window.lines
    assert all(width_of(line) <= window.columns for line in lines)
    assert lines[-1] == HINT


def test_large_sums_that_are_not_all_known_fit_without_a_digit_less() -> None:
    most = 10**12
    losses = (Loss(most, most), Loss(None, None))
    found = [
        PartitionReport(TopicPartition("orders", n), state(n), plan(n, loss=each))
        for n, each in enumerate(losses)
    ]
    told = [replace(row, outcome=Outcome(OutcomeKind.ELECTED)) for row in found]
    for rows in (found, told):
        lines = overview(report(*rows), SMALL)
        assert all(width_of(line) <= SMALL.columns for line in lines)
        assert cells_of(lines, "orders")[-2:] == [f"{most}+", f"{most}+"]
        wide = " ".join(cells_of(overview(report(*rows), LARGE), "orders"))
        assert wide.endswith(f" {most} or more {most} or more")


@pytest.mark.parametrize("height", range(12, 60))
def test_no_kind_of_news_is_left_out_however_low_the_window(height: int) -> None:
    topics = [each for n in range(9) for each in looked_at(9, f"topic-{n}")]
    given = replace(report(*topics), problems=("the one", "the other", "the third"))
    lines = overview(given, Window(80, height))
    assert len(lines) <= height
    told = "\n".join(lines)
    assert ("topic-0 " in told) != ("9 topics\n" in told)
    assert ("1       " in told) != ("3 brokers\n" in told)
    assert "dead_replica_may_hold_more " in told
    assert ("topic-0-8 " in told) != ("72 partitions that lose records, or may\n" in told)
    assert any("the one" in line or "lines of problems" in line for line in lines)


@WINDOWS
@pytest.mark.parametrize("partitions", [1, 36, 3000])
def test_it_fits_at_any_size(window: Window, partitions: int) -> None:
    lines = overview(report(*looked_at(partitions)), window)
    assert len(lines) <= window.lines
    assert all(len(line) <= window.columns for line in lines)
    certain = partitions * (partitions - 1) // 2
    assert f"certain loss {certain} record" in " ".join(lines)


def test_each_topic_and_broker_has_a_line_and_its_sums() -> None:
    lines = overview(report(*looked_at(4), *looked_at(3, "pay")), LARGE)
    assert lines[0].split()[:5] == ["topic", "partitions", "online", "to", "elect"]
    assert cells_of(lines, "orders") == ["orders", "4", "0", "4", "0", "6", "12"]
    assert cells_of(lines, "pay") == ["pay", "3", "0", "3", "0", "3", "6"]
    assert [cells_of(lines, broker) for broker in "134"] == [
        ["1", "7", "0", "down"],
        ["3", "7", "7", "live"],
        ["4", "7", "0", "live"],
    ]


def test_a_finding_is_told_once_with_its_count_and_three_examples_the_gravest_first() -> None:
    grave = Finding("log_given_up", Severity.LOSS, "gone")
    rows = looked_at(5)
    found = plan(2, loss=Loss(2, 4))
    rows[2] = replace(rows[2], plan=replace(found, findings=(*found.findings, grave)))
    lines = overview(report(*rows), LARGE)
    at = next(n for n, line in enumerate(lines) if line.startswith("finding"))
    assert lines[at + 1].split() == ["log_given_up", "1", "loss", "orders-2"]
    assert lines[at + 2].split() == [
        *("dead_replica_may_hold_more", "5", "unknown", "orders-0,", "orders-1,", "orders-2"),
    ]


def test_the_worst_come_first_and_the_others_are_counted() -> None:
    unknown = row(90, state(90), plan(90, loss=Loss(None, None)))
    none = row(91, state(91), replace(plan(91), designated_leader=None, refusal="its disk is bad"))
    lines = overview(report(*looked_at(30), unknown, none), SMALL)
    at = next(n for n, line in enumerate(lines) if line.startswith("worst first"))
    first = [" ".join(line.split()) for line in lines[at + 1 :]]
    assert first[:3] == [
        "orders-91 none - - its disk is bad",
        "orders-90 3 unknown unknown",
        "orders-29 3 29 58",
    ]
    shown = next(n for n, line in enumerate(first) if line.startswith("... and "))
    assert first[shown] == f"... and {31 - shown} more partitions that lose records, or may"


def test_what_loses_nothing_is_not_among_the_worst() -> None:
    lines = overview(report(*(elected(n, Loss(0, 0)) for n in range(30))), SMALL)
    assert not any(line.startswith("worst") for line in lines)
    assert cells_of(lines, "orders") == ["orders", "30", "30", "30", "0", "0", "0"]


def test_a_sum_of_which_a_part_is_not_known_says_so() -> None:
    rows = [row(n, state(n), plan(n, loss=Loss(5, None))) for n in range(2)]
    rows.append(row(2, state(2), plan(2, loss=Loss(None, 7))))
    lines = overview(report(*rows), LARGE)
    assert lines[1].split() == [
        "orders",
        "3",
        "0",
        "3",
        "0",
        *["10", "or", "more", "7", "or", "more"],
    ]


def test_a_failure_is_no_loss() -> None:
    failed = Outcome(OutcomeKind.FAILED, "no answer\nin time")
    lines = overview(report(row(1, state(1), plan(1), failed), elected(2)), LARGE)
    assert cells_of(lines, "orders")[:5] == ["orders", "2", "1", "1", "1"]
    assert cells_of(lines, "orders-1") == ["orders-1", "none", "-", "-", "failed"]


def test_a_long_topic_is_shortened_in_the_middle_and_its_numbers_stay() -> None:
    topic = "a" * 200 + "-the-end"
    lines = overview(report(*looked_at(9, topic)), SMALL)
    assert lines[1].startswith("aaa")
    assert "-end" in lines[1]
    assert lines[1].split()[1:] == ["9", "0", "9", "0", "36", "72"]


@WINDOWS
def test_elections_to_consent_to_fit_too(window: Window) -> None:
    plans = [each.plan for each in looked_at(3000) if each.plan is not None]
    lines = overview_of_plans(plans, ["total: 3000 partitions to elect"], window)
    assert len(lines) <= window.lines
    assert lines[0].startswith("topic")
    assert cells_of(lines, "orders") == ["orders", "3000", "0", "3000", "0", "4498500", "8997000"]
    assert lines[-1] == "total: 3000 partitions to elect"


def test_a_reason_is_said_once_with_its_partitions() -> None:
    where = [TopicPartition("orders", number) for number in range(6)]
    told = [(tp, "refused: it lives") for tp in where[:4]]
    told += [(where[4], "failed: no answer"), (where[5], "failed: too late")]
    assert list(folded(told, 9)) == [
        "4 partitions, such as orders-0, orders-1, orders-2: refused: it lives",
        "orders-4: failed: no answer",
        "orders-5: failed: too late",
    ]
    assert list(folded(told, 2))[1] == "... and 2 more reasons"


@given(any_reports)
def test_blocks_have_each_number_of_the_tables_in_no_line_too_wide(given: Report) -> None:
    lines = list(narrow_lines(given, 80, with_replicas=True))
    assert all(width_of(line) <= 80 for line in lines)
    assert all(width_of(line) <= 80 for line in narrow_lines(given, 80, with_replicas=False))
    told = set(" ".join(lines).replace(",", " ").split())
    logs = [log for each in given.partitions if each.plan for log in each.plan.replica_logs]
    numbers = [(log.log_start_offset, log.high_watermark, log.log_end_offset) for log in logs]
    assert {str(number) for of_it in numbers for number in of_it if number is not None} <= told
