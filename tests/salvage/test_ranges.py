"""What a leader lacks of another log, against sets of (leader epoch, offset) pairs."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kafka_unclean_recovery.model import EpochLineage, ReplicaLog
from kafka_unclean_recovery.planning.lineage import truncation_offset
from kafka_unclean_recovery.salvage.ranges import NO_EPOCH, lost_under
from tests.salvage.histories import log, two_histories

Pairs = set[tuple[int, int]]


def _spans(lineage: EpochLineage) -> list[tuple[int, int, int]]:
    return [(span.epoch, span.start_offset, span.end_offset) for span in lineage]


def _pairs(lineage: EpochLineage) -> Pairs:
    return {(s.epoch, at) for s in lineage for at in range(s.start_offset, s.end_offset)}


def test_a_longer_log_of_the_same_epoch_is_lost_from_the_leaders_end_on() -> None:
    lost = lost_under(log((0, 0, 10), (1, 10, 25)), log((0, 0, 10), (1, 10, 15)))
    assert _spans(lost.spans) == [(1, 15, 25)]


def test_a_tail_that_an_earlier_election_gave_up_is_lost_where_the_lineages_part() -> None:
    # The leader's log is longer at the end, and other records lie at these offsets.
    lost = lost_under(log((0, 0, 1200)), log((0, 0, 1000), (2, 1000, 1300)))
    assert _spans(lost.spans) == [(0, 1000, 1200)]


def test_logs_without_a_common_epoch_share_nothing() -> None:
    lost = lost_under(log((1, 0, 10)), log((0, 0, 5), (2, 5, 20)))
    assert _spans(lost.spans) == [(1, 0, 10)]


def test_a_shorter_log_loses_nothing() -> None:
    assert lost_under(log((0, 0, 10)), log((0, 0, 10), (1, 10, 15))).spans == ()


def test_what_the_leader_has_deleted_is_told_apart_and_not_lost() -> None:
    lost = lost_under(log((0, 0, 30)), log((0, 10, 20)))
    assert _spans(lost.spans) == [(0, 20, 30)]
    assert _spans(lost.below_log_start) == [(0, 0, 10)]


def test_what_the_leader_deleted_just_before_it_was_killed_is_not_lost() -> None:
    """Its log start is an old one, as after a kill within a minute of DeleteRecords."""
    leader = replace(log((0, 10, 20)), log_start_offset=0)
    lost = lost_under(log((0, 0, 8)), leader)
    assert (lost.spans, _spans(lost.below_log_start)) == ((), [(0, 0, 8)])
    emptied = replace(leader, epochs=())
    lost = lost_under(log((0, 0, 25)), emptied)
    assert _spans(lost.spans) == [(0, 20, 25)]


def test_a_leader_that_deleted_everything_lacks_what_lies_at_its_end_and_beyond() -> None:
    lost = lost_under(log((0, 0, 30)), log(start=20))
    assert _spans(lost.spans) == [(0, 20, 30)]
    assert _spans(lost.below_log_start) == [(0, 0, 20)]


def test_without_a_lineage_only_what_lies_beyond_the_leaders_end_is_certain() -> None:
    unknown = ReplicaLog(1, live=False, log_start_offset=0, log_end_offset=30)
    lost = lost_under(unknown, log((0, 0, 20)))
    assert _spans(lost.spans) == [(NO_EPOCH, 20, 30)]
    assert lost.doubt is not None
    assert "lineage is not known" in lost.doubt
    assert lost_under(unknown, log((0, 0, 40))).spans == ()


def test_a_leader_of_unknown_lineage_is_refused() -> None:
    with pytest.raises(ValueError, match="lineage"):
        lost_under(log((0, 0, 1)), ReplicaLog(2, live=False, log_end_offset=1))


@settings(deadline=None)
@given(st.randoms(use_true_random=False))
def test_of_any_history_exactly_the_pairs_that_the_leader_lacks_are_lost(
    chance: random.Random,
) -> None:
    first, second = two_histories(chance)
    for replica, leader in ((first, second), (second, first)):
        lost = lost_under(replica, leader)
        assert replica.epochs is not None
        assert leader.epochs is not None
        lacking = _pairs(replica.epochs) - _pairs(leader.epochs)
        start = leader.log_start_offset or 0
        assert _pairs(lost.spans) == {pair for pair in lacking if pair[1] >= start}
        assert _pairs(lost.below_log_start) == {pair for pair in lacking if pair[1] < start}
        assert _spans(lost.spans) == sorted(_spans(lost.spans), key=lambda span: span[1])
        _is_what_a_follower_truncates(replica, leader, lost.spans)


def _is_what_a_follower_truncates(
    replica: ReplicaLog, leader: ReplicaLog, lost: EpochLineage
) -> None:
    """Check the two where they share an epoch; without one Kafka may keep too much."""
    assert replica.epochs is not None
    assert leader.epochs is not None
    assert replica.log_end_offset is not None
    assert leader.log_end_offset is not None
    shared = {s.epoch for s in replica.epochs} & {s.epoch for s in leader.epochs}
    if not shared or leader.log_start_offset:
        return
    cut = truncation_offset(
        replica.epochs, replica.log_end_offset, leader.epochs, leader.log_end_offset
    )
    # A follower that starts beyond the leader's end loses all that it has.
    begins = max(cut, replica.log_start_offset or 0)
    assert (lost[0].start_offset if lost else replica.log_end_offset) == begins
