"""The records of several replicas as one sequence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.salvage.replay.origin import Origin, origin_headers, parse_origin
from kafka_unclean_recovery.salvage.replay.records import Fate, SavedRecord, fate, in_order, merged
from kafka_unclean_recovery.salvage.transactions import Ending


def record(
    offset: int,
    epoch: int | None = 0,
    broker: int = 1,
    ending: Ending | None = None,
) -> SavedRecord:
    return SavedRecord(broker, offset, epoch, 1000, None, b"%d" % offset, (), ending)


def test_one_offset_under_two_leader_epochs_is_two_records() -> None:
    found = list(merged([[record(5, 1)], [record(5, 2, 3), record(6, 2, 3)]], "a-0"))
    assert [(each.leader_epoch, each.offset) for each in found] == [(1, 5), (2, 5), (2, 6)]


def test_without_a_leader_epoch_two_replicas_may_differ_so_both_count() -> None:
    found = list(merged([[record(5, None, 1)], [record(5, None, 3)]], "a-0"))
    assert [each.broker for each in found] == [1, 3]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (Ending.OPEN, Ending.COMMITTED, Fate.SETTLED),
        (Ending.OPEN, Ending.ABORTED, Fate.ABORTED),
        (Ending.OPEN, Ending.OPEN, Fate.OPEN),
        (Ending.COMMITTED, Ending.ABORTED, Fate.OPEN),
        (None, None, Fate.SETTLED),
    ],
)
def test_a_marker_counts_whichever_replica_has_it(
    one: Ending | None, other: Ending | None, expected: Fate
) -> None:
    for first, second in ((one, other), (other, one)):
        copies = [[record(5, ending=first)], [record(5, broker=3, ending=second)]]
        (found,) = merged(copies, "a-0")
        assert (fate(found), found.copies) == (expected, 2)


@pytest.mark.parametrize(
    "change",
    [
        {"value": b"other"},
        {"key": b""},
        {"timestamp": 1001},
        {"headers": (("h", b""),)},
        {"control": True},
    ],
    ids=str,
)
def test_copies_that_differ_are_refused_unless_only_the_others_are_suspect(
    change: dict[str, Any],
) -> None:
    first, other = record(5), replace(record(5, broker=3), **change)
    for suspects in ((False, False), (True, True), (True, False)):
        one, two = (
            replace(each, suspect=suspect)
            for each, suspect in zip((first, other), suspects, strict=True)
        )
        with pytest.raises(InputError, match=r"^a-0: offset 5 of leader epoch 0 is another rec"):
            list(merged([[one], [two]], "a-0"))
    (found,) = merged([[first], [replace(other, suspect=True)]], "a-0")
    assert (found.content, found.broker, found.copies) == (first.content, 1, 2)


@pytest.mark.parametrize("second", [record(5), record(4), record(7, -1), record(9, None)])
def test_records_out_of_order_are_refused(second: SavedRecord) -> None:
    with pytest.raises(InputError, match=r"^the file: offset \d of leader epoch .* out of order"):
        list(in_order([record(5), second], "the file"))


ORIGIN = Origin("c1", "orders", "an id", 3, 14, 2, 1, 1000)
UNKNOWN = Origin("c1", "orders", "an id", 3, 14, None, 1, None)


@pytest.mark.parametrize("origin", [ORIGIN, UNKNOWN])
def test_an_origin_is_read_back_from_its_headers(origin: Origin) -> None:
    assert parse_origin([("h", None), *origin_headers(origin)]) == origin


def test_of_a_record_that_was_replayed_twice_the_last_origin_counts() -> None:
    assert parse_origin([*origin_headers(UNKNOWN), *origin_headers(ORIGIN)]) == ORIGIN


def test_headers_of_others_are_no_origin() -> None:
    ours = origin_headers(ORIGIN)
    broken = [(key, b"x" if key.endswith("offset") else value) for key, value in ours]
    for headers in ([], ours[1:], [*ours, ("h", b"")], broken):
        assert parse_origin(headers) is None
