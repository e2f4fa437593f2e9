"""Who is elected with whom, and what counts as a surprise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from kafka_unclean_recovery.kafka_names import INTERNAL_TOPICS
from kafka_unclean_recovery.model import PartitionPlan, PartitionState
from kafka_unclean_recovery.planning.waves import Pace, outdated, surprise, waves
from tests.reports import plan, state


def _plans(*topics: str) -> list[PartitionPlan]:
    given = [plan(number) for number in range(len(topics))]
    return [replace(p, state=replace(p.state, topic=t)) for p, t in zip(given, topics, strict=True)]


def _sizes(plans: list[PartitionPlan], pace: Pace) -> list[list[str]]:
    return [[p.state.topic for p in wave] for wave in waves(plans, pace)]


A, OFFSETS, TRANSACTIONS = "a", "__consumer_offsets", "__transaction_state"
SEGMENTS = "__remote_log_metadata"


@pytest.mark.parametrize(
    ("topics", "pace", "expected"),
    [
        ([], Pace(), []),
        ([], Pace(2, 2), []),
        ([A, A, A], Pace(), [[A, A, A]]),
        ([A, A, A], Pace(wave_size=2), [[A, A], [A]]),
        ([A, A, A], Pace(canary=1), [[A], [A, A]]),
        ([A, A, A], Pace(canary=3), [[A, A, A]]),
        ([A, A, A], Pace(canary=4, wave_size=1), [[A, A, A]]),
        ([A, A, A, A], Pace(canary=1, wave_size=2), [[A], [A, A], [A]]),
        ([A, OFFSETS, TRANSACTIONS, A], Pace(), [[OFFSETS, TRANSACTIONS], [A, A]]),
        ([OFFSETS, OFFSETS, OFFSETS, A], Pace(1), [[OFFSETS], [OFFSETS, OFFSETS], [A]]),
        ([A, SEGMENTS], Pace(), [[SEGMENTS], [A]]),
        # Too few for the canary: the others go all the same by themselves.
        ([OFFSETS, A, A], Pace(canary=2), [[OFFSETS], [A, A]]),
        ([A, OFFSETS, A, A], Pace(wave_size=2), [[OFFSETS], [A, A], [A]]),
    ],
)
def test_waves(topics: list[str], pace: Pace, expected: list[list[str]]) -> None:
    assert _sizes(_plans(*topics), pace) == expected


@given(
    st.lists(st.sampled_from(["a", "z", *INTERNAL_TOPICS]), max_size=12).map(sorted),
    st.builds(Pace, st.none() | st.integers(1, 5), st.none() | st.integers(1, 5)),
)
def test_everyone_is_in_one_wave_and_kafkas_own_go_first(topics: list[str], pace: Pace) -> None:
    plans = _plans(*topics)
    found = waves(plans, pace)
    flat = [p for wave in found for p in wave]
    assert sorted(flat, key=lambda p: p.state.partition) == plans
    internal = [[p.state.topic in INTERNAL_TOPICS for p in wave] for wave in found]
    assert [kinds[0] for kinds in internal] == sorted((k[0] for k in internal), reverse=True)
    assert all(len(set(kinds)) == 1 for kinds in internal)
    for wave in found:
        assert list(wave) == sorted(wave, key=lambda p: p.state.partition)


LED = state(leader=3, leader_epoch=8)


@pytest.mark.parametrize(
    ("led", "now", "says"),
    [
        (LED, LED, None),
        (LED, state(leader=3, leader_epoch=9, isr=(3, 4)), None),
        (LED, state(leader=-1, leader_epoch=9), "it has no leader again"),
        (LED, state(leader=4, leader_epoch=9), "broker 4 leads it by now, and not 3"),
        (LED, None, "it no longer exists"),
        (LED, replace(LED, topic_id="t-2"), "its topic was deleted and created again"),
        (None, LED, None),
        (None, state(), "it has no leader again"),
        (None, None, "it no longer exists"),
    ],
)
def test_surprises(
    led: PartitionState | None, now: PartitionState | None, says: str | None
) -> None:
    assert surprise(led, now) == says


def test_only_a_view_of_before_the_election_is_looked_at_again() -> None:
    before = state(leader=-1, leader_epoch=7)
    assert outdated(LED, before)
    assert outdated(None, before)
    assert outdated(None, None)
    assert not outdated(LED, state(leader=-1, leader_epoch=9))
    assert not outdated(LED, None)
    assert not outdated(None, LED)
