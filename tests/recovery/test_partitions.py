"""A partition's way through a run: no stage is left out, and none is gone back to."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs

from kafka_unclean_recovery.model import NO_LEADER, Cluster, Outcome, OutcomeKind, TopicPartition
from kafka_unclean_recovery.planning.plan import plan_partition
from kafka_unclean_recovery.recovery.observe import Observation
from kafka_unclean_recovery.recovery.partitions import (
    Rows,
    Stage,
    WrongStage,
    at,
    carried_out,
    consented,
    not_begun,
    observed,
    outcomes_of,
    planned,
    report_on,
    settled,
    verified,
)
from tests.transport.scripted import offline

OFFLINE, ONLINE, GONE = (TopicPartition("orders", n) for n in (0, 1, 2))
ELECTED = {OFFLINE: Outcome(OutcomeKind.ELECTED)}
REFUSED = {OFFLINE: Outcome(OutcomeKind.REFUSED, "over its limit")}
STATE = offline(0)
LED = structs.replace(STATE, leader=2)
PLANS = {OFFLINE: plan_partition(STATE, [])}
SEEN = Observation(
    Cluster("c-1", {}),
    {ONLINE: structs.replace(offline(1), leader=2), OFFLINE: STATE},
    {GONE: "topic orders has no partition 2"},
    {OFFLINE: []},
)


def _stages(rows: Rows) -> list[Stage]:
    return [row.stage for row in rows.values()]


def _consented() -> Rows:
    return consented(planned(observed(SEEN), PLANS))


def test_what_is_online_or_missing_is_settled_as_soon_as_it_is_seen() -> None:
    rows = observed(SEEN)
    assert list(rows) == [OFFLINE, ONLINE, GONE]
    assert _stages(rows) == [Stage.OBSERVED, Stage.SETTLED, Stage.SETTLED]
    assert [row.outcome and row.outcome.kind for row in rows.values()] == [
        None,
        OutcomeKind.ALREADY_ONLINE,
        OutcomeKind.FAILED,
    ]


def test_a_partition_goes_stage_by_stage_to_the_report() -> None:
    rows = carried_out(_consented(), ELECTED)
    assert rows[OFFLINE].stage is Stage.CARRIED_OUT
    rows = verified(rows, {OFFLINE: LED, ONLINE: SEEN.states[ONLINE]})
    assert _stages(rows) == [Stage.VERIFIED, Stage.VERIFIED, Stage.SETTLED]
    first = report_on(SEEN, rows).partitions[0]
    assert (first.topic_partition, first.state, first.plan) == (OFFLINE, LED, PLANS[OFFLINE])
    assert first.outcome == ELECTED[OFFLINE]


def test_consent_reaches_only_what_is_not_settled() -> None:
    rows = consented(settled(planned(observed(SEEN), PLANS), REFUSED))
    assert at(rows, Stage.CONSENTED) == []
    assert rows[OFFLINE].outcome == REFUSED[OFFLINE]
    assert outcomes_of(rows) == {tp: row.outcome for tp, row in rows.items()}
    assert OFFLINE not in outcomes_of(observed(SEEN))


def test_an_election_without_an_answer_has_failed() -> None:
    outcome = carried_out(_consented(), {})[OFFLINE].outcome
    assert outcome is not None
    assert outcome.kind is OutcomeKind.FAILED
    assert outcome.reason == "what became of its election is not known; look again"


def test_an_answer_for_what_was_never_consented_to_changes_nothing() -> None:
    rows = settled(planned(observed(SEEN), PLANS), REFUSED)
    assert carried_out(rows, ELECTED) == rows


def test_a_partition_that_is_offline_again_in_the_end_has_failed() -> None:
    rows = carried_out(_consented(), ELECTED)
    lost = structs.replace(SEEN.states[ONLINE], leader=NO_LEADER)
    rows = verified(rows, {OFFLINE: STATE, ONLINE: lost})
    for tp, was_elected in ((OFFLINE, True), (ONLINE, False)):
        outcome = rows[tp].outcome
        assert outcome is not None
        assert outcome.kind is OutcomeKind.FAILED
        assert outcome.reason == "it had a leader and has none again; recover it again"
        assert outcome.in_doubt is was_elected


def test_what_could_not_be_read_back_is_not_called_verified() -> None:
    rows = verified(carried_out(_consented(), ELECTED), {})
    assert rows[OFFLINE].stage is Stage.CARRIED_OUT
    assert rows[OFFLINE].state == STATE


def test_no_row_is_settled_twice_or_after_its_election() -> None:
    once = settled(planned(observed(SEEN), PLANS), REFUSED)
    for rows in (once, observed(SEEN), carried_out(_consented(), ELECTED)):
        with pytest.raises(WrongStage):
            settled(rows, not_begun(PLANS.values(), "too late"))


def test_a_topic_that_was_deleted_and_created_again_was_not_recovered() -> None:
    rows = carried_out(_consented(), ELECTED)
    (row, *_) = verified(rows, {OFFLINE: structs.replace(LED, topic_id="another")}).values()
    assert row.outcome is not None
    assert row.outcome.kind is OutcomeKind.FAILED
    assert row.outcome.reason == "its topic was deleted and created again: the old one is gone"


def test_a_topic_that_was_created_again_did_not_come_back_by_itself() -> None:
    led = structs.replace(LED, topic_id="another")
    seen = replace(SEEN, states={OFFLINE: led}, missing={}, came_back={OFFLINE: STATE})
    (row,) = observed(seen).values()
    assert row.outcome is not None
    assert row.outcome.kind is OutcomeKind.FAILED
