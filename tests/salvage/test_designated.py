"""Whose log a plan says is to lead, and when that is not known well enough."""

from __future__ import annotations

import pytest

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import EpochSpan, Scanned, TopicPartition
from kafka_unclean_recovery.salvage.designated import Designated, designated_leaders
from tests.salvage.disks import TOPIC_ID, plan_text

ORDERS = TopicPartition("orders", 0)


def _designated(text: str, *chosen: tuple[TopicPartition, int | None]) -> Designated:
    return designated_leaders(text, "plan.json", chosen).partitions[ORDERS]


def test_the_plan_tells_the_designated_leaders_log() -> None:
    lineage = (EpochSpan(0, 3, 10), EpochSpan(2, 10, 12))
    text = plan_text(lineage, log_start=3, log_end=12)
    assert designated_leaders(text, "plan.json").cluster_id == "c1"
    found = _designated(text)
    assert (found.topic_id, found.why_not) == (str(TOPIC_ID), None)
    assert found.log is not None
    assert (found.log.broker, found.log.live) == (2, True)
    assert (found.log.log_start_offset, found.log.log_end_offset) == (3, 12)
    assert found.log.epochs == lineage


@pytest.mark.parametrize(
    ("text", "chosen", "why"),
    [
        (plan_text(leader_lives=False), None, "leader is not known, or none; choose one by hand"),
        (plan_text(None), None, "has no lineage in the plan"),
        (plan_text(), 1, "was not seen when the plan was made: broker is down"),
        (plan_text(), 9, "broker 9 is to lead, but the plan knows no replica of it"),
    ],
)
def test_a_leader_that_is_not_known_well_enough_says_why(
    text: str, chosen: int | None, why: str
) -> None:
    found = _designated(text, (ORDERS, chosen))
    assert found.log is None
    assert why in (found.why_not or "")


def test_a_leader_chosen_by_hand_counts_instead_of_the_plans() -> None:
    found = _designated(plan_text(leader_lives=False), (ORDERS, 2))
    assert found.log is not None
    assert found.log.broker == 2


def test_a_choice_for_a_partition_that_the_plan_lacks_is_an_error() -> None:
    with pytest.raises(InputError, match=r"plan.json: has no orders-7, for which"):
        _designated(plan_text(), (TopicPartition("orders", 7), 2))


def test_a_plan_that_was_changed_is_refused() -> None:
    with pytest.raises(InputError, match="digest"):
        _designated(plan_text().replace('"end_offset": 10', '"end_offset": 5'))


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        (plan_text(suspect="a flipped bit"), "may be corrupt, and hold less: a flipped bit"),
        (plan_text(scanned=Scanned(ScanMode.FAST, "/mnt")), "was scanned fast, and may hold less"),
        (plan_text(scanned=Scanned(ScanMode.RECOVER, "/mnt")), None),
    ],
)
def test_a_leader_that_may_hold_less_than_the_plan_says_is_a_doubt(
    text: str, doubt: str | None
) -> None:
    found = _designated(text, (ORDERS, 2))
    assert found.log is not None
    assert (doubt or "None") in str(found.doubt)
