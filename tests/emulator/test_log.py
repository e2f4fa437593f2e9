"""Logs: offsets and epochs as leaders assign them, where epochs end, where followers cut."""

from __future__ import annotations

import struct

import pytest

from kafka_unclean_recovery.emulator.broker.log import (
    EpochEnd,
    Log,
    assigned,
    batches_in,
    truncation_point,
)
from kafka_unclean_recovery.log_dir.errors import BadFormat
from tests.log_dir.segments import legacy, v2


def _log(*runs: tuple[int, int]) -> Log:
    """Return a log of (leader epoch, records) each, in batches of one record."""
    log = Log()
    for epoch, records in runs:
        for _ in range(records):
            data = assigned(v2(), log.end_offset, epoch)
            log.append(batches_in(data, log.size))
    return log


def test_a_leader_numbers_what_a_producer_sends_and_the_crc_stays_right() -> None:
    written = assigned(v2(count=3, epoch=-1) + v2(count=2, epoch=-1), 70, 4)
    first, second = batches_in(written)
    assert (first.base_offset, first.last_offset, first.leader_epoch) == (70, 72, 4)
    assert (second.base_offset, second.last_offset, second.leader_epoch) == (73, 74, 4)
    assert second.position == first.length


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(v2()[:-1], id="cut short"),
        pytest.param(v2()[:-1] + b"x", id="a flipped byte"),
        pytest.param(legacy(), id="message format 1"),
        pytest.param(b"garbage", id="garbage"),
    ],
)
def test_what_is_no_sound_batch_is_refused(data: bytes) -> None:
    with pytest.raises(BadFormat):
        assigned(data, 0, 0)


def test_an_epoch_ends_where_the_next_one_begins_and_the_latest_at_the_log_end() -> None:
    log = _log((0, 5), (2, 3))
    assert log.epochs == [(0, 0), (2, 5)]
    assert log.end_of_epoch(0) == EpochEnd(0, 5)
    assert log.end_of_epoch(1) == EpochEnd(0, 5)
    assert log.end_of_epoch(2) == EpochEnd(2, 8)


def test_an_epoch_newer_than_all_has_no_end_and_one_older_than_all_is_echoed() -> None:
    log = _log((3, 4))
    assert log.end_of_epoch(4) is None
    assert log.end_of_epoch(1) == EpochEnd(1, 0)
    assert Log().end_of_epoch(0) is None


def test_an_epoch_that_wrote_nothing_makes_way_for_the_next() -> None:
    log = _log((0, 5))
    log.assign_epoch(1, 5)
    assert log.latest_epoch == 1
    assert log.last_written_epoch == 0
    log.assign_epoch(4, 5)
    assert log.epochs == [(0, 0), (4, 5)]


def test_truncation_takes_whole_batches_and_the_epochs_behind() -> None:
    log = Log()
    log.append(batches_in(assigned(v2(count=4), 0, 0)))
    log.append(batches_in(assigned(v2(count=4), 4, 1), log.size))
    log.truncate(4)
    assert (log.end_offset, log.epochs) == (4, [(0, 0)])
    log.truncate(2)
    assert (log.end_offset, log.size, log.epochs) == (0, 0, [(0, 0)])


def test_a_slice_begins_with_the_batch_that_holds_the_offset() -> None:
    log = Log()
    for base in (0, 3, 6):
        log.append(batches_in(assigned(v2(count=3), base, 0), log.size))
    length = log.batches[0].length
    assert log.slice(4, 9, 10 * length) == (length, 2 * length)


def test_a_slice_ends_below_its_end_and_holds_one_batch_however_small_the_limit() -> None:
    log = _log((0, 5))
    length = log.batches[0].length
    assert log.slice(0, 3, 10 * length) == (0, 3 * length)
    assert log.slice(0, 5, 1) == (0, length)
    assert log.slice(3, 3, 1) == (0, 0)


def test_a_follower_cuts_where_the_leader_says_when_both_know_the_epoch() -> None:
    assert truncation_point(_log((0, 9)), EpochEnd(0, 6)) == 6
    assert truncation_point(_log((0, 4)), EpochEnd(0, 6)) == 4


def test_a_follower_goes_back_to_its_own_epoch_when_it_does_not_know_the_leader_s() -> None:
    """KIP-279: the leader's epoch 1 ends at 8, and ours before it at 5."""
    assert truncation_point(_log((0, 5), (2, 9)), EpochEnd(1, 8)) == 5


def test_the_epoch_lies_outside_of_the_crc() -> None:
    """Or else a leader could not write its own into what a producer sent."""
    written = assigned(v2(epoch=-1), 0, 9)
    assert struct.unpack_from(">i", written, 12)[0] == 9
    assert written[17:] == v2(epoch=-1)[17:]
