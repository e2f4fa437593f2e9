"""Who may begin a partition anew, and who may end its reassignment."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import (
    TIERED,
    EpochSpan,
    Move,
    MoveKind,
    PartitionPlan,
    PartitionState,
    ReplicaLog,
    Scanned,
    TopicPartition,
)
from kafka_unclean_recovery.planning.moves import (
    Consented,
    parse_consented,
    problems,
    with_moves,
)
from kafka_unclean_recovery.planning.plan import plan_partition

TP = TopicPartition("orders", 0)
LOST = PartitionState("orders", "t-1", 0, -1, 7, (1, 2), isr=(1,), offline_replicas=(1, 2))
DOWN = tuple(ReplicaLog(broker, live=False, problem="broker is down") for broker in (1, 2))
LIVE = (3, 4, 5)
BY_TOPIC = Consented(frozenset({"orders"}))
BY_NAME = Consented(frozenset({"orders-0"}))
TOPICS = {"orders": 4}
FULL = (EpochSpan(0, 0, 10),)


def _moved(
    consented: Consented,
    state: PartitionState = LOST,
    logs: tuple[ReplicaLog, ...] = DOWN,
    live: tuple[int, ...] = LIVE,
) -> PartitionPlan:
    tp = state.topic_partition
    return with_moves({tp: plan_partition(state, logs)}, consented, live, {}, TOPICS)[tp]


@pytest.mark.parametrize("consented", [BY_TOPIC, BY_NAME])
def test_where_all_are_dead_live_brokers_without_a_replica_begin_anew(consented: Consented) -> None:
    plan = _moved(consented)
    assert plan.move == Move(MoveKind.EMPTY, (3, 4))
    assert (plan.designated_leader, plan.refusal) == (3, None)
    assert plan.findings[0].code == "log_given_up"


def test_partitions_of_a_topic_begin_at_one_broker_after_another() -> None:
    plans = {}
    for number in range(4):
        state = replace(LOST, partition=number)
        plans[state.topic_partition] = plan_partition(state, DOWN)
    moved = with_moves(plans, BY_TOPIC, LIVE, {}, TOPICS)
    assert [plan.designated_leader for plan in moved.values()] == [3, 4, 5, 3]


@pytest.mark.parametrize(
    ("live", "order"), [((3,), (3,)), ((2, 3), (3,)), ((5, 3, 4), (3, 4)), ((), None), ((1,), None)]
)
def test_as_many_as_there_were_where_so_many_live(
    live: tuple[int, ...], order: tuple[int, ...] | None
) -> None:
    plan = _moved(BY_NAME, live=live)
    assert (plan.move and plan.move.order) == order
    if order is None:
        assert plan.refusal == (
            "its log is not given up: no live broker is without a replica of it"
        )


@pytest.mark.parametrize("consented", [Consented(), Consented(frozenset({"other", "orders-1"}))])
def test_what_is_not_named_stays_as_it_is(consented: Consented) -> None:
    assert _moved(consented) == plan_partition(LOST, DOWN)


def _holder(**fields: Any) -> ReplicaLog:
    return ReplicaLog(2, **{"live": False, "problem": "broker is down", **fields})


HOLDERS = {
    "may live": _holder(unproven="fetched the metadata log 0.3 s ago"),
    "failed directory": _holder(live=True, problem="KAFKA_STORAGE_ERROR"),
    "fenced": _holder(live=True, problem=None, log_end_offset=5),
    "disk": _holder(
        problem=None,
        log_start_offset=0,
        log_end_offset=10,
        epochs=FULL,
        scanned=Scanned(ScanMode.DEEP, "/data/orders-0"),
    ),
    "unread disk": _holder(problem="I/O error", scanned=Scanned(ScanMode.DEEP, "/data/orders-0")),
}


@pytest.mark.parametrize("holder", HOLDERS.values(), ids=HOLDERS)
def test_a_replica_that_may_hold_the_log_is_passed_over_by_the_partitions_own_name_alone(
    holder: ReplicaLog,
) -> None:
    plan = _moved(BY_TOPIC, logs=(DOWN[0], holder))
    assert (plan.designated_leader, plan.move) == (None, None)
    assert plan.refusal is not None
    assert "broker 2 may hold its log" in plan.refusal
    assert "--give-up-log orders-0" in plan.refusal
    assert _moved(BY_NAME, logs=(DOWN[0], holder)).move == Move(MoveKind.EMPTY, (3, 4))


def test_a_disk_that_holds_nothing_is_no_holder() -> None:
    empty = replace(HOLDERS["disk"], log_end_offset=0, epochs=())
    assert _moved(BY_TOPIC, logs=(DOWN[0], empty)).move is not None


def test_a_live_replica_that_is_listed_is_not_passed_over() -> None:
    state = replace(LOST, offline_replicas=(1,))
    silent = ReplicaLog(2, live=True, problem="did not answer in time")
    plan = _moved(BY_NAME, state, (DOWN[0], silent))
    assert plan.move is None
    assert "broker 2 is live and has a replica of it" in (plan.refusal or "")


def test_a_log_with_records_in_remote_storage_is_not_given_up() -> None:
    plan = _moved(BY_NAME, replace(LOST, tiered=TIERED))
    assert plan.move is None
    assert "an empty leader deletes what lies in remote storage" in (plan.refusal or "")


REASSIGNED = replace(LOST, replicas=(3, 1), adding_replicas=(3,), removing_replicas=(1,))


def test_an_added_replica_that_copied_nothing_may_begin_anew() -> None:
    state = replace(REASSIGNED, offline_replicas=(1,))
    empty = ReplicaLog(3, live=True, log_start_offset=0, log_end_offset=0, epochs=())
    plan = _moved(BY_TOPIC, state, (empty, DOWN[0]), live=(3,))
    assert plan.move == Move(MoveKind.EMPTY, (3,))
    copied = replace(empty, log_end_offset=10, epochs=FULL)
    assert _moved(BY_TOPIC, state, (copied, DOWN[0]), live=(3,)).move is None


def test_ending_a_reassignment_designates_the_best_of_the_old_replicas() -> None:
    state = PartitionState(
        *("orders", "t-1", 0, -1, 7, (1, 4, 2, 3)),
        offline_replicas=(1, 2),
        adding_replicas=(2,),
        removing_replicas=(3,),
    )
    logs = (
        DOWN[0],
        DOWN[1],
        ReplicaLog(3, True, 0, 0, 10, 15, (EpochSpan(0, 0, 15),)),
        ReplicaLog(4, True, 0, 0, 10, 10, FULL),
    )
    plan = _moved(Consented(end=frozenset({"orders-0"})), state, logs)
    assert plan.move == Move(MoveKind.BACK, (3, 4, 1))
    assert (plan.designated_leader, plan.refusal) == (3, None)
    assert plan.ranking[0].loss.certain == 0
    assert {f.code for f in plan.findings} >= {"reassignment_ended"}
    assert "reassignment_in_progress" not in {f.code for f in plan.findings}
    # Who is listed nowhere stays as long as the controllers take a list that names him.
    gone = replace(state, unregistered_replicas=(1,))
    plan = _moved(Consented(end=frozenset({"orders"})), gone, logs)
    assert plan.move == Move(MoveKind.BACK, (3, 4, 1))


@pytest.mark.parametrize("offline", [("orders", "orders-0"), ("orders",), ("orders-0",)])
def test_a_name_of_a_topic_that_is_a_partition_of_another_one_counts_for_neither(
    offline: tuple[str, ...],
) -> None:
    # Also where only one of them is offline: the other one, that was meant, may have come back.
    states = [replace(LOST, topic=topic) for topic in offline]
    plans = {s.topic_partition: plan_partition(s, DOWN) for s in states}
    topics = {"orders": 1, "orders-0": 1}
    assert with_moves(plans, BY_NAME, LIVE, {}, topics) == plans
    (problem,) = problems(BY_NAME, plans, topics)
    assert problem == (
        "--give-up-log orders-0: names a topic and a partition of another one: neither counts; name"
        " the partitions of the topic one by one (orders-0-0), or give the other partition alone by"
        " --path-to-json-file"
    )


@pytest.mark.parametrize("name", ["orders-4", "orders-00", "orders-x", "orders"])
def test_a_name_that_is_no_partition_of_another_topic_is_that_of_the_topic(name: str) -> None:
    state = replace(LOST, topic=name)
    plans = {state.topic_partition: plan_partition(state, DOWN)}
    consented = Consented(frozenset({name}))
    topics = {"orders": 4, name: 4}
    moved = with_moves(plans, consented, LIVE, {}, topics)
    assert moved[state.topic_partition].designated_leader == 3
    assert list(problems(consented, plans, topics)) == []


@pytest.mark.parametrize("name", ["*", "", "a b", "..", "orders:0"])
def test_what_is_no_name_is_refused(name: str) -> None:
    for give_up, end in ((name,), ()), ((), (name,)):
        with pytest.raises(InputError, match="give the name of a topic, or TOPIC-PARTITION"):
            parse_consented(give_up, end)
