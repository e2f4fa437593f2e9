"""The margin of clusters made by hand, and what is told of its changes."""

from __future__ import annotations

import pytest

from kafka_unclean_recovery.documents.margin import QuorumMarginJson
from kafka_unclean_recovery.documents.observation import ObservedTopicJson
from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.ok_to_stop.margin_text import margin_metrics, render_margin
from kafka_unclean_recovery.ok_to_stop.margins import (
    ALREADY,
    QuorumState,
    document,
    margins,
    quorum_margin,
    unknown,
)
from tests.ok_to_stop.looks import looked
from tests.ok_to_stop.observations import cluster, partition, topic

T0 = TopicPartition("t", 0)


@pytest.mark.parametrize(
    ("of", "blocked", "gone"),
    [
        (topic("t", partition((1, 2, 3)), min_isr=2), 1, 2),
        (topic("t", partition((1, 2, 3)), min_isr=3), 0, 2),
        (topic("t", partition((1, 2)), min_isr=3), 0, 1),
        (topic("t", partition((1, 2, 3), (1, 2)), min_isr=3), ALREADY, 1),
        (topic("t", partition((1, 2, 3), (1,), (2,)), min_isr=2), ALREADY, 0),
        (topic("t", partition((1, 2), (), (1,)), min_isr=1), ALREADY, ALREADY),
        (topic("t", partition((1,)), min_isr=1), 0, 0),
        (topic("t", partition((1, 2, 3), leader=-1), min_isr=1), ALREADY, ALREADY),
    ],
)
def test_failures_that_a_partition_stands(of: ObservedTopicJson, blocked: int, gone: int) -> None:
    found = margins(cluster(of))[T0]
    assert (found.blocked, found.gone) == (blocked, gone)


def test_a_broker_that_is_down_is_none_to_count_on() -> None:
    of = topic("t", partition((1, 2, 3)), min_isr=1)
    assert margins(cluster(of, fenced=(2,)))[T0].blocked == 1
    assert margins(cluster(of, silent={2: "timed out"}))[T0].blocked == 1
    assert margins(cluster(of, brokers=(1, 3)))[T0].blocked == 1


def test_where_brokers_differ_the_strictest_member_of_the_isr_counts() -> None:
    """Whoever leads takes writes by its own file, and a failure may make it lead."""
    of = topic("t", partition((1, 2, 3), (1, 2)), min_isr=1, source="file")
    assert margins(cluster(of, own_min_isr={1: 1, 2: 2, 3: 9}))[T0].blocked == 0
    assert margins(cluster(of, own_min_isr={1: 1}))[T0].blocked == 1
    by_topic = topic("t", partition((1, 2, 3), (1, 2)), min_isr=1)
    assert margins(cluster(by_topic, own_min_isr={1: 1, 2: 2}))[T0].blocked == 1


def test_an_unclean_leader_is_what_comes_next_where_one_may() -> None:
    lags = partition((1, 2), (1,))
    assert margins(cluster(topic("t", lags, unclean=True)))[T0].unclean
    assert not margins(cluster(topic("t", lags)))[T0].unclean
    assert not margins(cluster(topic("t", partition((1, 2)), unclean=True)))[T0].unclean


def test_what_is_not_known_is_counted_as_that() -> None:
    hidden = topic("h", partition((1, 2)), min_isr=None, problem="grant Topic:DESCRIBE_CONFIGS")
    found = looked(cluster(hidden, topic("t", partition((1, 2)))))
    assert (found.known, found.not_known) == (1, 1)
    assert found.problems == ("h: grant Topic:DESCRIBE_CONFIGS",)


def test_only_changes_are_told_after_the_first_look() -> None:
    before = cluster(topic("t", partition((1, 2, 3)), partition((2, 3, 4), number=1), min_isr=2))
    thin = partition((1, 2, 3), (1, 2), (3,))
    after = cluster(topic("t", thin, partition((2, 3, 4), number=1), min_isr=2))
    found = looked(after, before)
    assert [(c.topic, c.partition, c.was, c.stands) for c in found.changes] == [("t", 0, 1, 0)]
    assert [(o.broker, o.replicas) for o in found.out_of_sync] == [(3, 1)]
    assert (found.elr_partitions, found.elr_members) == (1, 1)
    text = render_margin(found, first=False)
    change = (
        "t-0 now tolerates no more failure; before, it tolerated 1 more failure; ISR 1,2, ELR 3\n"
    )
    assert change in text
    assert "now, of 2 partitions:\n" in text.partition(change)[2]
    assert "t-1" not in text
    assert "broker 3 lives, and 1 of its replicas are not in the ISR" in text


