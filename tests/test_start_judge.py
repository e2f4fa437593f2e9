"""The judge of random starts (real/whole_starts.py): where a live replica ends that was cut."""

from __future__ import annotations

from typing import Any

import pytest

from tests.real.held_records import Record
from tests.real.metadata import PartitionView
from tests.real.replica_offsets import Offsets
from tests.real.whole_starts_judge import Start, judge
from tests.real.whole_starts_seen import Records, Seen

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


def _records(end: int) -> Records:
    return frozenset(Record(offset, b"%d" % offset) for offset in range(end))


def _start(end: int, isr: tuple[int, ...]) -> Start:
    """Return a start after which broker 3, that was cut, ends at `end`."""
    ends = {(CUT, TOPIC): Offsets(None, 0, end), (BACK, TOPIC): Offsets(None, 0, LEADER_END)}
    view = PartitionView(BACK, (BACK, CUT), isr)
    before = {(CUT, TOPIC): _records(CUT_AT + LOST)}
    after = {(CUT, TOPIC): _records(CUT_AT), (BACK, TOPIC): _records(LEADER_END)}
    return Start(
        BACK,
        lives=True,
        before=Seen(frozenset({CUT}), records=before),
        after=Seen(frozenset({BACK, CUT}), {TOPIC: view}, ends, after),
    )


@pytest.mark.parametrize(
    ("end", "isr", "wrong"),
    [
        (LEADER_END, (BACK, CUT), False),
        (CUT_AT, (BACK, CUT), True),
        (CUT_AT, (BACK,), False),
        (LEADER_END - 1, (BACK,), False),
        (CUT_AT - 1, (BACK,), True),
    ],
    ids=["as its leader", "in sync", "did not fetch", "on the way", "cut further"],
)
def test_a_replica_that_was_cut_ends_as_its_leader_once_all_is_at_rest(
    end: int, isr: tuple[int, ...], wrong: bool
) -> None:
    found = judge(TOLD, _start(end, isr)).wrong
    assert [f"{TOPIC}: broker {CUT} ends at {end}" in each for each in found] == [True] * wrong
