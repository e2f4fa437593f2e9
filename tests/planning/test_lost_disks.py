"""A dead broker whose disks are lost for good: nothing is hoped of it, and what it held is lost."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kafka_unclean_recovery.model import (
    EpochSpan,
    Finding,
    PartitionPlan,
    PartitionState,
    ReplicaLog,
    Severity,
)
from kafka_unclean_recovery.planning.election_rules import designate
from kafka_unclean_recovery.planning.lost_disks import LOST_DISK
from kafka_unclean_recovery.planning.plan import plan_partition
from tests.cli.disks import TOPIC_ID
from tests.cli.disks import replica_log as scanned_log

STATE = PartitionState(
    "orders", str(TOPIC_ID), 0, -1, 5, (1, 2, 3), elr=(1,), offline_replicas=(1,)
)
HOPE = ("may_hold_more", "holds_more", "leads_by_itself", "unseen")
UNREAD = ReplicaLog(1, live=False, problem="broker is down")


def _live(broker: int, end: int) -> ReplicaLog:
    return ReplicaLog(broker, True, 0, 0, 0, end, (EpochSpan(0, 0, end),))


def _plan(one: ReplicaLog, *gone: int, state: PartitionState = STATE) -> PartitionPlan:
    logs = [one, _live(2, 10), _live(3, 8)]
    return plan_partition(state, logs, gone=frozenset(gone))


def _lost(plan: PartitionPlan) -> Finding:
    (found,) = (f for f in plan.findings if f.code == LOST_DISK)
    return found


def _hopes(plan: PartitionPlan) -> list[str]:
    return [f.code for f in plan.findings if any(word in f.code for word in HOPE)]


@pytest.mark.parametrize(
    ("end", "severity", "what"),
    [
        (None, Severity.UNKNOWN, "nobody knows how much"),
        (10, Severity.NOTICE, "they held nothing beyond the designated log"),
        (9, Severity.NOTICE, "they held nothing beyond the designated log"),
        (14, Severity.LOSS, "they held 4 records beyond the designated log"),
    ],
)
def test_what_only_it_held_is_lost_and_nothing_is_hoped_of_it(
    end: int | None, severity: Severity, what: str
) -> None:
    one = UNREAD if end is None else replace(scanned_log(1, end), live=False)
    hoped, lost = _plan(one), _plan(one, 1)
    assert [waiting.broker for waiting in hoped.waiting] == [1]
    assert lost.waiting == ()
    assert _hopes(lost) == []
    assert (_lost(lost).severity, what in _lost(lost).message) == (severity, True)
    # Whom to elect, and what that costs, is as it was.
    assert (lost.ranking, lost.designated_leader) == (hoped.ranking, hoped.designated_leader)
    assert LOST_DISK not in {f.code for f in hoped.findings}


def test_an_empty_disk_under_its_id_is_warned_of_where_it_would_lead() -> None:
    # It is the last known leader, and nobody is in the ELR.
    leads = replace(STATE, elr=(), last_known_elr=(1,))
    told = _lost(_plan(UNREAD, 1, state=leads)).message
    assert "Start no broker with empty disks under its id before another one leads" in told
    follows = replace(STATE, elr=(2,), offline_replicas=(1, 2), last_known_elr=(2,))
    plan = plan_partition(
        follows, [UNREAD, replace(_live(2, 10), live=False), _live(3, 8)], gone=frozenset({1})
    )
    assert "Start no broker" not in _lost(plan).message


def test_of_several_dead_brokers_only_the_gone_one_is_given_up() -> None:
    state = replace(STATE, offline_replicas=(1, 2))
    two = ReplicaLog(2, live=False, problem="broker is down")
    plan = plan_partition(state, [UNREAD, two, _live(3, 8)], gone=frozenset({1, 9}))
    assert [waiting.broker for waiting in plan.waiting] == [2]
    assert _hopes(plan) == ["dead_replica_unseen"]
    assert "broker 2 is down" in next(f.message for f in plan.findings if "unseen" in f.code)


@pytest.mark.parametrize("alive", [_live(1, 14), replace(UNREAD, unproven="may live")])
def test_who_lives_or_may_live_is_not_gone_whatever_is_said(alive: ReplicaLog) -> None:
    state = replace(STATE, offline_replicas=() if alive.live else (1,))
    assert _plan(alive, 1, state=state) == _plan(alive, state=state)


def test_a_leader_chosen_by_hand_changes_nothing_of_it() -> None:
    by_hand = designate(_plan(UNREAD, 1), 3)
    assert by_hand.waiting == ()
    assert _hopes(by_hand) == []
    assert _lost(by_hand)
