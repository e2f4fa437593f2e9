"""What a leader makes of the fetches of its followers."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_unclean_recovery.emulator.broker.log import Log, batches_in
from kafka_unclean_recovery.emulator.broker.replica import (
    Replica,
    committed_end,
    follow_metadata,
    in_sync,
    lagging,
    note_fetch,
)
from kafka_unclean_recovery.kraft_rules.partition import PartitionRegistration
from tests.emulator.steps import KEY, TOPIC
from tests.log_dir.segments import v2

LAG_TIME_MAX = 30.0


def _leader(high_watermark: int, isr: tuple[int, ...] = (1, 2, 3)) -> Replica:
    """Return the replica of broker 1, which became leader at offset 10 and time 0."""
    replica = Replica(KEY, TOPIC, Path(), Log(batches_in(v2(count=10))), high_watermark)
    follow_metadata(replica, 1, PartitionRegistration((1, 2, 3), (), isr, 1), 0.0)
    return replica


@pytest.mark.parametrize(
    ("fetched", "high_watermark", "joins"),
    [
        pytest.param(None, 0, False, id="never fetched"),
        pytest.param(9, 5, False, id="behind the leader's epoch"),
        pytest.param(10, 5, True, id="in the leader's epoch"),
        pytest.param(10, 12, False, id="behind the high watermark"),
        pytest.param(12, 12, True, id="at the high watermark"),
    ],
)
def test_a_follower_joins_the_isr_with_all_that_is_committed_and_in_the_leader_s_epoch(
    fetched: int | None, high_watermark: int, joins: bool
) -> None:
    replica = _leader(high_watermark, (1,))
    if fetched is not None:
        note_fetch(replica, 2, fetched, 1.0)
    assert in_sync(replica, 2) is joins


def test_a_member_of_the_isr_has_time_to_fetch_from_a_new_leader() -> None:
    replica = _leader(10)
    assert lagging(replica, LAG_TIME_MAX, LAG_TIME_MAX) == ()
    assert lagging(replica, LAG_TIME_MAX + 1, LAG_TIME_MAX) == (2, 3)


def test_a_follower_that_has_everything_does_not_lag_however_long_ago_it_fetched() -> None:
    replica = _leader(10)
    note_fetch(replica, 2, 10, 1.0)
    assert lagging(replica, 1000.0, LAG_TIME_MAX) == (3,)


def test_a_follower_that_always_gets_what_there_was_at_its_last_fetch_does_not_lag() -> None:
    replica = _leader(10)
    note_fetch(replica, 2, 10, 50.0)
    replica.log.append(batches_in(v2(10, count=5)))
    note_fetch(replica, 2, 10, 60.0)
    replica.log.append(batches_in(v2(15, count=5)))
    note_fetch(replica, 2, 15, 100.0)
    assert replica.followers[2].caught_up_at == 60.0


def test_the_high_watermark_is_the_least_end_of_the_isr_and_never_falls() -> None:
    replica = _leader(3, (1, 2))
    note_fetch(replica, 2, 7, 1.0)
    note_fetch(replica, 3, 1, 1.0)
    assert committed_end(replica, 1) == 7
    replica.high_watermark = 8
    assert committed_end(replica, 1) == 8
