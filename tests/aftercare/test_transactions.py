"""How an open transaction ended: only what its coordinator can prove counts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_unclean_recovery.aftercare.transactions import (
    CLOCKS_MS,
    Ending,
    Unclean,
    hanging,
    states_partition,
)
from kafka_unclean_recovery.cluster.requests.transactions import OpenTransaction, ToldTransaction
from kafka_unclean_recovery.model import TopicPartition

CLEAN = Unclean()
WHERE = TopicPartition("orders", 0)
LAST = 1_700_000_010_000
HERE = OpenTransaction(WHERE, 7, 3, -1, 100, LAST)
# It began ten seconds before the last record here.
COMMITTED = ToldTransaction("pay", 7, 3, "CompleteCommit", LAST - 10_000)
ABORTED = replace(COMMITTED, state="CompleteAbort")
ONGOING = replace(COMMITTED, state="Ongoing", partitions=frozenset({WHERE}))


def ending(
    *told: ToldTransaction,
    here: OpenTransaction = HERE,
    unclean: Unclean = CLEAN,
    since_elected: bool = False,
) -> Ending:
    return hanging(3, here, told, unclean, since_elected).verdict.ending


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        pytest.param(COMMITTED, Ending.COMMIT, id="committed"),
        pytest.param(ABORTED, Ending.ABORT, id="aborted"),
        pytest.param(replace(COMMITTED, producer_epoch=4), Ending.COMMIT, id="its end bumped"),
        pytest.param(replace(ABORTED, producer_epoch=5), Ending.UNKNOWN, id="later epoch"),
        pytest.param(replace(ABORTED, producer_epoch=2), Ending.UNKNOWN, id="earlier epoch"),
        pytest.param(
            replace(COMMITTED, start_time_ms=LAST + CLOCKS_MS + 1), Ending.UNKNOWN, id="began later"
        ),
        pytest.param(
            replace(COMMITTED, start_time_ms=LAST + CLOCKS_MS + 1, producer_epoch=4),
            Ending.UNKNOWN,
            id="began later, and restarted between",
        ),
        pytest.param(
            replace(COMMITTED, start_time_ms=LAST - CLOCKS_MS + 1),
            Ending.UNKNOWN,
            id="too close for clocks",
        ),
        pytest.param(
            replace(COMMITTED, start_time_ms=LAST - CLOCKS_MS), Ending.COMMIT, id="not too close"
        ),
        pytest.param(
            replace(
                ABORTED, start_time_ms=LAST + CLOCKS_MS, producer_epoch=4, ends_bump_epochs=True
            ),
            Ending.ABORT,
            id="close, but its epoch tells",
        ),
        pytest.param(replace(COMMITTED, start_time_ms=None), Ending.UNKNOWN, id="no time"),
        pytest.param(ONGOING, Ending.OPEN, id="ongoing"),
        pytest.param(
            replace(ONGOING, partitions=frozenset()), Ending.UNKNOWN, id="ongoing elsewhere"
        ),
        pytest.param(
            replace(ONGOING, producer_epoch=4), Ending.UNKNOWN, id="ongoing in a later epoch"
        ),
        pytest.param(
            replace(ONGOING, start_time_ms=LAST + CLOCKS_MS + 1), Ending.UNKNOWN, id="ongoing later"
        ),
        pytest.param(replace(ONGOING, state="PrepareAbort"), Ending.OPEN, id="being ended"),
        pytest.param(
            replace(COMMITTED, state="PrepareCommit"), Ending.UNKNOWN, id="ended but for here"
        ),
        pytest.param(replace(COMMITTED, state="Empty"), Ending.UNKNOWN, id="begun anew"),
        pytest.param(replace(COMMITTED, state="Dead"), Ending.UNKNOWN, id="a state of no use"),
        pytest.param(replace(COMMITTED, producer_id=8), Ending.UNKNOWN, id="of another producer"),
    ],
)
def test_the_verdict(told: ToldTransaction, expected: Ending) -> None:
    assert ending(told) is expected


@pytest.mark.parametrize("state", ["CompleteCommit", "CompleteAbort"])
def test_a_restarted_producers_next_transaction_does_not_end_the_one_before(state: str) -> None:
    # transaction.version 1: InitProducerId raised the epoch, no end of a transaction did.
    next_one = replace(COMMITTED, state=state, producer_epoch=4, start_time_ms=LAST + 500)
    assert ending(next_one) is Ending.UNKNOWN


def test_a_time_out_that_raised_the_epoch_is_believed_where_times_prove_it() -> None:
    timed_out = replace(ABORTED, producer_epoch=4, start_time_ms=LAST - CLOCKS_MS)
    assert ending(timed_out) is Ending.ABORT


def test_no_coordinator_and_two_of_them_are_no_verdict() -> None:
    assert ending() is Ending.UNKNOWN
    assert ending(COMMITTED, replace(COMMITTED, transactional_id="other")) is Ending.UNKNOWN


def test_without_a_time_of_its_own_nothing_is_sure() -> None:
    assert ending(COMMITTED, here=replace(HERE, last_timestamp_ms=None)) is Ending.UNKNOWN


def test_a_coordinator_whose_log_was_elected_uncleanly_is_not_believed() -> None:
    number = states_partition("pay", 50)
    assert ending(COMMITTED, unclean=Unclean(frozenset({number}), 50)) is Ending.UNKNOWN
    assert ending(ONGOING, unclean=Unclean(frozenset({number}), 50)) is Ending.UNKNOWN
    others = frozenset(range(50)) - {number}
    assert ending(COMMITTED, unclean=Unclean(others, 50)) is Ending.COMMIT


def test_what_began_since_the_election_and_goes_on_is_like_any_other() -> None:
    # Times of events, as Streams has them, are of long before.
    old = replace(HERE, last_timestamp_ms=0)
    assert ending(ONGOING, here=old) is Ending.UNKNOWN
    assert ending(ONGOING, here=old, since_elected=True) is Ending.OPEN
    # What is complete has an end everywhere: one that is open all the same hangs.
    assert ending(COMMITTED, since_elected=True) is Ending.COMMIT


@pytest.mark.parametrize(
    ("transactional_id", "partition"),
    # Java: Math.abs("...".hashCode()) % 50; "polygenelubricants" hashes to Integer.MIN_VALUE.
    [("", 0), ("a", 47), ("transaction", 24), ("polygenelubricants", 0), ("\U0001f600", 49)],
)
def test_the_partition_of_a_transactional_id_is_kafkas(
    transactional_id: str, partition: int
) -> None:
    assert states_partition(transactional_id, 50) == partition
