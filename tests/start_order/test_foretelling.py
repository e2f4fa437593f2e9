"""Who may lead is foretold before the controllers have fenced the brokers.

tests/real/power_cuts.py holds it against real controllers.
"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kafka_unclean_recovery.kraft_rules.fencing_order import order_by_hash
from kafka_unclean_recovery.model import Fencing, PartitionState, TopicPartition, Unfenced
from kafka_unclean_recovery.start_order.foretelling import Foretold, foretold

# By hash 3 is fenced first, then 1, then 2; as they registered 2, 3, 1.
UNFENCED = (Unfenced(2, 5), Unfenced(3, 4), Unfenced(1, 3))
WHERE = TopicPartition("orders", 0)
LED = PartitionState("orders", "t-1", 0, 1, 7, (1, 2, 3), isr=(1, 2, 3))
FACTS = Fencing(UNFENCED, elr=True, by_hash=True, min_isr=2)


def _after(state: PartitionState = LED, facts: Fencing = FACTS) -> PartitionState:
    found = foretold([state], facts, ())
    assert not found.unknown
    return found.states[state.topic_partition]


def test_by_hash_is_another_order_than_as_they_registered() -> None:
    order = order_by_hash((each.broker, each.epoch) for each in UNFENCED)
    assert order == (3, 1, 2)


def test_the_last_one_fenced_is_the_last_known_leader() -> None:
    end = _after()
    assert (end.leader, end.isr, end.last_known_elr) == (-1, (), (2,))
    assert set(end.elr) == {1, 2}
    assert end.offline_replicas == (1, 2, 3)
    # 1 led until it was fenced, then 2, then nobody.
    assert end.leader_epoch == 7 + 2


def test_min_isr_of_the_topic_is_how_many_are_eligible() -> None:
    alone = _after(facts=replace(FACTS, min_isr_of_topics={"orders": 1}))
    assert (alone.elr, alone.last_known_elr) == ((2,), (2,))
    every = _after(facts=replace(FACTS, min_isr_of_topics={"orders": 3}))
    assert (set(every.elr), every.last_known_elr) == ({1, 2, 3}, (2,))


def test_partition_0_bounds_min_isr() -> None:
    first = PartitionState("orders", "t-1", 0, 1, 7, (1,), isr=(1,))
    other = replace(LED, partition=1)
    facts = replace(FACTS, min_isr=3)
    found = foretold([first, other], facts, ()).states
    assert len(found[other.topic_partition].elr) == 1


def test_without_elr_the_last_one_fenced_stays_in_the_isr() -> None:
    old = Fencing(UNFENCED, elr=False, by_hash=False)
    assert _after(facts=old).isr == (1,)
    assert _after(facts=replace(old, by_hash=True)).isr == (2,)


def test_who_shuts_down_leads_nothing_on_the_way() -> None:
    leaving = tuple(replace(u, in_controlled_shutdown=u.broker == 2) for u in UNFENCED)
    led = replace(LED, isr=(1, 3))
    end = _after(led, replace(FACTS, unfenced=leaving))
    assert (end.leader, end.last_known_elr) == (-1, (1,))


def test_a_replica_whose_directory_is_lost_never_leads() -> None:
    end = _after(replace(LED, offline_replicas=(2,), isr=(1, 3)))
    assert (end.leader, end.last_known_elr) == (-1, (1,))


def test_brokers_that_were_fenced_before_count_as_they_do_now() -> None:
    half = replace(LED, leader=2, isr=(2,), elr=(1,), offline_replicas=(1, 3))
    end = _after(half, replace(FACTS, unfenced=UNFENCED[:1]))
    assert (end.leader, set(end.elr), end.last_known_elr) == (-1, {1, 2}, (2,))


def test_where_two_orders_are_possible_only_what_both_make_is_told() -> None:
    facts = replace(FACTS, elr=False, by_hash=None)
    found = foretold([LED, replace(LED, partition=1, isr=(3,), leader=3)], facts, ())
    assert list(found.states) == [TopicPartition("orders", 1)]
    assert "whether they are of 4.0 or later" in found.unknown[WHERE]


@pytest.mark.parametrize(
    ("state", "facts", "why"),
    [
        (LED, replace(FACTS, min_isr=None), "min.insync.replicas"),
        (replace(LED, isr=(1, 9)), FACTS, "names a broker that has no replica of it"),
        (replace(LED, elr=(9,)), FACTS, "names a broker that has no replica of it"),
    ],
)
def test_what_is_not_known_is_said(state: PartitionState, facts: Fencing, why: str) -> None:
    found: Foretold = foretold([state], facts, ())
    assert not found.states
    assert why in found.unknown[WHERE]
