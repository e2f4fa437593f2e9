"""The verdict over all partitions and the quorum, how far a set can grow, and what is not back."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kafka_unclean_recovery.ok_to_stop.answer import Question, answer, back, largest_set
from kafka_unclean_recovery.ok_to_stop.text import answer_metrics, render_answer, render_back
from tests.ok_to_stop.observations import cluster, partition, topic

THREE = topic("t", partition((1, 2, 3)), min_isr=2)


@pytest.mark.parametrize(
    ("voters", "controllers", "verdict"),
    [
        ({101: True, 102: True, 103: True}, {101}, "yes"),
        ({101: True, 102: True, 103: True}, {101, 102}, "no"),
        ({101: True, 102: False, 103: True}, {101}, "no"),
        ({101: True, 102: None, 103: True}, {101}, "unknown"),
        ({101: True, 102: None, 103: True}, {102}, "yes"),
        # Nobody would be elected, whoever stops.
        ({101: True, 102: False, 103: False}, set(), "no"),
        ({101: True}, {101}, "no"),
        (dict.fromkeys(range(101, 106), True), {101, 102}, "yes"),
        (dict.fromkeys(range(101, 106), True), {101, 102, 103}, "no"),
        (None, set(), "unknown"),
        # Combined nodes are asked about as brokers.
        ({1: True, 2: True, 3: False}, set(), "no"),
    ],
)
def test_the_quorum_keeps_a_majority_that_follows(
    voters: dict[int, bool | None] | None, controllers: set[int], verdict: str
) -> None:
    found = answer(cluster(THREE, voters=voters), Question(frozenset({1}), frozenset(controllers)))
    assert found.verdict == verdict
    assert (found.stop.quorum is not None) == (verdict == "no")


def test_nothing_that_could_not_be_read_is_a_yes() -> None:
    problem = "whether topics are hidden from this user is not known; grant Cluster:DESCRIBE"
    found = answer(cluster(THREE, problems=(problem,)), Question(frozenset({1})))
    assert (found.verdict, found.problems) == ("unknown", (problem,))
    assert problem in render_answer(found)
    # A no that is known stays one.
    blocked = topic("u", partition((1, 2)), min_isr=2)
    found = answer(cluster(THREE, blocked, problems=(problem,)), Question(frozenset({1})))
    assert found.verdict == "no"


def test_a_set_grows_within_its_rack_as_long_as_the_answer_is_yes() -> None:
    racks = {1: "a", 2: "b", 3: "c", 4: "a", 5: "a"}
    three = ((1, 2, 3), (4, 2, 3), (5, 2, 3))
    spread = topic("t", *(partition(ids, number=n) for n, ids in enumerate(three)), min_isr=2)
    seen = cluster(spread, brokers=(1, 2, 3, 4, 5), racks=racks)

    def largest(*brokers: int, rack: str, limit: int = 9) -> set[int]:
        return set(largest_set(seen, Question(frozenset(brokers)), rack, limit))

    assert largest(1, rack="a") == {1, 4, 5}
    assert largest(1, rack="a", limit=2) == {1, 4}
    assert largest(rack="a") == {1, 4, 5}
    assert largest(2, rack="b") == {2}
    # Two of the three replicas.
    assert largest(1, 2, rack="a") == set()


def test_it_does_not_grow_beyond_what_a_kill_may_take() -> None:
    both = topic("t", partition((1, 2, 3)), partition((2, 3, 4), number=1), min_isr=2)
    assert largest_set(cluster(both), Question(frozenset({1})), None, 9) == {1, 4}


def test_what_is_back_is_told_by_replica() -> None:
    seen = cluster(
        topic("t", partition((1, 2), (2,)), partition((2, 1), (2, 1), number=1)),
        topic("u", partition((3, 1), (3,), offline=(1,)), partition((3, 4), (3,), number=1)),
        topic("v", partition((4, 2), (4,), offline=(2,))),
        fenced=(2,),
    )
    found = back(seen, frozenset({1, 2}))
    assert found.verdict == "no"
    assert found.down == (2,)
    assert [(r.topic, r.partition, r.broker, r.why) for r in found.missing] == [
        ("t", 0, 1, "catching_up"),
        ("u", 0, 1, "directory_failed"),
        ("v", 0, 2, "broker_down"),
    ]
    assert found.not_leading == 1
    assert "t-0 on 1: catching up" in render_back(found)
    assert back(seen, frozenset({3})).verdict == "yes"


def test_a_replica_that_is_being_added_need_not_be_back() -> None:
    moving = topic("t", partition((1, 2, 3), (1, 2), adding=(3,)))
    assert back(cluster(moving), frozenset({3})).verdict == "yes"


def test_hidden_topics_are_not_back_for_sure() -> None:
    problem = "this user may not describe topics secret"
    assert back(cluster(THREE, problems=(problem,)), frozenset({1})).verdict == "unknown"


def test_long_lists_are_cut_and_say_so() -> None:
    many = topic("t", *(partition((1, 2), number=n) for n in range(30)))
    text = render_answer(answer(cluster(many), Question(frozenset({1, 2}))))
    assert text.count("- t-") == 20
    assert "- and 20 more, which --format json lists" in text
    assert text.endswith("no\n")


def test_the_metrics_have_every_class() -> None:
    metrics = answer_metrics(answer(cluster(THREE), Question(frozenset({1}))))
    samples = {
        (metric.name, *sample.labels.values()): sample.value
        for metric in metrics
        for sample in metric.samples
    }
    assert samples["kafka_unclean_recovery_ok_to_stop_stop_partitions", "at_the_floor"] == 1
    assert samples["kafka_unclean_recovery_ok_to_stop_kill_partitions", "goes_offline"] == 0
    assert samples["kafka_unclean_recovery_ok_to_stop_verdict", "yes"] == 1


def test_a_partition_that_the_answer_lacks_is_not_taken_for_one_that_is_back() -> None:
    why = "partition 0 is missing in the answer; look again"
    lacks = topic("t", partition((1, 2), number=1), problem=why)
    found = back(cluster(lacks), frozenset({1}))
    assert (found.verdict, found.problems) == ("unknown", (f"t: {why}",))
    nameless = topic("t", partition((1, 2)), partition((), number=1), problem="not all are told")
    assert back(cluster(nameless), frozenset({1})).verdict == "unknown"
    # What is configured plays no part.
    by_config = topic("t", partition((1, 2)), min_isr=None, problem="grant Topic:DESCRIBE_CONFIGS")
    assert back(cluster(by_config), frozenset({1})).verdict == "yes"


def test_whether_topics_of_a_broker_are_hidden_matters_after_its_start_too() -> None:
    seen = cluster(topic("t", partition((1, 2))))
    brokers = tuple(
        replace(broker, disks="timed out" if broker.id == 1 else None) for broker in seen.brokers
    )
    seen = replace(seen, brokers=brokers)
    found = back(seen, frozenset({1}))
    assert found.verdict == "unknown"
    assert found.problems == ("whether topics of broker 1 are hidden is not known: timed out",)
    assert back(seen, frozenset({2})).verdict == "yes"
