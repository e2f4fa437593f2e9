"""The judge of random starts (real/whole_starts.py): where a live replica ends that was cut."""

from __future__ import annotations

from typing import Any

import pytest

from tests.real.held_records import Record
from tests.real.metadata import PartitionView
from tests.real.replica_offsets import Offsets
from tests.real.whole_starts_judge import Start, judge
from tests.real.whole_starts_seen import Records, Seen, stuck

TOPIC = "orders"
BACK, CUT = 1, 3
LEADER_END, CUT_AT = 90, 10
LOST = 50
TOLD: dict[str, Any] = {
    "partitions": [
        {
            "topic": TOPIC,
            "effect": "leads",
            "directory": "",
            "log_end_offset": LEADER_END,
            "offset": None,
            "records": 0,
            "leader": BACK,
            "elected": BACK,
            "others_lose": LOST,
            "cuts": [{"broker": CUT, "live": True, "offset": CUT_AT, "records": LOST}],
        }
    ],
    "rests_on": None,
    "destroys": 1,
    "untold": 0,
}


WITHIN = 7
"""Where the batch begins that the cut is in."""


def _records(end: int) -> Records:
    return frozenset(Record(offset, b"%d" % offset) for offset in range(end))


def _start(end: int, held: int, stuck: bool = False, deleted: int = 0) -> Start:
    """Return a start after which broker 3, that was cut, ends at `end`, and its files hold what is
    below `held`."""
    ends = {(CUT, TOPIC): Offsets(None, 0, end), (BACK, TOPIC): Offsets(None, 0, LEADER_END)}
    view = PartitionView(BACK, (BACK, CUT), (BACK,) if stuck else (BACK, CUT))
    before = {(CUT, TOPIC): _records(CUT_AT + LOST)}
    after = {(CUT, TOPIC): _records(held), (BACK, TOPIC): _records(LEADER_END)}
    return Start(
        BACK,
        lives=True,
        before=Seen(frozenset({CUT}), records=before),
        after=Seen(frozenset({BACK, CUT}), {TOPIC: view}, ends, after),
        stuck={(CUT, TOPIC)} if stuck else (),
        deleted={TOPIC: deleted},
    )


@pytest.mark.parametrize(
    ("start", "wrong"),
    [
        (_start(LEADER_END, CUT_AT), None),
        (_start(CUT_AT, CUT_AT), "ends at 10, not as its leader"),
        (_start(CUT_AT, CUT_AT, stuck=True), None),
        (_start(CUT_AT - 1, CUT_AT, stuck=True), "ends at 9, not where it is cut"),
        (_start(LEADER_END, CUT_AT, stuck=True), "ends at 90, not where it is cut"),
        (_start(CUT_AT, WITHIN, stuck=True, deleted=CUT_AT), None),
        (_start(CUT_AT, WITHIN, stuck=True), "lost 53 records from 7"),
        (_start(LEADER_END, WITHIN, deleted=CUT_AT), "lost 53 records from 7"),
    ],
    ids=[
        "as its leader",
        "did not fetch",
        "can't fetch",
        "cut further, and can't fetch",
        "fetched though it said that it can't",
        "its batch below the cut, deleted on purpose",
        "its batch below the cut, which nobody deleted",
        "fetches, and lost more than the cut",
    ],
)
def test_a_replica_that_was_cut_ends_as_its_leader_unless_it_said_why_not(
    start: Start, wrong: str | None
) -> None:
    found = judge(TOLD, start).wrong
    assert [wrong is not None and wrong in each for each in found] == [True] * (wrong is not None)


def test_who_says_that_it_fetches_no_more_is_stuck() -> None:
    said = {
        3: "UnexpectedAppendOffsetException: Unexpected offset in append to r5x1-0. First offset",
        2: "Unexpected offset in append to r5x12-0. First offset",
        1: "[ReplicaFetcher replicaId=1, leaderId=2] Partition r5x2-0 marked as failed",
    }
    found = {(3, "r5x1"), (2, "r5x12"), (1, "r5x2")}
    assert stuck(said, ["r5x1", "r5x12", "r5x2"]) == found
