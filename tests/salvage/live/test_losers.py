"""Who would truncate what, and what speaks against an election once it is saved."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kafka_unclean_recovery.model import EpochSpan, PartitionPlan, PartitionState, ReplicaLog
from kafka_unclean_recovery.planning.plan import plan_partition
from kafka_unclean_recovery.salvage.live.losers import Loser, losers_of, other_leader, unsaved

STATE = PartitionState("orders", "id", 0, -1, 5, (1, 2, 3, 4), offline_replicas=(4,))


def _log(broker: int, *spans: tuple[int, int, int], live: bool = True) -> ReplicaLog:
    epochs = tuple(EpochSpan(*span) for span in spans)
    epoch, start, end = spans[-1][0], spans[0][1], spans[-1][2]
    return ReplicaLog(broker, live, epoch, start, 0, end, epochs)


WINNER = _log(1, (0, 0, 100), (2, 100, 110))
LOSER = _log(2, (0, 0, 150))
DEAD = _log(4, (0, 0, 900), live=False)


def _plan(*logs: ReplicaLog, state: PartitionState = STATE) -> PartitionPlan:
    return plan_partition(state, logs)


def test_a_loser_is_live_and_holds_what_the_leader_lacks() -> None:
    found = losers_of(_plan(WINNER, LOSER, _log(3, (0, 0, 80)), DEAD))
    (loser,) = found.known
    assert (loser.broker, loser.lost, found.untold) == (2, (EpochSpan(0, 100, 150),), {})
    assert (loser.start_offset, loser.end_offset, loser.records) == (100, 150, 50)


def test_every_loser_counts_even_of_the_same_records() -> None:
    found = losers_of(_plan(WINNER, LOSER, _log(3, (0, 0, 120), (1, 120, 130))))
    assert {loser.broker: loser.lost for loser in found.known} == {
        2: (EpochSpan(0, 100, 150),),
        3: (EpochSpan(0, 100, 120), EpochSpan(1, 120, 130)),
    }


@pytest.mark.parametrize(
    ("log", "why"),
    [
        (replace(LOSER, epochs=None), "its lineage is not known"),
        (replace(LOSER, problem="did not answer in time"), "did not answer in time"),
        (replace(LOSER, log_end_offset=None), "how far its log goes is not known"),
    ],
)
def test_of_a_live_replica_it_must_be_known(log: ReplicaLog, why: str) -> None:
    found = losers_of(_plan(WINNER, log))
    # Broker 3 was not asked.
    assert (found.known, found.untold) == ((), {2: why, 3: "was not asked"})


def test_of_whoever_the_controller_takes_for_alive_it_must_be_known() -> None:
    """Though another answer of the same moment had broker 3 gone."""
    gone = ReplicaLog(3, live=False, problem="broker is down")
    assert losers_of(_plan(WINNER, _log(2, (0, 0, 80)), gone)).untold == {3: "broker is down"}


def test_of_a_broker_that_may_live_unseen_it_must_be_known() -> None:
    unseen = replace(DEAD, log_end_offset=None, epochs=None, problem="not asked", unproven="runs")
    found = losers_of(_plan(WINNER, _log(2, (0, 0, 80)), _log(3, (0, 0, 80)), unseen))
    assert (found.known, found.untold) == ((), {4: "not asked"})


def test_of_a_replica_that_is_not_listed_and_lives_nothing_can_be_saved() -> None:
    # It truncates like any other, and nobody can fetch what its disk was seen to hold.
    unlisted = replace(LOSER, live=False, unproven="fetched the metadata log 0.3 s ago")
    state = replace(STATE, offline_replicas=(2, 4))
    found = losers_of(_plan(WINNER, unlisted, _log(3, (0, 0, 80)), state=state))
    assert (found.known, found.untold) == (
        (),
        {2: "its broker fetched the metadata log 0.3 s ago"},
    )


def test_without_the_leaders_lineage_nothing_is_known() -> None:
    found = losers_of(_plan(replace(WINNER, epochs=None), LOSER, _log(3, (0, 0, 80))))
    why = "the lineage of broker 1, which is to lead, is not known"
    assert (found.known, found.untold) == ((), {2: why, 3: why})


def test_an_empty_replica_and_a_failed_log_directory_lose_nothing() -> None:
    empty = ReplicaLog(3, True, -1, 0, 0, 0, ())
    failed = ReplicaLog(2, True, problem="KAFKA_STORAGE_ERROR")
    state = replace(STATE, offline_replicas=(2, 4))
    found = losers_of(_plan(WINNER, failed, empty, state=state))
    assert (found.known, found.untold) == ((), {})


def _saved(plan: PartitionPlan) -> tuple[Loser, ...]:
    return losers_of(plan).known


SHORT = _log(3, (0, 0, 80))
BEFORE = _plan(WINNER, LOSER, SHORT)


def test_what_was_saved_and_is_as_it_was_may_be_lost() -> None:
    assert unsaved(BEFORE, _saved(BEFORE)) is None
    assert other_leader(BEFORE, BEFORE) is None


def test_a_saved_loser_may_die_or_fall_silent() -> None:
    for gone in (
        replace(LOSER, live=False, problem="broker is down"),
        replace(LOSER, problem="did not answer in time"),
    ):
        assert unsaved(_plan(WINNER, gone, SHORT), _saved(BEFORE)) is None


def test_a_leader_that_is_gone_is_for_the_elector_to_find() -> None:
    state = replace(STATE, offline_replicas=(1, 2, 3, 4))
    gone = _plan(*(replace(log, live=False) for log in (WINNER, LOSER, SHORT)), state=state)
    assert (other_leader(BEFORE, gone), unsaved(gone, ())) == (None, None)


def test_a_loser_that_returned_meanwhile_was_not_saved() -> None:
    without_2 = replace(STATE, offline_replicas=(2, 4))
    before = _plan(WINNER, replace(LOSER, live=False), SHORT, state=without_2)
    why = unsaved(BEFORE, _saved(before))
    assert why == "broker 2 would by now lose other records than those saved"


def test_a_tail_that_is_another_by_now_was_not_saved() -> None:
    longer = _plan(WINNER, _log(2, (0, 0, 160)), SHORT)
    why = unsaved(longer, _saved(BEFORE))
    assert why == "broker 2 would by now lose other records than those saved"


def test_a_live_replica_that_can_not_be_asked_any_more_may_hold_anything() -> None:
    silent = _plan(WINNER, LOSER, replace(SHORT, problem="did not answer in time"))
    why = unsaved(silent, _saved(BEFORE))
    assert why == "what broker 3 would lose can't be told: did not answer in time"


def test_tails_were_saved_by_the_leader_that_was_designated_then() -> None:
    better = _plan(WINNER, LOSER, _log(3, (0, 0, 100), (3, 100, 120)))
    why = other_leader(BEFORE, better)
    assert why is not None
    assert why.startswith("broker 3 is the one to lead by now, not broker 1")
