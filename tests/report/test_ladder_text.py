"""Ladders for a terminal."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_unclean_recovery.model import ReplicaInfo, Report
from kafka_unclean_recovery.planning.offline_plan import plan_from_disks
from kafka_unclean_recovery.report.ladder import ladder_of
from kafka_unclean_recovery.report.ladder_text import draw, render_ladders
from tests.infos import any_infos
from tests.planning.test_merged_scans import disk
from tests.planning.test_offline_plan import plan_of, scan
from tests.post_mortem.journals import CLUSTER, elected, of_many_epochs, planned
from tests.report.test_loss_page import parted
from tests.reports import report, row


def test_a_bar_shows_epochs_and_what_is_lost() -> None:
    text = render_ladders(report(elected(parted())), 76, colour=False)
    assert "orders-0: leader epoch 7, ISR none, ELR 1,2; offsets 999899 to 1000200" in text
    assert "  A epoch 2, B epoch 0\n" in text
    assert [line for line in text.splitlines() if line.startswith("  broker")] == [
        "  broker 1 *    BBBBBBBBBBBBBBBBBBBBAA|AAAAAAAAAAAAAAAAAA...................",
        "  broker 2      BBBBBBBBBBBBBBBBBBBBbb|bbbbbbbb.............................",
        "  broker 4 down ????????????????????????????????????????????????????????????",
        "  broker 3 down BBBBBBBBBBBBBBBBBBBBAA|AAAAAAAAAAAAAAAAAaaaaaaaaaaaaaaaaaaaa",
    ]
    assert "epochs 0:[0,1000050); loses 50 records from offset 1000000 on\n" in text
    assert "  designated leader 1: certain loss 50 records, possible loss unknown\n" in text
    assert "\x1b" not in text


@pytest.mark.parametrize("width", [1, 10**9])
def test_one_lost_record_is_seen_beside_any_number(width: int) -> None:
    plan = plan_of(scan(disk(1, (0, 0, 5), (1, 5, 5 + width)), disk(2, (0, 0, 6))))
    ladder = ladder_of(plan)
    (loser,) = (rung for rung in ladder.rungs if rung.log.broker == 2)
    assert "b" in draw(ladder, loser, 60)


def test_colours_only_add() -> None:
    shown = report(*(elected(plan) for plan in (planned(0), of_many_epochs("busy"))))
    coloured = render_ladders(shown, 80, colour=True)
    assert "\x1b[48;5;214;38;5;0;9m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render_ladders(shown, 80, colour=False)


def test_partitions_without_replicas_have_a_line() -> None:
    text = render_ladders(report(row(0), row(1, state=None)), 80, colour=False)
    assert "orders-0: ! no replica was looked at" in text
    assert "orders-1: ! no such topic or partition" in text


@given(any_infos(), st.integers(0, 200), st.booleans())
def test_any_plan_fits_the_terminal(info: ReplicaInfo, width: int, colour: bool) -> None:
    rows = plan_from_disks(info, ())
    assert render_ladders(Report(CLUSTER, rows), width, colour)
    for each in rows:
        if each.plan is not None:
            ladder = ladder_of(each.plan)
            for rung in ladder.rungs:
                cells = draw(ladder, rung, 33)
                assert len(cells) == 33
                assert cells.isprintable()
                assert not rung.lost or re.search("[a-z~]", cells)
