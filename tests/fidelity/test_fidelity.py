"""Our controller against real ones; `make fidelity` does the same for longer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple
from uuid import UUID

import pytest

from kafka_unclean_recovery.kafka_names import (
    MIN_INSYNC_REPLICAS,
    UNCLEAN_LEADER_ELECTION_ENABLE,
    Errors,
)
from kafka_unclean_recovery.kraft_rules import events as ev
from tests.fidelity.choosing import log_dirs
from tests.fidelity.comparing import first_difference
from tests.fidelity.generating import Generator
from tests.fidelity.invariants import broken
from tests.fidelity.our_side import OurSide
from tests.fidelity.real_side import RealSide, real_side
from tests.fidelity.relative import CAUGHT_UP, NOW, OWN
from tests.fidelity.runs import random_runs
from tests.fidelity.states import FAILED
from tests.real.conftest import real_kafka as real_kafka
from tests.real.releases import ONE, TESTED
from tests.real.waiting import wait_until

pytestmark = pytest.mark.real
WITH_ELR = tuple(version for version in TESTED if version != "3.9.1")
SEED = 1


class Steps(NamedTuple):
    """The seed is the first of several, each with 5,000 steps (tests.fidelity.runs)."""

    version: str
    steps: int
    seed: int = SEED

    def __str__(self) -> str:
        return f"{self.version}-{self.steps} steps from seed {self.seed}"


OTHERS = [version for version in TESTED if version != ONE]
SHORT = [Steps(ONE, 5_000), *(Steps(version, 500) for version in OTHERS)]
LONG = [Steps(ONE, 15_000, SEED + 1), *(Steps(version, 5_000) for version in OTHERS)]


@pytest.mark.parametrize("told", [*SHORT, *LONG], ids=str)
def test_after_every_step_our_controller_is_where_the_real_one_is(told: Steps) -> None:
    runs = list(random_runs(told.version, told.seed, told.steps))
    assert [str(run.difference) for run in runs if run.difference is not None] == []
    assert sum(len(run.events) for run in runs) == told.steps


@pytest.mark.parametrize("version", TESTED)
def test_random_steps_reach_the_states_that_matter(version: str) -> None:
    """And the invariants hold in each, so that they are true of what they are asked of us."""
    seen: set[str] = set()
    generator = Generator(SEED)
    with real_side(version) as real:
        before = real.state()
        for _ in range(3_000):
            real.happen(generator.next(real.image))
            after = real.state()
            assert list(broken(before, after, real.image)) == []
            if not after.elr_version:
                seen |= {"left by ELR" for found in after.partitions.values() if found.elr}
            for found in after.partitions.values():
                seen |= {name for name in found._fields if getattr(found, name)}
                seen |= {"no leader"} if found.leader < 0 else set()
            before = after
    of_elr = {"elr", "last_known_elr", "left by ELR"}
    assert {"no leader", "leader_recovery_state", "adding_replicas", "removing_replicas"} <= seen
    assert seen & of_elr == (of_elr if version in WITH_ELR else set())


@pytest.mark.parametrize("version", WITH_ELR)
def test_a_broker_that_is_unfenced_leads_again(version: str) -> None:
    """The plainest sequence, step by step, so that a broken driver is seen at once."""
    directory = log_dirs(1)[:1]
    with real_side(version) as real:
        real.happen(ev.RegisterBroker(1, UUID(int=7), -1, directory))
        _, unfenced = real.happen(ev.Heartbeat(1, 0, 0))
        assert unfenced == ev.HeartbeatResponse(Errors.NONE, True, False, False)
        created, _ = real.happen(ev.CreateTopic("t", UUID(int=0), {0: (1,)}, {}))
        assert isinstance(created, ev.CreateTopic)
        assert real.image.topics == {created.topic_id: "t"}
        real.happen(ev.Heartbeat(1, 0, 0, want_fence=True))
        gone = real.state().partitions["t", 0]
        assert (gone.leader, gone.isr, gone.elr, gone.last_known_elr) == (-1, (), (1,), (1,))
        real.happen(ev.Heartbeat(1, 0, 0))
        back = real.state().partitions["t", 0]
        assert (back.leader, back.leader_epoch, back.isr, back.elr) == (1, 2, (1,), ())


@pytest.mark.parametrize("version", WITH_ELR)
def test_metadata_version_can_not_go_down(version: str) -> None:
    """So that nothing is to be modelled of such a controller with an older metadata.version."""
    with real_side(version) as real:
        now = real.image.features["metadata.version"]
        for kind in (ev.SAFE_DOWNGRADE, ev.UNSAFE_DOWNGRADE):
            for level in range(1, now):
                error = real.update_feature("metadata.version", level, kind)
                assert (level, error) == (level, Errors.INVALID_UPDATE_VERSION)
        assert real.update_feature("metadata.version", now, ev.SAFE_DOWNGRADE) is Errors.NONE


@pytest.mark.parametrize("version", WITH_ELR)
def test_what_random_steps_seldom_come_by_ends_as_on_ours(version: str) -> None:
    """A partition that comes twice in one request is judged by what was before, each time. All
    brokers have a min ISR as soon as ELR is on."""
    both = ev.AlterPartition(1, NOW, "t", 0, NOW, NOW, ((1, NOW), (2, NOW)))
    twice = ev.AlterPartitions((both, replace(both, new_isr=((1, NOW),)), both))
    no_min_isr = ev.AlterClusterConfig(MIN_INSYNC_REPLICAS, None)
    switched = (
        no_min_isr,
        ev.UpdateElrVersion(0, ev.SAFE_DOWNGRADE),
        no_min_isr,
        ev.UpdateElrVersion(1, ev.UPGRADE),
        no_min_isr,
    )
    with real_side(version) as real:
        ours = OurSide(version, real.image, real.last_offset + 1)
        before = [*_one_of_two_falls_behind(), twice]
        assert first_difference(before, real, ours) is None
        # The second of them changes nothing.
        found = real.state().partitions["t", 0]
        assert (found.isr, found.partition_epoch) == ((1, 2), 3)
        end = real.last_offset
        assert first_difference(switched, real, ours) is None
        # The first removal and the last are refused; the upgrade is two records.
        assert real.last_offset - end == 4


@pytest.mark.parametrize("previous_epoch", [OWN, ev.UNKNOWN_BROKER_EPOCH])
@pytest.mark.parametrize("version", TESTED)
def test_a_broker_whose_session_ended_comes_back_as_on_ours(
    version: str, previous_epoch: int
) -> None:
    """The slow way to restart a broker, cleanly and uncleanly: nobody heard of it for a while."""
    directory = log_dirs(1)[:1]
    before = (
        ev.RegisterBroker(1, UUID(int=7), ev.UNKNOWN_BROKER_EPOCH, directory),
        ev.Heartbeat(1, NOW, CAUGHT_UP),
        ev.CreateTopic("t", UUID(int=0), {0: (1,)}),
    )
    after = (
        ev.RegisterBroker(1, UUID(int=8), previous_epoch, directory),
        ev.Heartbeat(1, NOW, CAUGHT_UP),
    )
    with real_side(version, {"broker.session.timeout.ms": "2000"}) as real:
        ours = OurSide(version, real.image, real.last_offset + 1)
        assert first_difference(before, real, ours) is None
        wait_until(lambda: _is_fenced(real), 10.0, lambda: str(real.state()))
        ours.happen(ev.SessionExpired(1))
        assert ours.state() == real.state()
        assert first_difference(after, real, ours) is None
        assert real.state().partitions["t", 0].leader == 1


def _arrivals(disks: int = 1) -> list[ev.Event]:
    """Return the arrivals of brokers 1 and 2."""
    arrivals: list[ev.Event] = []
    for broker in (1, 2):
        arrivals.append(ev.RegisterBroker(broker, UUID(int=broker), -1, log_dirs(broker)[:disks]))
        arrivals.append(ev.Heartbeat(broker, NOW, CAUGHT_UP))
    return arrivals


def _one_of_two_falls_behind(disks: int = 1, configs: Mapping[str, str] = {}) -> list[ev.Event]:
    """Return how topic t comes to be on 1 and 2, led by 1, with 1 alone in the ISR."""
    return [
        *_arrivals(disks),
        ev.CreateTopic("t", UUID(int=0), {0: (1, 2)}, configs),
        ev.AlterPartition(1, NOW, "t", 0, NOW, NOW, ((1, NOW),)),
    ]


THE_END: Mapping[str, Sequence[ev.Event]] = {
    "former ELR member of a deleted topic": [
        *_one_of_two_falls_behind(configs={MIN_INSYNC_REPLICAS: "2"}),
        ev.AlterTopicConfig("t", MIN_INSYNC_REPLICAS, "1"),
        ev.DeleteTopic("t"),
        ev.UnregisterBroker(2),
    ],
    "directory of a topic deleted with no ISR": [
        *_one_of_two_falls_behind(disks=2),
        ev.AssignReplicaToDir(1, NOW, "t", 0, log_dirs(1)[0]),
        ev.Heartbeat(1, NOW, CAUGHT_UP, want_fence=True),
        ev.DeleteTopic("t"),
        ev.Heartbeat(1, NOW, CAUGHT_UP, offline_log_dirs=(log_dirs(1)[0],)),
    ],
}
"""Bugs that end a controller, which random steps go around (generating.py)."""


@pytest.mark.parametrize("events", THE_END.values(), ids=THE_END)
@pytest.mark.parametrize("version", WITH_ELR)
def test_what_ends_a_controller_ends_ours(version: str, events: Sequence[ev.Event]) -> None:
    """The doctor tells of the first of them."""
    with real_side(version) as real:
        ours = OurSide(version, real.image, real.last_offset + 1)
        assert first_difference(events[:-1], real, ours) is None
        sent, answer = real.happen(events[-1])
        assert (answer, ours.happen(sent)) == (FAILED, FAILED)


@dataclass(frozen=True, slots=True)
class Task:
    """After `before`, `last` makes work for a timer of the real one; then `leader` leads."""

    properties: Mapping[str, str]
    before: Sequence[ev.Event]
    last: ev.Event
    event: ev.Event
    leader: int


TASKS = {
    "unclean leader election": Task(
        {"unclean.leader.election.interval.ms": "500"},
        [ev.Heartbeat(1, NOW, CAUGHT_UP, want_fence=True)],
        ev.AlterTopicConfig("t", UNCLEAN_LEADER_ELECTION_ENABLE, "true"),
        ev.ElectUncleanLeaders(),
        leader=2,
    ),
    "leader balancing": Task(
        {"auto.leader.rebalance.enable": "true", "leader.imbalance.check.interval.seconds": "1"},
        [
            ev.AlterPartition(1, NOW, "t", 0, NOW, NOW, ((1, NOW), (2, NOW))),
            ev.Heartbeat(1, NOW, CAUGHT_UP, want_fence=True),
            ev.Heartbeat(1, NOW, CAUGHT_UP),
        ],
        ev.AlterPartition(2, NOW, "t", 0, NOW, NOW, ((1, NOW), (2, NOW))),
        ev.BalanceLeaders(),
        leader=1,
    ),
}


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
@pytest.mark.parametrize("version", TESTED)
def test_what_a_timer_starts_ends_as_on_ours(version: str, task: Task) -> None:
    with real_side(version, task.properties) as real:
        ours = OurSide(version, real.image, real.last_offset + 1)
        before = [*_one_of_two_falls_behind(), *task.before]
        assert first_difference(before, real, ours) is None
        # The timer may be quicker than a look at what came before it.
        ours.happen(real.happen(task.last)[0])
        assert ours.state().partitions["t", 0].leader != task.leader
        ours.happen(task.event)
        wait_until(lambda: _leader(real) == task.leader, 20.0, lambda: str(real.state()))
        assert ours.state() == real.state()


def _leader(real: RealSide) -> int:
    real.catch_up()
    return real.state().partitions["t", 0].leader


def _is_fenced(real: RealSide) -> bool:
    real.catch_up()
    return real.state().brokers[1].fenced
