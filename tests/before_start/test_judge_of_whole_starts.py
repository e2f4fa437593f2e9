"""The judge of whole starts (tests/real/whole_starts.py) sees each promise that proves false."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.log_dir.segments import legacy
from tests.real.held_records import Record, held_records, records_in
from tests.real.metadata import PartitionView
from tests.real.replica_offsets import Offsets
from tests.real.whole_starts_judge import Judgement, Start, judge
from tests.real.whole_starts_seen import Records, Seen
from tests.salvage.batches import batch

OWN, OTHER, DEAD, TOPIC, PATH = 1, 2, 3, "t", "/d/t-0"


def records(*offsets: int) -> Records:
    return frozenset(Record(offset, b"%d" % offset) for offset in offsets)


SHORT, LONG = records(0, 1), records(0, 1, 2, 3)


def row(effect: str, **told: Any) -> dict[str, Any]:
    nothing: dict[str, Any] = {
        "offset": None,
        "records": 0,
        "leader": None,
        "elected": None,
        "others_lose": 0,
        "cuts": [],
    }
    always = {"topic": TOPIC, "effect": effect, "directory": PATH, "log_end_offset": 2, "why": ""}
    return {**always, **nothing, **told}


def document(*rows: Mapping[str, Any], **told: Any) -> dict[str, Any]:
    return {
        "partitions": list(rows),
        "destroys": True,
        "untold": False,
        "unknown": [],
        "rests_on": None,
        **told,
    }


def start(
    leader: int = OTHER,
    own: Records = SHORT,
    after: Records = SHORT,
    other: Records = SHORT,
    other_after: Records = SHORT,
    **changed: Any,
) -> Start:
    """Return a start of broker 1, which has PATH, beside a live broker 2; broker 3 is down."""
    view = {TOPIC: PartitionView(leader, (OWN, OTHER, DEAD), (OTHER,))}
    live = frozenset({OWN, OTHER})
    held = {(OWN, TOPIC): after, (OTHER, TOPIC): other_after}
    ends = {place: Offsets(None, 0, len(each)) for place, each in held.items()}
    was = Seen(frozenset({OTHER}), view, {}, {(OWN, TOPIC): own, (OTHER, TOPIC): other})
    plain = Start(OWN, True, was, Seen(live, view, ends, held), {PATH: own}, {PATH: after})
    return replace(plain, **changed)


def with_log_start(offset: int, found: Start) -> Start:
    """Return a start after which all replicas begin and end at this offset."""
    ends = dict.fromkeys(found.after.offsets, Offsets(None, offset, offset))
    return replace(found, after=replace(found.after, offsets=ends))


FOLLOWED = row("kept", leader=OTHER)
LEADS = row("leads", leader=OWN, elected=OWN)
CUT = {"broker": OTHER, "live": True, "offset": 2, "records": 2}
CUTS = row("leads", leader=OWN, elected=OWN, cuts=[CUT])
EMPTY = {"own": records(), "after": records(), "other": records(), "other_after": records()}
BELOW_ITS_START: dict[str, Any] = {
    "own": LONG,
    **dict.fromkeys(("after", "other", "other_after"), records(0)),
}
CUT_BELOW = document(row("truncated", offset=1, records=2, leader=OTHER))
TRUE = [
    (CUT_BELOW, start(**BELOW_ITS_START, log_starts={TOPIC: 2})),
    # Its leader has deleted all records below 3 since, among them its own record 2.
    (
        document(row("truncated", leader=OTHER, offset=2, records=2)),
        with_log_start(3, start(own=LONG, after=records(), other_after=records())),
    ),
    (document(FOLLOWED), start()),
    (document(LEADS), start(OWN)),
    (document(row("waits")), start(-1)),
    (document(CUTS), start(OWN, other=LONG)),
    (document(row("truncated", leader=OTHER, offset=2, records=2)), start(own=LONG)),
    # A damaged one: how many are cut is not told.
    (document(row("truncated", leader=OTHER, offset=2, records=None)), start(own=LONG)),
    (document(row("begins_empty", leader=OWN, elected=OWN)), start(OWN, **EMPTY)),
    (document(row("stray", leader=OTHER)), start(strays={TOPIC: [SHORT]})),
    (document(row("refused")), start(lives=False)),
    (
        document(row("refused", offset=1)),
        start(lives=False, after=records(), own_after={PATH: records(0)}),
    ),
    # What was put aside, or taken into use, before the broker ended.
    (document(row("refused")), start(lives=False, own_after={}, strays={TOPIC: [SHORT]})),
    (document(row("refused")), start(lives=False, own_after={}, after=SHORT)),
    (document(row("unknown")), start(OWN, other=LONG)),
    (document(row("kept", leader=DEAD)), start(OWN, other=LONG)),
    # Who leads was told, and that nobody knows what the others lose.
    (document({**LEADS, "others_lose": None}), start(OWN, other=LONG)),
]  # fmt: skip
FALSE = {
    "nothing was said": (document(), start()),
    "broker 2 leads, and not 1": (document(LEADS), start()),
    "broker 2 leads, and not -1": (document(row("waits")), start()),
    "broker 2 lost 2 records, which nobody had said": (
        document(LEADS),
        start(OWN, other=LONG),
    ),
    "broker 2 lost 1 records from 3": (
        document(CUTS),
        start(OWN, other=LONG, other_after=records(0, 1, 2)),
    ),
    "2 records are gone from 2 on": (document(FOLLOWED), start(own=LONG)),
    "it is cut at 2, not at 3": (
        document(row("truncated", leader=OTHER, offset=3, records=2)),
        start(own=LONG),
    ),
    "2 records are gone": (
        document(row("truncated", leader=OTHER, offset=2, records=1)),
        start(own=LONG),
    ),
    "3 records are gone": (CUT_BELOW, start(**BELOW_ITS_START)),
    "Kafka has its end at 4": (document(row("waits")), start(-1, own=LONG, after=LONG)),
    "in no directory that was put aside": (
        document(row("stray", leader=OTHER)),
        start(own_after={}),
    ),
    "it was to be deleted": (document(row("deleted", leader=OTHER)), start()),
    "the broker serves it": (document(row("offline")), start()),
    "it was to be refused, and lives": (document(row("refused")), start()),
    "it ended at its start": (document(FOLLOWED), start(lives=False)),
    "it ended, and 2 records": (
        document(row("refused")),
        start(lives=False, after=records(), own_after={}),
    ),
    "nothing was to be lost": (
        document(row("unknown"), destroys=False),
        start(OWN, other=LONG),
    ),
}


@pytest.mark.parametrize("case", TRUE, ids=lambda case: case[0]["partitions"][0]["effect"])
def test_what_comes_true_is_not_wrong(case: tuple[dict[str, Any], Start]) -> None:
    assert judge(*case).wrong == ()


@pytest.mark.parametrize("sentence", FALSE)
def test_what_proves_false_is_seen(sentence: str) -> None:
    found: Judgement = judge(*FALSE[sentence])
    assert any(sentence in each for each in found.wrong), found


def test_a_broker_of_which_a_directory_was_not_given_may_end() -> None:
    assert judge(document(FOLLOWED), start(lives=False, whole=False)).wrong == ()


def test_what_was_not_promised_is_counted() -> None:
    assert judge(document(row("unknown")), start()).untold == {TOPIC}
    assert judge(document(row("kept", leader=DEAD)), start()).premise == {TOPIC}


def test_of_scanned_disks_what_an_election_gave_up_counts_for_nothing() -> None:
    newer = frozenset(replace(record, epoch=2) for record in SHORT)
    found = start(OWN, own=newer, after=newer, other=LONG)
    assert judge(document(LEADS), found).wrong
    assert judge(document(LEADS, rests_on="a metadata log"), found).wrong == ()
    found = start(OWN, other=LONG)
    assert judge(document(LEADS, rests_on="a metadata log"), found).wrong


def test_what_has_expired_is_not_lost() -> None:
    ends = {(b, TOPIC): Offsets(None, 2, 4) for b in (OWN, OTHER)}
    found = start(own=LONG, after=records(2, 3), other=LONG, other_after=records(2, 3))
    assert (
        judge(document(FOLLOWED), replace(found, after=replace(found.after, offsets=ends))).wrong
        == ()
    )


def test_records_are_read_wherever_a_batch_is_whole(tmp_path: Path) -> None:
    rows = [(1700, None, b"a", ()), (1701, b"key", b"b" * 200, (("h", b"v"),))]
    whole, other = batch(5, rows, epoch=3), batch(90, rows[:1])
    damaged = bytearray(whole)
    damaged[-1] ^= 1
    data = whole + bytes(30) + bytes(damaged) + legacy(7) + other + whole[:70]
    expected = {Record(5, b"a"), Record(6, b"b" * 200), Record(90, b"a")}
    assert set(records_in(data)) == expected
    (tmp_path / "0.log").write_bytes(data)
    (tmp_path / "1.log.deleted").write_bytes(batch(3, rows))
    assert held_records(tmp_path) == expected
    assert held_records(tmp_path / "nothing") == frozenset()
