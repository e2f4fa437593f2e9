"""What is said of one partition, in clusters made by hand."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kafka_unclean_recovery.documents.observation import (
    ObservationJson,
    ObservedPartitionJson,
    ObservedTopicJson,
)
from kafka_unclean_recovery.documents.ok_to_stop import OkToStopJson
from kafka_unclean_recovery.ok_to_stop.answer import Question, answer
from tests.ok_to_stop.observations import cluster, partition, topic


def _ask(seen: ObservationJson, *brokers: int, margin: int = 0) -> OkToStopJson:
    return answer(seen, Question(frozenset(brokers), margin=margin))


def _classes(found: OkToStopJson, how: str = "stop") -> list[str]:
    (row,) = getattr(found, how).partitions
    return list(row.classes)


@pytest.mark.parametrize(
    ("of", "brokers", "classes"),
    [
        (topic("t", partition((1, 2, 3)), min_isr=1), (1,), []),
        (topic("t", partition((1, 2, 3)), min_isr=2), (1,), ["at_the_floor"]),
        (topic("t", partition((1, 2, 3)), min_isr=2), (1, 2), ["writes_blocked"]),
        (topic("t", partition((1, 2, 3)), min_isr=3), (1,), ["writes_blocked"]),
        (topic("t", partition((1, 2)), min_isr=3), (1,), ["writes_blocked"]),
        (topic("t", partition((1, 2))), (1, 2), ["last_clean_copy", "goes_offline"]),
        (topic("t", partition((1,))), (1,), ["single_replica"]),
        (topic("t", partition((1,)), min_isr=2), (1,), ["single_replica"]),
        (
            topic("t", partition((1, 2), (1,), offline=(2,))),
            (1,),
            ["last_clean_copy", "goes_offline"],
        ),
        (
            topic("t", partition((1, 2, 3), (1,), (2,), offline=(2,)), min_isr=2),
            (1,),
            ["goes_offline"],
        ),
        (
            topic("t", partition((1, 2, 3), (1,), offline=(2,)), unclean=True),
            (1,),
            ["unclean_election", "last_clean_copy"],
        ),
    ],
)
def test_what_a_stop_does(
    of: ObservedTopicJson, brokers: tuple[int, ...], classes: list[str]
) -> None:
    seen = cluster(of, fenced=of.partitions[0].offline_replicas)
    found = _ask(seen, *brokers)
    assert [list(row.classes) for row in found.stop.partitions] == ([classes] if classes else [])
    said_only = {"at_the_floor", "single_replica"}
    assert found.verdict == ("yes" if set(classes) <= said_only else "no")


def test_a_topic_with_fewer_replicas_than_min_isr_can_be_rolled() -> None:
    """The raw value would never let it be: 2 replicas never are 3."""
    found = _ask(cluster(topic("t", partition((1, 2, 3)), min_isr=2)), 4)
    assert (found.verdict, found.stop.partitions) == ("yes", ())
    (row,) = _ask(cluster(topic("t", partition((1, 2)), min_isr=3)), 1).stop.partitions
    assert row.because == (
        "ISR 1,2 becomes 2; min.insync.replicas 3, set on the topic, counts as 2: it has 2 replicas"
    )


@pytest.mark.parametrize("unclean", [False, True])
def test_whoever_may_not_be_led_uncleanly_is_told_so(unclean: bool) -> None:
    found = _ask(cluster(topic("t", partition((1, 2), (1,), (2,), (2,)), unclean=unclean)), 1)
    (row,) = found.stop.partitions
    assert "lives" in row.because
    assert ("unclean.leader.election.enable is false" in row.because) is not unclean


def test_a_kill_leaves_the_elr_once_its_broker_returns() -> None:
    seen = cluster(topic("t", partition((1, 2, 3), (1, 2)), min_isr=2))
    found = _ask(seen, 1)
    assert _classes(found) == ["writes_blocked"]
    assert _classes(found, "kill") == ["writes_blocked", "leaves_elr"]
    assert found.kill.partitions[0].after.elr == (1,)


def test_what_is_bad_already_is_kept_apart() -> None:
    blocked = topic("blocked", partition((1, 2, 3), (1, 2)), min_isr=3)
    offline = topic("offline", partition((1, 4), (), (4,), offline=(4,)))
    found = _ask(cluster(blocked, offline, fenced=(4,)), 2)
    assert (found.verdict, found.stop.partitions) == ("yes", ())
    assert [row.topic for row in found.already] == ["blocked"]
    found = _ask(cluster(blocked, offline, fenced=(4,)), 1)
    assert [(row.topic, row.because) for row in found.already] == [
        ("blocked", "ISR 1,2; min.insync.replicas 3, set on the topic"),
        ("offline", "it has no leader; ISR none"),
    ]
    assert found.stop.partitions == ()


def test_a_margin_asks_for_more_failures_to_be_stood() -> None:
    seen = cluster(topic("t", partition((1, 2, 3, 4)), min_isr=2))
    assert [_ask(seen, 1, margin=margin).verdict for margin in (0, 1, 2)] == ["yes", "yes", "no"]
    assert _classes(_ask(seen, 1, margin=2)) == ["below_margin"]


def test_a_reassignment_counts_the_replicas_that_it_adds() -> None:
    """As a leader does, which holds them to be among its replicas."""
    moving = partition((1, 2, 3), (1, 2), adding=(3,))
    found = _ask(cluster(topic("t", moving, min_isr=3)), 4)
    assert found.already == ()
    found = _ask(cluster(topic("t", moving, min_isr=3)), 1)
    assert [row.min_isr for row in found.already] == [3]


def test_a_replica_on_a_failed_directory_leads_nothing() -> None:
    seen = cluster(topic("t", partition((1, 2), (1,), (2,), offline=(2,))))
    assert _classes(_ask(seen, 1)) == ["goes_offline"]


def test_a_live_member_of_the_elr_is_no_certain_leader() -> None:
    """It may be shutting down, and no request tells."""
    found = _ask(cluster(topic("t", partition((1, 2, 3), (1,), (2,)), min_isr=2)), 1)
    assert found.verdict == "unknown"
    (row,) = found.not_known
    assert row.why.startswith("broker 2 is in its ELR and lives, but not in its ISR")


def test_a_partition_that_only_looks_leaderless_is_not_known() -> None:
    unseen = replace(partition((1, 2, 3), leader=-1), led_unseen=True)
    found = _ask(cluster(topic("t", unseen)), 1)
    (row,) = found.not_known
    assert row.why == "it is led by a broker that has no listener here: come in by another listener"


STRAY = ObservedPartitionJson(0, -1, (1, 3), (), (1,), (2,), (3,), (), ())


@pytest.mark.parametrize("stray", [STRAY, replace(STRAY, elr=(1, 2), last_known_elr=())])
def test_a_member_of_the_elr_that_is_no_replica_makes_it_unknown(
    stray: ObservedPartitionJson,
) -> None:
    """Our controller fails where it meets one; what a real one does was not tried."""
    found = _ask(cluster(topic("t", stray), fenced=(3,)), 1)
    assert found.verdict == "unknown"
    (row,) = found.not_known
    assert row.why.startswith("broker 2 is in its ELR or last known ELR, and no replica of it")
    led = replace(stray, leader=3, isr=(3,), elr=(2,), offline_replicas=())
    assert _ask(cluster(topic("t", led)), 1).verdict == "yes"


def test_a_leader_from_outside_its_isr_is_no_state_to_foretell_from() -> None:
    """A controller of 4.3.1 was seen to leave a broker so that was shutting down."""
    found = _ask(cluster(topic("t", partition((1, 2), (), (1,), leader=1))), 1)
    assert (found.verdict, found.not_known[0].why) == (
        "unknown",
        "broker 1 leads it and is not in its ISR: look again in a moment",
    )


def test_one_of_two_may_lead_uncleanly_before_it_stops_too() -> None:
    """1 stops first: 2, which lags behind, leads; then 2 stops."""
    lags = topic("t", partition((1, 2), (1,)), unclean=True)
    assert "unclean_election" in _classes(_ask(cluster(lags), 1, 2))


def test_a_broker_that_does_not_answer_is_no_certain_leader() -> None:
    seen = cluster(topic("t", partition((1, 2, 3))), silent={2: "timed out"})
    found = _ask(seen, 1)
    assert found.verdict == "unknown"
    assert found.not_known[0].why == (
        "broker 2 is in its ISR or ELR and does not answer: it may be down"
    )
    # Whoever is stopped need not answer.
    assert _ask(seen, 2).verdict == "yes"


def test_min_isr_that_is_not_known_is_not_guessed() -> None:
    why = "min.insync.replicas is not known; grant Topic:DESCRIBE_CONFIGS"
    seen = cluster(topic("t", partition((1, 2, 3)), min_isr=None, problem=why))
    assert (_ask(seen, 1).verdict, _ask(seen, 4).verdict) == ("unknown", "yes")


def test_where_brokers_differ_the_new_leader_decides() -> None:
    """Without ELR min.insync.replicas may be in each broker's own file."""
    of = topic("t", partition((1, 2, 3)), min_isr=1, source="file")
    seen = cluster(of, own_min_isr={1: 1, 2: 3, 3: 1}, release="3.9", elr=False)
    assert _classes(_ask(seen, 1)) == ["writes_blocked"]
    assert _ask(seen, 2).verdict == "yes"


