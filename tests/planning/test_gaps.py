"""A gap that several disks have alike comes from their leader, and is no reason to doubt them."""

from __future__ import annotations

from msgspec.structs import replace

from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import EpochSpan, ReplicaLog, Scanned
from kafka_unclean_recovery.planning.gaps import (
    last_batch_behind_a_gap,
    missing_offsets,
    segment_behind_a_gap,
)
from kafka_unclean_recovery.planning.log_trust import cross_check

GAP = last_batch_behind_a_gap(1000, 2993)


def disk(broker: int, suspect: str | None = GAP, end: int = 3000) -> ReplicaLog:
    return ReplicaLog(
        broker,
        live=False,
        last_written_leader_epoch=5,
        log_start_offset=0,
        log_end_offset=end,
        epochs=(EpochSpan(0, 0, 2993), EpochSpan(5, 2993, end)),
        suspect=suspect,
        certain_end_offset=None if suspect is None else 1000,
        scanned=Scanned(ScanMode.RECOVER, "/d/t-0"),
    )


def suspects(*logs: ReplicaLog) -> list[int]:
    checked = cross_check(None, logs, compacted=False, covered=())
    return [log.broker for log in checked if log.suspect is not None]


def test_a_gap_on_one_disk_alone_stays_a_doubt() -> None:
    assert suspects(disk(1), disk(2, None)) == [1]


def test_the_same_gap_on_two_disks_is_none() -> None:
    assert suspects(disk(1), disk(2), disk(3, None)) == []
    between = segment_behind_a_gap(2000, 1500)
    assert suspects(disk(1, between), disk(2, between)) == []


def test_gaps_that_differ_in_anything_stay_doubts() -> None:
    assert suspects(disk(1), disk(2, last_batch_behind_a_gap(1000, 2992))) == [1, 2]
    assert suspects(disk(1), disk(2, end=3001)) == [1, 2]
    assert suspects(disk(1), replace(disk(2), last_written_leader_epoch=4)) == [1, 2]


def test_where_no_disk_is_without_a_gap_none_is_doubted_for_one() -> None:
    """Each replica of a topic that was compacted once has gaps of its own."""
    one, two = disk(1, missing_offsets(10, 20)), disk(2, segment_behind_a_gap(2000, 1500))
    assert suspects(one, two) == []
    assert suspects(one, two, disk(3, None)) == [1, 2]
    assert suspects(one) == [1]
    # This one may have a wrong base offset, and so look longer than it is.
    assert suspects(one, two, disk(3)) == [1, 2, 3]


def test_another_doubt_is_not_taken_back_because_two_have_it() -> None:
    assert suspects(disk(1, "offsets fall"), disk(2, "offsets fall")) == [1, 2]
