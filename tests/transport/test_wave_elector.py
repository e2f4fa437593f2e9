"""Wave by wave: what is looked at between two of them, and what keeps the next from beginning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from kafka_unclean_recovery.cluster.requests.describe import Described
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, FailureKind
from kafka_unclean_recovery.model import (
    NO_LEADER,
    Outcome,
    OutcomeKind,
    PartitionPlan,
    PartitionState,
    TopicPartition,
)
from kafka_unclean_recovery.planning.waves import Pace
from kafka_unclean_recovery.transport import Elections, wave_elector
from kafka_unclean_recovery.transport import coming as patience
from kafka_unclean_recovery.transport.wave_elector import WaveElector
from tests.cluster.fake_node import in_loop
from tests.reports import plan, state

NOT_BEGUN = "its election was not begun: stopped after wave"


def _tp(number: int) -> TopicPartition:
    return state(number).topic_partition


def _led(number: int, **fields: Any) -> PartitionState:
    return replace(state(number), **{"leader": 3, "leader_epoch": 8, **fields})


@dataclass
class Cluster:
    """Elects whoever is asked for. meanwhile: what happens while a wave is elected, by its number;
    looks: what a look finds instead, one after the other."""

    states: dict[TopicPartition, PartitionState] = field(default_factory=dict)
    meanwhile: dict[int, Callable[[], None]] = field(default_factory=dict)
    looks: list[Described | Exception] = field(default_factory=list)
    untold: dict[TopicPartition, str] = field(default_factory=dict)
    waves: list[list[int]] = field(default_factory=list)
    looked: list[list[int]] = field(default_factory=list)
    noted: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    fails: frozenset[int] = frozenset()
    requested: bool = False
    live: set[int] = field(default_factory=lambda: {3, 4})

    async def elect(self, plans: Sequence[PartitionPlan]) -> Elections:
        numbers = [plan.state.partition for plan in plans]
        self.waves.append(numbers)
        after = {_tp(n): _led(n) for n in numbers if n not in self.fails}
        self.states |= after
        self.meanwhile.get(len(self.waves), lambda: None)()
        failed = Outcome(OutcomeKind.FAILED, "no")
        outcomes = {_tp(n): failed for n in self.fails.intersection(numbers)}
        return Elections(outcomes | dict.fromkeys(after, Outcome(OutcomeKind.ELECTED)), after)

    async def described(self, wanted: Iterable[TopicPartition]) -> Described:
        wanted = list(wanted)
        self.looked.append([tp.partition for tp in wanted])
        if self.looks:
            look = self.looks.pop(0)
            if isinstance(look, Exception):
                raise look
            return look
        seen = {tp: s for tp in wanted if tp not in self.untold and (s := self.states.get(tp))}
        return Described(seen, untold=self.untold)

    async def cluster(self) -> tuple[Any, frozenset[int]]:
        return SimpleNamespace(brokers=dict.fromkeys(self.live)), frozenset()

    def note(self, event: str, **fields: Any) -> bool:
        self.noted.append((event, fields))
        return True

    def run(self, partitions: int, pace: Pace) -> dict[int, tuple[str, str | None]]:
        made: list[Elections] = []

        @in_loop
        async def go() -> None:
            means = SimpleNamespace(reader=self, journal=self, stop=self, say=self.said.append)
            elector = WaveElector(cast(Any, self), cast(Any, means), pace)
            made.append(await elector.elect([plan(n) for n in range(partitions)]))

        go()
        return {tp.partition: (o.kind.value, o.reason) for tp, o in made[0].outcomes.items()}


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "_STILL_SECONDS", 0.1)
    monkeypatch.setattr(patience, "_STILL_SECONDS_EACH", 0.0)


ELECTED = (OutcomeKind.ELECTED.value, None)


def test_without_a_pace_all_go_at_once_and_nobody_looks_between() -> None:
    cluster = Cluster()
    assert cluster.run(3, Pace()) == {0: ELECTED, 1: ELECTED, 2: ELECTED}
    assert (cluster.waves, cluster.looked, cluster.noted) == ([[0, 1, 2]], [], [])


@pytest.fixture
def first_is_internal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wave_elector, "waves", lambda plans, _: [plans[:1], plans[1:]])


@pytest.mark.usefixtures("first_is_internal")
def test_without_a_pace_a_leader_of_internal_topics_lost_meanwhile_is_told() -> None:
    cluster = Cluster()
    lost = _led(0, leader=NO_LEADER, leader_epoch=9)
    cluster.meanwhile[2] = lambda: cluster.states.update({_tp(0): lost})
    failed = (OutcomeKind.FAILED.value, "after its wave it has no leader again")
    assert cluster.run(3, Pace()) == {0: failed, 1: ELECTED, 2: ELECTED}
    assert (cluster.waves, cluster.looked[0]) == ([[0], [1, 2]], [0])
    assert (cluster.noted, cluster.said) == ([], [])


@pytest.mark.usefixtures("first_is_internal")
def test_without_a_pace_internal_topics_that_nobody_tells_of_any_more_have_failed() -> None:
    cluster = Cluster(looks=[ConnectionFailed(FailureKind.DISCONNECTED, "b1:9092", "gone")])
    found = cluster.run(2, Pace())
    assert found[1] == ELECTED
    assert found[0][0] == OutcomeKind.FAILED.value
    assert "could not be read back after the last wave" in str(found[0][1])


def test_each_wave_is_announced_and_looked_at_with_earlier_ones_and_the_last_with_all() -> None:
    cluster = Cluster()
    assert cluster.run(3, Pace(canary=1, wave_size=1)) == {0: ELECTED, 1: ELECTED, 2: ELECTED}
    assert cluster.looked == [[0], [1], [0], [0, 1, 2]]
    waves = [("wave", {"number": n, "of": 3, "partitions": 1}) for n in (1, 2, 3)]
    assert cluster.noted == waves
    assert cluster.said == [f"wave {n} of 3: 1 partition verified" for n in (1, 2, 3)]


def test_a_leader_of_an_earlier_wave_that_is_gone_stops_the_next() -> None:
    cluster = Cluster()
    lost = _led(0, leader=NO_LEADER, leader_epoch=9)
    cluster.meanwhile[2] = lambda: cluster.states.update({_tp(0): lost})
    found = cluster.run(4, Pace(wave_size=1))
    assert found[0] == ("failed", "after its wave it has no leader again")
    assert found[1] == ELECTED
    why = f"{NOT_BEGUN} 2 of 4 by orders-0: after its wave it has no leader again"
    assert found[2] == found[3] == ("failed", why)
    assert cluster.waves == [[0], [1]]
    assert cluster.noted[-1] == ("surprise", {"reason": why.partition("begun: ")[2]})


def test_a_leader_that_is_not_live_any_more_stops_the_next_wave_long_after_its_own() -> None:
    cluster = Cluster()
    lost = _led(2, leader=NO_LEADER, leader_epoch=9)

    def die() -> None:
        cluster.live = {4}
        cluster.states[_tp(2)] = lost

    cluster.meanwhile[8] = die
    found = cluster.run(20, Pace(wave_size=1))
    assert found[2] == ("failed", "after its wave it has no leader again")
    assert found[8] == ("failed", f"{NOT_BEGUN} 8 of 20 by orders-2: {found[2][1]}")
    assert len(cluster.waves) == 8
    own, in_turn, of_the_lost = cluster.looked[-4:-1]
    assert (own, of_the_lost) == ([7], list(range(8)))
    assert 2 not in in_turn


def test_a_leader_that_is_not_listed_and_leads_all_the_same_stops_nothing() -> None:
    cluster = Cluster()
    cluster.meanwhile[3] = lambda: setattr(cluster, "live", {4})
    found = cluster.run(20, Pace(wave_size=1))
    assert set(found.values()) == {ELECTED}
    # Looked at once for that, and not in each wave from then on.
    assert sum(looked == [0, 1, 2] for looked in cluster.looked) == 1


def test_a_partition_that_is_lost_without_its_broker_is_found_before_long() -> None:
    cluster = Cluster()
    lost = _led(6, leader=NO_LEADER, leader_epoch=9)
    cluster.meanwhile[20] = lambda: cluster.states.update({_tp(6): lost})
    found = cluster.run(100, Pace(wave_size=1))
    assert found[6] == ("failed", "after its wave it has no leader again")
    assert len(cluster.waves) < 40


def test_where_a_wave_ends_it_all_earlier_ones_are_looked_at_once_more() -> None:
    cluster = Cluster(fails=frozenset({15}))
    moved = _led(3, leader=4, leader_epoch=9)
    cluster.meanwhile[16] = lambda: cluster.states.update({_tp(3): moved})
    found = cluster.run(20, Pace(wave_size=1))
    assert not any(3 in looked for looked in cluster.looked[-4:-1])
    assert found[3] == ("failed", "after its wave broker 4 leads it by now, and not 3")
    assert found[15] == ("failed", "no")
    assert cluster.looked[-1] == list(range(15))


@pytest.mark.parametrize("size", [1, 3])
def test_what_a_wave_looks_at_grows_with_its_own_size_and_not_with_what_was_elected_before(
    size: int,
) -> None:
    looked = []
    for waves in (100, 200):
        cluster = Cluster()
        found = cluster.run(waves * size, Pace(wave_size=size))
        assert set(found.values()) == {ELECTED}
        *between, end = cluster.looked
        assert end == list(range(waves * size))
        assert max(map(len, between)) <= 2 * size
        looked.append(sum(map(len, between)))
    assert looked[1] <= 2.1 * looked[0]


def test_a_failed_election_stops_the_next_wave_and_the_others_are_counted() -> None:
    found = Cluster(fails=frozenset({0})).run(2, Pace(canary=1))
    assert found[1] == ("failed", f"{NOT_BEGUN} 1 of 2 by orders-0: no")
    found = Cluster(fails=frozenset({0, 1, 2})).run(4, Pace(wave_size=3))
    assert found[3] == ("failed", f"{NOT_BEGUN} 1 of 2 by orders-0: no (and 2 more)")


def test_a_broker_that_is_behind_is_no_surprise() -> None:
    before = _led(0, leader=NO_LEADER, leader_epoch=7)
    cluster = Cluster(looks=[Described({_tp(0): before})])
    assert cluster.run(2, Pace(canary=1)) == {0: ELECTED, 1: ELECTED}
    assert cluster.looked == [[0], [0], [0, 1]]


def test_what_can_not_be_described_is_not_verified() -> None:
    found = Cluster(untold={_tp(0): "NOT_NOW"}).run(2, Pace(canary=1))
    assert found[0] == ("failed", "after its wave it could not be described (NOT_NOW)")
    assert found[1][0] == "failed"


def test_a_cluster_that_does_not_answer_between_two_waves_stops_the_next() -> None:
    gone = ConnectionFailed(FailureKind.DISCONNECTED, "b1:9092", "gone")
    found = Cluster(looks=[gone]).run(2, Pace(canary=1))
    assert found[0] == ELECTED
    why = f"its election was not begun: wave 1 of 2 could not be verified: {gone}"
    assert found[1] == ("failed", why)


def test_a_signal_between_two_waves_is_said_to_have_ended_it() -> None:
    cluster = Cluster()
    cluster.meanwhile[1] = lambda: setattr(cluster, "requested", True)
    found = cluster.run(2, Pace(canary=1))
    assert found == {0: ELECTED, 1: ("failed", "interrupted before its election began")}
    assert not cluster.looked