def test_a_value_of_its_own_that_the_new_leader_did_not_tell_is_not_taken_from_another_broker() -> (
    None
):
    """A quota held its answer back, and the broker that was asked for the topic's value has 1."""
    of = topic("t", partition((1, 2, 3)), min_isr=1, source="file")
    seen = cluster(of, own_min_isr={1: 1, 3: 1}, release="3.9", elr=False)
    found = _ask(seen, 1)
    assert found.verdict == "unknown"
    assert found.not_known[0].why.startswith("broker 2, which would lead it, did not tell")
    # It leads none of these then, or nothing changes for it.
    assert _ask(seen, 2).verdict == "yes"
    assert _ask(seen, 4).verdict == "yes"
    assert _ask(cluster(replace(of, min_isr_source="all_brokers")), 1).verdict == "yes"


@pytest.mark.parametrize("release", ["4.1", "3.6", "after 4.4", "unknown"])
def test_a_release_that_was_not_tried_is_answered_as_far_as_all_are_alike(release: str) -> None:
    seen = cluster(topic("t", partition((1, 2, 3), (1, 2)), min_isr=1), release=release)
    assert _ask(seen, 1).verdict == "yes"
    found = _ask(seen, 1, 2)
    assert found.verdict == "unknown"
    assert found.not_known[0].why == (
        f"what a controller of Kafka {release} does without a live ISR was not tried"
    )


def test_an_answer_that_lacks_partition_0_is_not_enough() -> None:
    """The controller of Kafka counts min.insync.replicas by its replicas."""
    found = _ask(cluster(topic("t", partition((1, 2, 3), number=1), min_isr=2)), 1)
    assert found.verdict == "unknown"


def test_internal_topics_are_named() -> None:
    seen = cluster(topic("__consumer_offsets", partition((1, 2))), topic("t", partition((1, 2))))
    rows = {row.topic: row.internal for row in _ask(seen, 1, 2).stop.partitions}
    assert rows == {"__consumer_offsets": True, "t": False}
