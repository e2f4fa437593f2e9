"""What is shown before asking."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from kafka_unclean_recovery.model import (
    Finding,
    Loss,
    Outcome,
    OutcomeKind,
    PartitionPlan,
    Severity,
    TopicPartition,
)
from kafka_unclean_recovery.planning.losses import loss_under
from kafka_unclean_recovery.recovery.consent import (
    as_settled,
    loses_nothing,
    render_consent,
    warning,
)
from tests.reports import any_plans, plan


def test_consent_shows_what_each_election_loses() -> None:
    given = [plan(0, loss=Loss(500, 1)), plan(1, designated=None, refusal="reassigning"), plan(2)]
    assert render_consent(given) == (
        "orders-0: elect broker 3; certain loss 500 records, possible loss 1 record\n"
        "    dead_replica_may_hold_more: wait for broker 1\n"
        "orders-2: elect broker 3; certain loss 0 records, possible loss unknown\n"
        "    dead_replica_may_hold_more: wait for broker 1\n"
        "orders-1: not elected: reassigning\n"
        "total: 2 partitions to elect; certain loss 500 records, possible loss 1 record, and"
        " unknown for 1 partition\n"
    )


def test_what_is_done_before_an_election_is_said_beside_it() -> None:
    notes = {TopicPartition("orders", 1): ["saved first: 5 records\x1b of broker 4"]}
    lines = render_consent([plan(0), plan(1)], notes).splitlines()
    saved = [line for line in lines if "saved" in line]
    assert saved == [r"    saved first: 5 records\x1b of broker 4"]
    assert lines[4] == lines[-2]


def test_consent_is_about_the_leader_designated_by_hand() -> None:
    assert "elect broker 4; certain loss 500 records" in render_consent([plan(designated=4)])


@pytest.mark.parametrize(("partitions", "shown"), [(40, 40), (41, 40), (100, 40)])
def test_consent_shows_the_worst_40_unknown_before_all(partitions: int, shown: int) -> None:
    given = [plan(n, loss=Loss(n, 0)) for n in range(partitions - 1)]
    given.append(plan(partitions, loss=Loss(None, 0)))
    lines = render_consent(given).splitlines()
    elections = [line.split(":")[0] for line in lines if "elect broker" in line]
    assert len(elections) == shown
    if partitions > 40:
        worst = [f"orders-{n}" for n in range(partitions - 2, partitions - 41, -1)]
        assert elections == [f"orders-{partitions}", *worst]
        left = partitions - 40
        assert lines[-2].startswith(f"... and {left} partition{'s' * (left > 1)} more, none worse")
    total = sum(range(partitions - 1))
    assert lines[-1] == (
        f"total: {partitions} partitions to elect; certain loss {total} records, and unknown for"
        " 1 partition, possible loss 0 records"
    )


def test_consent_does_not_list_every_refusal_either() -> None:
    lines = render_consent([plan(n, designated=None) for n in range(45)]).splitlines()
    assert len(lines) == 42
    assert lines[40:] == [
        "... and 5 more that are not elected",
        "total: 0 partitions to elect; certain loss 0 records, possible loss 0 records",
    ]


@given(st.lists(any_plans, max_size=3))
def test_any_plans_can_be_shown_on_any_terminal(given: list[PartitionPlan]) -> None:
    text = render_consent(given)
    assert "\x1b" not in text
    text.encode("utf-8")


def test_8000_partitions_are_not_all_shown() -> None:
    assert len(render_consent([plan(n) for n in range(8000)]).splitlines()) == 82


def _losing(certain: int | None, possible: int | None) -> PartitionPlan:
    """Return a plan with nothing graver than a notice said of it."""
    tie = Finding("tie", Severity.NOTICE, "both")
    return replace(plan(loss=Loss(certain, possible)), findings=(tie,))


LOSSLESS = _losing(0, 0)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (LOSSLESS, None),
        (_losing(500, 0), "records are lost for certain in 1 partition"),
        (_losing(500, None), "records are lost for certain in 1 partition"),
        (_losing(0, 1), "records may be lost in 1 partition"),
        (_losing(0, None), "records may be lost in 1 partition"),
        (_losing(None, 0), "records may be lost in 1 partition"),
        (_losing(None, None), "records may be lost in 1 partition"),
        # No loss is counted, and yet there is something graver than a notice to weigh.
        (plan(loss=Loss(0, 0)), "records may be lost in 1 partition"),
        (
            replace(LOSSLESS, findings=(Finding("committed_records_lost", Severity.LOSS, "!"),)),
            "records may be lost in 1 partition",
        ),
        # Nobody knows what a leader costs that is no candidate.
        (replace(LOSSLESS, designated_leader=1), "records may be lost in 1 partition"),
    ],
)
def test_a_yes_is_enough_only_where_nothing_can_be_lost(
    given: PartitionPlan, says: str | None
) -> None:
    assert warning([LOSSLESS, given]) == says


def test_certain_and_possible_losses_are_told_apart() -> None:
    given = [plan(0, loss=Loss(1, 0)), plan(1, loss=Loss(0, None)), plan(2), LOSSLESS]
    assert warning(given) == (
        "records are lost for certain in 1 partition, records may be lost in 2 partitions"
    )


@given(any_plans)
def test_what_is_not_known_is_never_cheaper_than_what_is(given: PartitionPlan) -> None:
    loss = loss_under(given, given.designated_leader)
    if None in (loss.certain, loss.possible):
        assert not loses_nothing(given)


def test_what_is_refused_before_anybody_is_asked_is_shown_with_the_reason() -> None:
    refused = {TopicPartition("orders", 0): Outcome(OutcomeKind.REFUSED, "above its limit")}
    lines = render_consent(as_settled([plan(0), plan(1)], refused)).splitlines()
    assert "orders-0: not elected: above its limit" in lines
    assert lines[-1].startswith("total: 1 partition to elect")
