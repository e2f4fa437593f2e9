"""What a move asks for next, by how the partition stands."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from kafka_unclean_recovery.cluster.requests.describe import Described
from kafka_unclean_recovery.documents.journal_lines import Reordered
from kafka_unclean_recovery.model import (
    Move,
    MoveKind,
    PartitionPlan,
    PartitionState,
    TopicPartition,
)
from kafka_unclean_recovery.transport.electing import Means
from kafka_unclean_recovery.transport.move_elector import MoveElector
from kafka_unclean_recovery.transport.moved_sets import Next, next_step
from kafka_unclean_recovery.transport.observe_again import DueElection

TP = TopicPartition("orders", 0)
EMPTY = Reordered(TP, "t-1", (1,), (2, 3), 0, MoveKind.EMPTY)
BACK = Reordered(TP, "t-1", (1, 4, 3), (3, 4, 1), 0, MoveKind.BACK)
NONE: tuple[int, ...] = ()


def _next(
    step: Reordered,
    leader: int,
    replicas: tuple[int, ...],
    adding: tuple[int, ...] = (),
    removing: tuple[int, ...] = (),
    isr: tuple[int, ...] = (),
) -> Next:
    state = PartitionState(
        *("orders", "t-1", 0, leader, 7, replicas),
        isr=isr,
        adding_replicas=adding,
        removing_replicas=removing,
    )
    return next_step(step, Described({TP: state}, topic_ids={"orders": "t-1"}))


@pytest.mark.parametrize(
    ("leader", "replicas", "adding", "removing", "isr", "asked"),
    [
        (-1, (1,), NONE, NONE, NONE, Next.NOTHING),
        (-1, (2, 3, 1), (2, 3), (1,), NONE, Next.RESTORE),
        (2, (2, 3, 1), (2, 3), (1,), (2,), Next.WAIT),
        (2, (2, 3, 1), (2, 3), (1,), (2, 3), Next.WRITE),
        (2, (2, 3), NONE, NONE, (2, 3), Next.NOTHING),
        # An old replica is back, and leads.
        (1, (2, 3, 1), (2, 3), (1,), (1,), Next.CANCEL),
        # The old replicas are back, and the controller lists the same as added and removed.
        (-1, (1, 2, 3), (2, 3), (2, 3), NONE, Next.NOTHING),
        (1, (1, 2, 3), (2, 3), (2, 3), (1,), Next.CANCEL),
        # Somebody else wants other replicas, or the old ones.
        (2, (4, 2, 3), (4,), (2, 3), (2, 3), Next.NOTHING),
        (2, (1, 2, 3), (1,), (2, 3), (2, 3), Next.NOTHING),
    ],
)
def test_a_partition_that_starts_empty(
    leader: int,
    replicas: tuple[int, ...],
    adding: tuple[int, ...],
    removing: tuple[int, ...],
    isr: tuple[int, ...],
    asked: Next,
) -> None:
    assert _next(EMPTY, leader, replicas, adding, removing, isr) is asked


@pytest.mark.parametrize(
    ("leader", "replicas", "adding", "removing", "asked"),
    [
        # It was not written.
        (-1, (1, 4, 2, 3), (2,), (3,), Next.NOTHING),
        # Without a leader a cancellation may be followed by a blind election.
        (-1, (3, 4, 1, 2), (2,), (2,), Next.NOTHING),
        (3, (3, 4, 1, 2), (2,), (2,), Next.CANCEL),
        (3, (3, 4, 1), NONE, NONE, Next.NOTHING),
        # They came to [3, 4, 2].
        (3, (3, 4, 1, 2), (1,), (2,), Next.CANCEL),
    ],
)
def test_a_partition_whose_reassignment_is_ended(
    leader: int,
    replicas: tuple[int, ...],
    adding: tuple[int, ...],
    removing: tuple[int, ...],
    asked: Next,
) -> None:
    assert _next(BACK, leader, replicas, adding, removing) is asked


def test_a_topic_that_is_gone_or_was_made_anew_is_left_alone() -> None:
    assert next_step(EMPTY, Described({}, gone=frozenset({TP}))) is Next.NOTHING
    assert next_step(EMPTY, Described({}, topic_ids={"orders": "t-2"})) is Next.NOTHING
    assert next_step(EMPTY, Described({}, untold={TP: "why"})) is Next.WAIT


@pytest.mark.parametrize(
    ("step", "replicas", "adding", "removing"),
    [
        (BACK, (3, 4, 1, 5, 6), (1, 3, 4), (5, 6)),
        (BACK, (3, 4, 1, 5), (1,), (5,)),
        (EMPTY, (2, 3, 4), (2, 3), (4,)),
    ],
)
@pytest.mark.parametrize("topic_id", ["t-1", "t-2"], ids=["moved", "made anew"])
def test_new_replicas_that_came_to_the_set_of_somebody_else_are_taken_back(
    step: Reordered,
    replicas: tuple[int, ...],
    adding: tuple[int, ...],
    removing: tuple[int, ...],
    topic_id: str,
) -> None:
    state = PartitionState(
        *("orders", topic_id, 0, replicas[-1], 7, replicas),
        adding_replicas=adding,
        removing_replicas=removing,
    )
    seen = Described({TP: state}, topic_ids={"orders": topic_id})
    assert next_step(step, seen) is Next.CANCEL
    # Of an earlier run nobody knows whether it had come so far; without a leader, a cancellation
    # may be followed by a blind election.
    assert next_step(step, seen, sent=False) is Next.NOTHING
    offline = Described({TP: replace(state, leader=-1)}, topic_ids={"orders": topic_id})
    assert next_step(step, offline) is Next.NOTHING


@pytest.mark.parametrize(
    ("replicas", "adding", "removing", "stands"),
    [
        ((3, 4, 1, 2), NONE, (2,), True),
        ((3, 4, 1, 2), (2,), (2,), True),
        ((3, 4, 1), NONE, NONE, True),
        # Somebody asked for his reassignment once more: the first of his set would lead.
        ((1, 4, 2, 3), (2,), (3,), False),
        ((4, 3, 1), NONE, NONE, False),
    ],
)
def test_replicas_that_were_written_are_not_elected_by_once_somebody_else_changed_them(
    replicas: tuple[int, ...], adding: tuple[int, ...], removing: tuple[int, ...], stands: bool
) -> None:
    before = PartitionState(
        *("orders", "t-1", 0, -1, 7, (1, 4, 2, 3)), adding_replicas=(2,), removing_replicas=(3,)
    )
    plan = PartitionPlan(before, (), (), 3, (3, 4, 1), (), move=Move(MoveKind.BACK, (3, 4, 1)))
    now = replace(before, replicas=replicas, adding_replicas=adding, removing_replicas=removing)
    nobody: Any = None
    elector = MoveElector(Means(*[nobody] * 7))
    assert elector._why_not_moved(DueElection(plan, now, frozenset())) is None
    elector._written.add(TP)
    told = elector._why_not_moved(DueElection(plan, now, frozenset()))
    assert (told is None) is stands