def test_a_partition_that_was_not_there_before_has_not_changed() -> None:
    before = cluster(topic("t", partition((1, 2, 3)), min_isr=2))
    more = partition((2, 3, 4), (2,), number=1)
    assert looked(cluster(topic("t", partition((1, 2, 3)), more, min_isr=2)), before).changes == ()


def test_partitions_of_one_replica_are_apart_as_long_as_they_live() -> None:
    """Else an alert on them never ends."""
    found = looked(cluster(topic("t", partition((1,)), partition((2,), (), number=1))))
    assert found.single_replicas == 2
    assert [(row.before, row.failures, row.partitions) for row in found.stands] == [
        ("blocked", ALREADY, 1),
        ("offline", ALREADY, 1),
    ]


def test_a_whole_rack_is_told_in_few_lines() -> None:
    before = cluster(topic("t", *(partition((1, 2, 3), number=n) for n in range(50)), min_isr=2))
    lost = tuple(partition((1, 2, 3), (1, 2), number=n) for n in range(50))
    text = render_margin(looked(cluster(topic("t", *lost, min_isr=2)), before), False)
    assert text.count("now tolerates no more failure") == 10
    assert "and 40 more partitions, which --format json lists" in text


def test_of_what_changed_the_thinnest_comes_first() -> None:
    before = cluster(topic("t", *(partition((1, 2, 3), number=n) for n in range(12)), min_isr=2))
    lost = [partition((1, 2, 3), (1, 2), number=n) for n in range(11)]
    lost.append(partition((1, 2, 3), (1,), number=11))
    text = render_margin(looked(cluster(topic("t", *lost, min_isr=2)), before), False)
    assert "t-11 now refuses writes with acks=all" in text.splitlines()[0]


def test_the_first_look_is_told_whole() -> None:
    text = render_margin(looked(cluster(topic("t", partition((1, 2, 3)), min_isr=2))), True)
    assert "1 partition: 1 more failure, and the next: writes with acks=all are refused\n" in text
    assert "1 partition: 2 more failures, and the next: nobody leads\n" in text


def test_the_metrics_tell_what_comes_next() -> None:
    of = topic("t", partition((1, 2, 3), (1, 2)), min_isr=3)
    told = {
        (metric.name.removeprefix("kafka_unclean_recovery_margin_"), *sample.labels.values()): (
            sample.value
        )
        for metric in margin_metrics(looked(cluster(of)))
        for sample in metric.samples
    }
    assert told["partitions", "blocked", "-1"] == 1
    assert told["partitions", "offline", "1"] == 1
    assert told["out_of_sync_replicas", "3"] == 1
    assert told["brokers_down",] == 0


@pytest.mark.parametrize("state", ["down", "silent"])
def test_without_a_quorum_nothing_is_stood(state: QuorumState) -> None:
    seen = cluster(topic("t", partition((1, 2, 3))))
    found = document(seen, margins(seen), None, QuorumMarginJson(state))
    assert (found.known, found.not_known, found.stands) == (0, 1, ())
    assert "metadata quorum" in render_margin(found, True)
    names = {metric.name for metric in margin_metrics(found) if metric.samples}
    assert "kafka_unclean_recovery_margin_partitions" not in names


def test_who_may_not_ask_the_quorum_is_told_the_margins_all_the_same() -> None:
    seen = cluster(topic("t", partition((1, 2, 3))), voters=None)
    assert document(seen, margins(seen), None, quorum_margin(seen, "untold")).known == 1


@pytest.mark.parametrize(
    ("voters", "failures"),
    [
        ({101: True}, 0),
        ({101: True, 102: True, 103: True}, 1),
        ({101: True, 102: True, 103: False}, 0),
        ({101: True, 102: None, 103: True}, None),
    ],
)
def test_failures_that_the_quorum_stands(
    voters: dict[int, bool | None], failures: int | None
) -> None:
    assert quorum_margin(cluster(voters=voters), "up").failures == failures


def test_a_look_that_told_nothing_takes_all_back() -> None:
    before = looked(cluster(topic("t", partition((1, 2, 3)), partition((1, 2), number=1))))
    found = unknown(before, before.observed_at, "the look failed", 3)
    assert (found.known, found.not_known, found.failed_looks) == (0, 2, 3)
    (counted,) = (m for m in margin_metrics(found) if m.name.endswith("failed_looks"))
    assert counted.samples[0].value == 3
