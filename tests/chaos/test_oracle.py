"""The judge of the chaos finds what it is there for, and nothing in a run that went well."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from tests.chaos.oracle import Look, Partition, Run, Story, violations
from tests.chaos.recipe import NEWER, OLDER, SURVIVORS, holdings
from tests.chaos.scenario import (
    COMBINATIONS,
    REMADE,
    Fault,
    Moment,
    Scenario,
    Way,
    scenario,
)
from tests.real.metadata import PartitionView
from tests.real.records import numbered

OLD, NEW, SPARE = (OLDER, 0), (NEWER, 0), ("spare-0", 0)
ONLINE, ELSEWHERE = ("online-3", 0), (NEWER, 1)
BEST = {OLD: 4, NEW: 3, SPARE: 3}
REPLICAS = {OLD: (1, 2, 3, 4), NEW: (2, 4, 3), SPARE: (2, 4, 3), ONLINE: (3,), ELSEWHERE: (4, 3, 2)}


def _values(count: int) -> list[bytes]:
    return [numbered(number) for number in range(count)]


def _look(leaders: dict[Partition, int], *, records: bool) -> Look:
    partitions = {
        p: PartitionView(leaders.get(p, -1), replicas, isr=()) for p, replicas in REPLICAS.items()
    }
    held = {p: holdings(p[0])[leader] for p, leader in leaders.items() if p in BEST and records}
    ends = {**held, ("online-3", 0): 10, ("online-4", 0): 10}
    return Look(partitions, {ONLINE: 7}, {p: _values(end) for p, end in ends.items()})


def _rows(leaders: dict[Partition, int], outcome: str) -> dict[Partition, Any]:
    return {p: {"outcome": outcome, "reason": None, "leader": b} for p, b in leaders.items()}


def _story(**changes: Any) -> Story:
    told = Scenario(
        seed=1,
        fault=Fault.SIGTERM,
        moment=Moment.RESTORE,
        way=Way.PLAIN,
        broker=3,
        seconds=0.0,
        delay=0.0,
        stays_dead=False,
        quietly=False,
        crashes_again=False,
        patience_ms=4000,
    )
    first = Run(
        143, "", {}, BEST, dict.fromkeys(BEST, "elected"), {p: {b: 0} for p, b in BEST.items()}
    )
    story = Story(
        scenario=told,
        taken=frozenset(BEST),
        spare=None,
        reached=True,
        fenced=frozenset(),
        live=frozenset(SURVIVORS),
        first=first,
        second=Run(0, "", _rows(BEST, "already_online"), {}, {}, {}),
        unfinished=0,
        before=_look({ONLINE: 3}, records=False),
        after=_look({**BEST, ONLINE: 3}, records=True),
    )
    return replace(story, **changes)


GOOD = _story()


def _told(fault: Fault, moment: Moment) -> Scenario:
    return replace(GOOD.scenario, fault=fault, moment=moment)


def _after(partition: Partition, **changes: Any) -> Look:
    changed = replace(GOOD.after.partitions[partition], **changes)
    return replace(GOOD.after, partitions={**GOOD.after.partitions, partition: changed})


def _read(partition: Partition, values: list[bytes]) -> Look:
    return replace(GOOD.after, records={**GOOD.after.records, partition: values})


def _without(partition: Partition) -> Look:
    left = {p: view for p, view in GOOD.after.partitions.items() if p != partition}
    return replace(GOOD.after, partitions=left)


def _first(**changes: Any) -> Run:
    return replace(GOOD.first, **changes)


def _second(**changes: Any) -> Run:
    return replace(GOOD.second, **changes)


def _row(partition: Partition, outcome: str, leader: int) -> dict[Partition, Any]:
    return {partition: {"outcome": outcome, "reason": "why", "leader": leader}}


def _spare(fault: Fault, moment: Moment, **changes: Any) -> dict[str, Any]:
    return {"scenario": _told(fault, moment), "spare": SPARE, **changes}


def _unhappy(partition: Partition, reason: str | None) -> Run:
    row = {"outcome": "refused", "reason": reason, "leader": None}
    return _second(code=1, rows={**GOOD.second.rows, partition: row})


@pytest.mark.parametrize(
    "story",
    [
        GOOD,
        # The best broker was lost while it was looked for; at the last moment; after it had led.
        _story(
            scenario=_told(Fault.PAUSE_BROKER, Moment.GATHERING),
            fenced=frozenset({3}),
            first=_first(designated={**BEST, NEW: 4}),
            after=replace(_after(NEW, leader=4), records={**GOOD.after.records, NEW: _values(20)}),
            second=_second(rows=_rows({**BEST, NEW: 4}, "already_online")),
        ),
        # The best broker did not answer in time, and what it holds was told as unknown.
        _story(
            first=_first(
                designated={**BEST, NEW: 4},
                claims={OLD: {4: 0}, NEW: {4: None}},
                silent=frozenset({3}),
            ),
            after=replace(_after(NEW, leader=4), records={**GOOD.after.records, NEW: _values(20)}),
            second=_second(rows=_rows({**BEST, NEW: 4}, "already_online")),
        ),
        # The active controller hung, and in the end each survivor was fenced for a while.
        _story(
            scenario=_told(Fault.PAUSE_BROKER, Moment.ELECT),
            fenced=frozenset({3, 4}),
            first=_first(code=1, outcomes={OLD: "elected", NEW: "failed"}),
            after=replace(_after(NEW, leader=4), records={**GOOD.after.records, NEW: _values(20)}),
            second=_second(rows=_rows({**BEST, NEW: 4}, "already_online")),
        ),
        # Who led last was let in before the plan.
        _story(
            scenario=replace(_told(Fault.RETURN_KILLED, Moment.GATHERING), broker=1),
            live=frozenset({1, 3, 4}),
            first=_first(designated={NEW: 3, SPARE: 3}, outcomes={NEW: "elected"}),
            after=replace(_after(OLD, leader=1), records={**GOOD.after.records, OLD: _values(50)}),
            second=_second(rows=_rows({**BEST, OLD: 1}, "already_online")),
        ),
        _story(
            scenario=_told(Fault.DELETE_TOPIC, Moment.ELECT),
            spare=SPARE,
            after=_without(SPARE),
            second=_unhappy(SPARE, "topic spare-0 does not exist"),
        ),
        # Somebody made it anew, and the run said so.
        _story(
            scenario=_told(Fault.REMAKE_TOPIC, Moment.REORDERED),
            spare=SPARE,
            first=_first(rows=_row(SPARE, "failed", 3)),
            after=_after(SPARE, replicas=REMADE),
        ),
        # A blind election by somebody else, which the run told of.
        _story(
            scenario=_told(Fault.ELECT, Moment.PROMPT),
            spare=SPARE,
            first=_first(designated={OLD: 4, NEW: 3}, rows=_row(SPARE, "failed", 4)),
            second=_second(rows=_rows({**BEST, SPARE: 4}, "already_online")),
            after=replace(
                _after(SPARE, leader=4), records={**GOOD.after.records, SPARE: _values(20)}
            ),
        ),
        # Nothing was elected past a broker that could not be read.
        _story(
            scenario=_told(Fault.UNLIST, Moment.ELECT),
            fenced=frozenset({3}),
            first=_first(code=1, designated={}, outcomes={}, rows=_rows(BEST, "refused")),
            second=_second(designated=BEST, rows=_rows(BEST, "elected")),
        ),
        _story(
            scenario=_told(Fault.REASSIGN, Moment.GATHERING),
            spare=SPARE,
            first=_first(designated={OLD: 4, NEW: 3}),
            after=_after(SPARE, leader=-1, replicas=(4, 3, 1, 2)),
            second=_unhappy(SPARE, "a reassignment is in progress"),
        ),
        _story(
            scenario=_told(Fault.KILL_BROKER, Moment.VERIFY),
            fenced=frozenset({3}),
            live=frozenset({4}),
            after=_after(ONLINE, leader=-1),
            second=_unhappy(ONLINE, "no live replica"),
        ),
    ],
    ids=[
        "well",
        "lost while looking",
        "silent",
        "both fenced",
        "returned",
        "deleted",
        "made anew",
        "elected by another",
        "not listed",
        "reassigned",
        "gone for good",
    ],
)
def test_nothing_is_wrong_with_a_run_that_went_well(story: Story) -> None:
    assert violations(story) == []


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"first": _first(designated={**BEST, OLD: 3})}, "first run designated 3"),
        ({"second": _second(designated={OLD: 3})}, "second run designated 3"),
        (
            {
                "scenario": replace(_told(Fault.RETURN_STOPPED, Moment.PROMPT), broker=2),
                "live": frozenset({2, 3, 4}),
            },
            "first run designated 4",
        ),
        (
            {
                "scenario": _told(Fault.KILL_BROKER, Moment.ELECT),
                "fenced": frozenset({3}),
                "first": _first(designated={**BEST, NEW: 4}),
            },
            "first run designated 4",
        ),
        (_spare(Fault.REMAKE_TOPIC, Moment.REORDERED), "was made anew with (3, 4)"),
        (
            _spare(
                Fault.REMAKE_TOPIC,
                Moment.VERIFY,
                first=_first(rows=_row(SPARE, "elected", 3)),
                after=_after(SPARE, replicas=REMADE),
            ),
            "was made anew, and the first run says elected",
        ),
        (
            _spare(
                Fault.ELECT,
                Moment.PROMPT,
                first=_first(designated={}, rows=_row(SPARE, "already_online", 4)),
            ),
            "is led by 4, who lacks records, and it is already_online",
        ),
        (
            _spare(Fault.REASSIGN, Moment.RESTORED, after=_after(SPARE, replicas=(2, 4, 3))),
            "somebody else reassigned",
        ),
        ({"scenario": _told(Fault.UNLIST, Moment.ELECT)}, "could not read: {"),
        (
            {
                "scenario": _told(Fault.UNLIST, Moment.ELECT),
                "first": _first(code=0, designated={}, rows=_rows(BEST, "already_online")),
            },
            "the first run ended with 0",
        ),
        ({"after": _after(OLD, leader=3)}, "led by 3"),
        ({"after": _after(OLD, leader=-1)}, "is offline"),
        ({"after": _after(OLD, replicas=(4, 3, 1, 2))}, "replica order"),
        ({"after": _without(OLD)}, "is gone"),
        ({"after": _read(NEW, _values(29))}, "29 records"),
        ({"after": _read(NEW, [*_values(29), b"other"])}, "other records"),
        ({"unfinished": 1}, "left to be put back"),
        ({"after": _after(ONLINE, leader=4)}, "was led by 3"),
        ({"after": _after(ELSEWHERE, replicas=(3, 4, 2))}, "not asked for, are (3, 4, 2)"),
        ({"after": _after(ELSEWHERE, leader=3)}, "was led by -1"),
        ({"after": _without(ONLINE)}, "is gone"),
        ({"after": replace(GOOD.after, epochs={ONLINE: 8})}, "leader epoch"),
        ({"after": _read(ONLINE, _values(9))}, "online-3 has not its 10 records"),
        ({"first": _first(stderr="Traceback (most recent")}, "traceback"),
        ({"second": _second(code=1)}, "ended with 1"),
        ({"second": _unhappy(OLD, "why")}, "refused after the second run"),
        ({"second": _unhappy(OLD, None)}, "for no reason"),
        ({"second": _second(rows=_rows({**BEST, OLD: 3}, "elected"))}, "report says that 3 leads"),
    ],
)
def test_what_is_wrong_is_found(changes: dict[str, Any], wrong: str) -> None:
    found = violations(_story(**changes))
    assert [sentence for sentence in found if wrong in sentence], found


def test_seeds_in_a_row_have_every_fault_at_every_moment() -> None:
    told = [scenario(seed) for seed in range(7, 7 + len(COMBINATIONS))]
    assert Counter((t.fault, t.moment) for t in told) == Counter(COMBINATIONS)
    assert scenario(7) == told[0]


def test_a_certain_loss_that_was_too_small_is_found() -> None:
    """Broker 3 leads a partition of which 4 holds ten more."""
    leaders = {**BEST, OLD: 3}
    claims = {OLD: {3: 0}, NEW: {3: 0}, SPARE: {3: 0}}
    first = replace(
        GOOD.first, designated=leaders, outcomes=dict.fromkeys(BEST, "elected"), claims=claims
    )
    story = replace(GOOD, first=first, after=_look({**leaders, ONLINE: 3}, records=True))
    assert any("10 records lost with 3, 0 were certain" in wrong for wrong in violations(story))
    unknown = replace(first, claims={**claims, OLD: {3: None}})
    found = list(violations(replace(story, first=unknown)))
    assert not any("were certain" in wrong for wrong in found)
