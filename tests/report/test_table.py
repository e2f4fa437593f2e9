"""The table of a report, and its two parts."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from subprocess import run
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import EpochSpan, Outcome, OutcomeKind, Report, Scanned
from kafka_unclean_recovery.report import table as table_module
from kafka_unclean_recovery.report.table import (
    render_outcomes,
    render_replicas,
    render_table,
    table,
)
from kafka_unclean_recovery.wording import INTERRUPTED
from tests.reports import any_reports, elected, log, plan, report, row, state


def table_lines(given: Report) -> list[str]:
    """Return the lines without the widths of the columns, which are not the point."""
    return [" ".join(line.split()) for line in render_table(given).splitlines()]


def test_the_table_has_a_row_a_replica_and_marks_the_designated_one() -> None:
    lines = table_lines(report(row(plan=plan())))
    assert lines[0] == "leader last written log high log end certain possible"
    assert lines[1] == (
        "topic partition epoch ISR ELR replica live leader epoch start watermark offset lineage"
        " loss loss"
    )
    dead = "orders 0 7 none 1 1 no unknown unknown unknown unknown unknown - - ! broker is down"
    assert lines[2].startswith(dead)
    assert lines[3] == "4 yes 0 0 999 1000 0:[0,1000) 500 records unknown"
    assert lines[4] == "3 yes 0 0 1499 1500 0:[0,1500) 0 records unknown *"
    assert lines[5] == ""


def test_every_cell_stands_under_its_header() -> None:
    lines = render_table(report(row(plan=plan()))).splitlines()
    assert lines[1].index("lineage") == lines[4].index("0:[0,1500)")
    assert lines[1].index("offset") + len("offset") == lines[4].index("1500 ") + len("1500")


def test_a_problem_keeps_to_its_line_and_can_not_drive_the_terminal() -> None:
    text = render_table(report(row(plan=plan())))
    assert "! broker is down\\x1b[31m\n" in text
    assert "\x1b" not in text


def test_findings_refusals_and_problems_follow_a_line_each() -> None:
    given = report(
        row(plan=plan()),
        row(1, plan=plan(1, designated=None, refusal="a reassignment is in progress")),
        row(2, plan=plan(2, designated=None)),
        problems=("no right to\ndescribe x",),
        silent_brokers={4: "timed out"},
    )
    lines = render_table(given).splitlines()
    assert "orders-0 dead_replica_may_hold_more: wait for broker 1" in lines
    assert "orders-1 no_designated_leader: a reassignment is in progress" in lines
    assert any(line.startswith("orders-2 no_designated_leader: no replica") for line in lines)
    assert "broker 4 did not answer: timed out" in lines
    assert "problem: no right to describe x" in lines


def test_outcomes_come_with_the_new_leader_and_the_loss() -> None:
    given = report(
        elected(),
        row(1, state(1), plan(1), Outcome(OutcomeKind.FAILED, "timed out")),
        row(2, None, None, Outcome(OutcomeKind.FAILED, "no such partition")),
    )
    lines = table_lines(given)
    assert "orders 0 elected 3 8 3 0 records unknown" in lines
    assert "orders 1 failed none 7 none - - timed out" in lines
    assert "orders 2 failed - - no such partition" in lines
    assert lines[-1] == (
        "3 partitions: 1 online, 1 offline, 1 not found; 1 elected, 2 failed;"
        " certain loss 0 records, possible loss unknown"
    )


def test_the_replicas_stand_beside_the_state_that_was_planned_on() -> None:
    before, after = "orders 0 7 none 1 1 no", "orders 0 elected 3 8 3"
    lines = table_lines(report(elected()))
    assert lines[2].startswith(before)
    assert any(line.startswith(after) for line in lines)


def test_without_outcomes_there_is_no_outcome_table() -> None:
    assert "outcome" not in render_table(report(row(plan=plan())))


def test_partitions_without_replica_logs_say_why_in_one_row() -> None:
    given = report(row(0, state(leader=4)), row(1, None), row(2, state(2)))
    lines = render_table(given).splitlines()
    assert lines[2].endswith("online, leader 4")
    assert lines[3].endswith("! no such topic or partition")
    assert lines[4].endswith("! no replica was looked at")


def test_the_note_tells_disks_fast_scans_and_suspects() -> None:
    def noted(**fields: Any) -> str:
        on_disk = replace(log(3, 90), **fields)
        given = replace(plan(designated=None), replica_logs=(on_disk,))
        return render_table(report(row(plan=given))).splitlines()[2].split("unknown")[-1].strip()

    disk = Scanned(ScanMode.RECOVER, "/data")
    assert noted(scanned=disk) == "disk"
    assert noted(scanned=Scanned(ScanMode.FAST, "/data")) == "disk, fast scan"
    assert noted(scanned=disk, problem="Input/output error") == "! Input/output error"
    suspect = noted(scanned=disk, suspect="a\ngap", certain_end_offset=4)
    assert suspect == "disk ? suspect: a gap (certain to 4)"


def test_the_designated_replica_is_marked_on_a_disk_too() -> None:
    on_disk = replace(log(3, 90), scanned=Scanned(ScanMode.DEEP, "/data"))
    given = report(row(plan=replace(plan(), replica_logs=(on_disk,))))
    assert table_lines(given)[2].endswith(" * disk")


def test_a_partition_without_state_says_why_when_that_is_known() -> None:
    outcome = Outcome(OutcomeKind.NO_CANDIDATE, "no metadata log has it")
    given = report(row(1, None, outcome=outcome))
    assert render_table(given).splitlines()[2].endswith("! no metadata log has it")
    assert "no such topic" not in render_table(given)


def test_a_long_lineage_shows_its_newest_spans() -> None:
    epochs = tuple(EpochSpan(e, e * 10, e * 10 + 10) for e in range(9))
    for length, shown in [
        (0, "none"),
        (1, "0:[0,10)"),
        (5, "0:[0,10) 1:[10,20) 2:[20,30) 3:[30,40) 4:[40,50)"),
        (9, "(5 older) 5:[50,60) 6:[60,70) 7:[70,80) 8:[80,90)"),
    ]:
        given = replace(plan(), replica_logs=(replace(log(3, 90), epochs=epochs[:length]),))
        assert f"  {shown}  " in render_table(report(row(plan=given)))


def test_an_empty_report_says_that_nothing_is_offline() -> None:
    assert render_table(report()) == render_outcomes(report()) == "no offline partitions found\n"
    assert render_replicas(report()) == ""


def test_nothing_is_said_to_be_offline_only_as_far_as_was_seen_where_there_are_problems() -> None:
    told = render_table(report(problems=("orders-0 led by broker 3, which is fenced",)))
    assert told.endswith("no offline partitions found, as far as the problems above let see\n")


def test_an_interruption_is_told_at_the_end() -> None:
    assert render_table(report(interrupted=True)).endswith("; interrupted, so not all was tried\n")


@pytest.mark.parametrize("why", sorted(INTERRUPTED))
def test_that_not_all_was_tried_is_said_where_it_is_so(why: str) -> None:
    """A signal may come when all is done, and what failed was tried."""
    failed = row(1, outcome=Outcome(OutcomeKind.FAILED, "broker 3: interrupted by itself"))
    tried = report(elected(), failed, interrupted=True)
    assert render_table(tried).endswith("; interrupted once all had been tried\n")
    untried = row(1, outcome=Outcome(OutcomeKind.FAILED, why))
    for rows in ((elected(), untried), (row(1),)):
        assert render_table(report(*rows, interrupted=True)).endswith(
            "; interrupted, so not all was tried\n"
        )


LONG = "my-application-KSTREAM-AGGREGATE-STATE-STORE-000000000{}-" + "x" * 190 + "-repartition"


def test_a_long_name_does_not_make_every_row_wide() -> None:
    names = [LONG.format(number) for number in range(3)] + ["orders"]
    rows: list[Sequence[str]] = [[name, "0"] for name in names]
    text = table((("", "topic", "left"), ("", "partition", "right")), rows)
    lines = text.splitlines()
    assert max(map(len, lines[: 2 + len(rows)])) <= 60 + 2 + len("partition")
    shown = [line.split()[0] for line in lines[2 : 2 + len(rows)]]
    assert len(set(shown)) == len(names)
    stands = dict(line.split(" stands for ") for line in lines[2 + len(rows) :])
    assert [stands.get(name, name) for name in shown] == names
    assert shown[0].startswith("my-application-KSTREAM-")
    assert shown[0].endswith("-repartition")


def test_tabulate_is_not_imported_before_there_is_a_table() -> None:
    code = "import sys, kafka_unclean_recovery.report.table; sys.exit('tabulate' in sys.modules)"
    assert run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_replicas_alone_come_with_their_findings() -> None:
    given = report(elected(), row(1), problems=("no right to describe x",))
    lines = render_replicas(given).splitlines()
    assert lines[-2:] == ["", "orders-0 dead_replica_may_hold_more: wait for broker 1"]
    assert set(lines) < set(render_table(given).splitlines())
    assert "! no replica was looked at" in lines[5]
    assert not any("outcome" in line or "problem:" in line for line in lines)


def test_the_outcomes_alone_come_with_problems_and_totals() -> None:
    given = report(elected(), problems=("no right to describe x",), silent_brokers={4: "timed out"})
    lines = [" ".join(line.split()) for line in render_outcomes(given).splitlines()]
    assert lines[2:] == [
        "orders 0 elected 3 8 3 0 records unknown",
        "",
        "broker 4 did not answer: timed out",
        "problem: no right to describe x",
        "",
        lines[-1],
    ]
    assert lines[-1].startswith("1 partition: 1 online, 0 offline; 1 elected; certain loss 0 ")
    assert set(render_outcomes(given).splitlines()) < set(render_table(given).splitlines())


def test_the_outcomes_have_a_line_for_each_partition_that_is_not_online() -> None:
    reassigning = plan(1, designated=None, refusal="a reassignment\nis in progress")
    given = report(
        row(0, plan=plan(designated=4)),
        row(1, plan=reassigning),
        row(2, plan=plan(2, designated=None)),
        row(3),
        row(4, None),
        row(5, state(5, leader=4)),
    )
    lines = render_outcomes(given).splitlines()
    unknown = "no replica that could be elected is known well enough"
    assert lines[:5] == [
        "orders-0: offline; designated leader 4, certain loss 500 records, possible loss unknown",
        "orders-1: offline; no designated leader: a reassignment is in progress",
        f"orders-2: offline; no designated leader: {unknown}",
        "orders-3: offline; no replica was looked at",
        "orders-4: no such topic or partition",
    ]
    assert lines[5] == ""
    assert len(lines) == 7


def test_a_partition_that_was_tried_has_its_line_in_the_outcome_table_only() -> None:
    failed = row(plan=plan(), outcome=Outcome(OutcomeKind.FAILED, "timed out"))
    lines = render_outcomes(report(failed, row(1, plan=plan(1)))).splitlines()
    assert sum("timed out" in line for line in lines) == 1
    assert not any(line.startswith("orders-0") for line in lines)
    assert lines[4].startswith("orders-1: offline; designated leader 3, ")


@given(any_reports)
def test_any_report_prints_on_any_terminal(given: Report) -> None:
    for render in (render_table, render_replicas, render_outcomes):
        text = render(given)
        assert "\x1b" not in text
        text.encode("utf-8")


def test_8000_partitions_go_through_the_tables() -> None:
    given = report(*(elected(n) for n in range(8000)))
    assert render_table(given).count(" yes ") == 16000
    assert render_outcomes(given).count(" elected ") == 8000


_CELLS = st.text("a9.- é", max_size=60).map(str.strip)


@given(
    st.lists(st.tuples(_CELLS, _CELLS), max_size=12),
    st.sampled_from(["left", "right"]),
)
def test_a_long_table_is_made_in_blocks_that_look_like_one(
    rows: list[tuple[str, str]], side: str
) -> None:
    columns = (("", "topic", "left"), ("log end", "offset", side))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_module, "_ROWS_AT_ONCE", 3)
        in_blocks = table_module.table(columns, rows)
    assert in_blocks == table_module.table(columns, rows)
