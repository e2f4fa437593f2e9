"""All reachable states of one partition: what holds in each, and which guards it takes."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pytest

from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.kraft_rules import (
    alter_partition,
    partition,
    partition_change,
    partition_updates,
    registrations,
    replay,
)
from kafka_unclean_recovery.kraft_rules.events import AlterPartition, RegisterBroker
from kafka_unclean_recovery.kraft_rules.partition import PartitionRegistration
from kafka_unclean_recovery.kraft_rules.partition_change import Elected, Election
from kafka_unclean_recovery.kraft_rules.records import PartitionChangeRecord, Record
from kafka_unclean_recovery.kraft_rules.releases import (
    KAFKA_3_9_1,
    KAFKA_4_3_1,
    KIP_966,
    Release,
)
from kafka_unclean_recovery.kraft_rules.state import State as ControllerState
from tests.model_check import replication, steps
from tests.model_check.controller import Controller
from tests.model_check.invariants import INVARIANTS, Invariant
from tests.model_check.search import Configuration, Explored, explore
from tests.model_check.states import (
    CRASHED,
    ELR,
    ISR,
    UP,
    Broker,
    Leading,
    Log,
    Peer,
    State,
    canonical,
    initial,
)
from tests.model_check.steps import Bounds, Fault


def _three(disturbances: int = 2, behind: int = 0, release: Release = KAFKA_4_3_1) -> Configuration:
    """Return three brokers and min ISR 2, of which one may have shut down uncleanly."""
    return Configuration(release, 2, initial(3, 3), disturbances, Bounds(1, 1, behind))


# Two brokers and min ISR 1, each of which may be behind; none shuts down uncleanly.
_TWO = Configuration(KAFKA_4_3_1, 1, initial(2, 2), 2, Bounds(1, 0, 2))


@pytest.fixture(scope="module", autouse=True)
def _no_collections() -> Iterator[None]:
    """Switch collections off. States are tuples and in no cycle: collections would go through all
    of them for nothing, and what is remembered of them would be gone through by those of all later
    tests."""
    gc.disable()
    yield
    gc.enable()
    canonical.cache_clear()


# Guards: what each is replaced by to be gone.

_real_stale = alter_partition._stale
_real_with_elr = partition_change._with_elr
_real_elect = partition_change._elect
_real_incarnation_ends = registrations._former_incarnation_ends
_real_merge = partition.merge
_real_change_partition = partition_change.change_partition


def _any_isr_suffices(_leading: Leading, _min_isr: int) -> bool:
    return True


def _maximal_isr_suffices(leading: Leading, min_isr: int) -> bool:
    return sum(bool(peer.in_isr or peer.asked) for peer in leading.peers) >= min_isr


def _end_of_isr_alone(leading: Leading) -> int:
    return min(peer.end_offset for peer in leading.peers if peer.in_isr)


def _reached_epoch_alone(leading: Leading, log: Log, epoch: int, peer: Peer) -> bool:
    return peer.end_offset >= replication.epoch_start(log, epoch)


def _no_epoch_start(_log: Log, _epoch: int) -> int:
    return 0


def _whole_log(log: Log, leaders: Log) -> int:
    return min(len(log), len(leaders))


def _follows_any(follower: Broker, leader: Broker) -> bool:
    return follower.process == UP and follower.leading is None and leader.leading is not None


def _former_elr_alone(ids: tuple[int, ...], _leavers: tuple[int, ...]) -> tuple[int, ...]:
    return ids


def _never_enough(before: Any, target: Any, proposal: Any, rules: Any) -> Any:
    rules = replace(rules, min_isr=lambda replicas: len(replicas) + 1)
    return _real_with_elr(before, target, proposal, rules)


def _last_member_stays(*arguments: Any) -> PartitionChangeRecord | None:
    change = _real_change_partition(*arguments)
    if change is None or change.isr != ():
        return change
    return replace(change, isr=None, elr=None)


def _same_incarnation_alone(state: ControllerState, broker: int, epoch: int) -> bool:
    return epoch in (-1, state.brokers[broker].epoch)


def _active_alone(state: ControllerState, broker: int, _epoch: int) -> bool:
    return state.active(broker)


def _any_partition_epoch(before: PartitionRegistration, event: AlterPartition) -> Errors:
    error = _real_stale(before, event)
    return Errors.NONE if error is Errors.INVALID_UPDATE_VERSION else error


def _any_leader_epoch(before: PartitionRegistration, event: AlterPartition) -> Errors:
    """Return the error of a check that goes by the partition epoch alone."""
    return _real_stale(before, replace(event, leader_epoch=before.leader_epoch))


def _elect_anyone(before: Any, target: Any, _proposal: Any, rules: Any) -> Elected:
    for replica in (before.leader, *target.replicas):
        if replica >= 0 and rules.acceptable(replica):
            return Elected(replica, unclean=replica not in (*target.isr, *target.elr))
    return Elected(-1)


def _elect_of_elr_too(before: Any, target: Any, proposal: Any, rules: Any) -> Elected:
    if proposal.election is Election.PREFERRED:
        for replica in target.replicas:
            if replica in (*target.isr, *target.elr) and rules.acceptable(replica):
                return Elected(replica)
    return _real_elect(before, target, proposal, rules)


def _any_epoch_is_clean(state: ControllerState, event: RegisterBroker) -> list[Record]:
    clean = replace(event, previous_broker_epoch=state.brokers[event.broker].epoch)
    return _real_incarnation_ends(state, clean)


def _same_epoch(old: PartitionRegistration, change: Any) -> PartitionRegistration:
    return replace(_real_merge(old, change), leader_epoch=old.leader_epoch)


@dataclass(frozen=True)
class Guard:
    """name: of what is removed; `module`.`attribute` is it, and `without` comes in its place."""

    name: str
    module: object
    attribute: str
    without: Callable[..., Any]
    configuration: Configuration
    breaks: str


_CANDIDATES = "LeaderCandidateCompleteness"
_CONTROLLER = "ValidControllerState"

# What a leader does.
_OF_LEADERS = (
    Guard(
        "the high watermark needs min ISR",
        replication,
        "isr_suffices",
        _any_isr_suffices,
        _three(),
        _CANDIDATES,
    ),
    Guard(
        "min ISR is counted in the ISR that the controller has confirmed",
        replication,
        "isr_suffices",
        _maximal_isr_suffices,
        _three(),
        _CANDIDATES,
    ),
    Guard(
        "the high watermark waits for the maximal ISR",
        replication,
        "replicated_end",
        _end_of_isr_alone,
        _three(),
        _CANDIDATES,
    ),
    Guard(
        "who joins the ISR has reached the leader's epoch",
        replication,
        "epoch_start",
        _no_epoch_start,
        _three(),
        _CANDIDATES,
    ),
    Guard(
        "who joins the ISR has reached the high watermark",
        replication,
        "in_sync",
        _reached_epoch_alone,
        _three(),
        _CANDIDATES,
    ),
    Guard(
        "followers truncate where the logs part",
        replication,
        "shared_end",
        _whole_log,
        _three(),
        _CANDIDATES,
    ),
    Guard(
        "a leader answers fetches of its own epoch alone",
        steps,
        "_follows",
        _follows_any,
        _three(1, behind=1),
        _CANDIDATES,
    ),
)

# What the controller does.
_OF_THE_CONTROLLER = (
    Guard(
        "an unclean registration takes the replica out of the ELR",
        registrations,
        "broker_lost_data",
        partition_updates.broker_leaves,
        _three(),
        _CANDIDATES,
    ),
    Guard(
        "a shutdown is clean if the broker knows its epoch",
        registrations,
        "_former_incarnation_ends",
        _any_epoch_is_clean,
        _three(),
        _CANDIDATES,
    ),
    Guard(
        "who leaves an ISR below min ISR joins the ELR",
        partition_change,
        "_in_hash_order",
        _former_elr_alone,
        _three(),
        _CANDIDATES,
    ),
    Guard(
        "there is no ELR at min ISR",
        partition_change,
        "_with_elr",
        _never_enough,
        _three(),
        "ValidControllerIsrAndElr",
    ),
    Guard(
        "the last member leaves the ISR",
        partition_updates,
        "change_partition",
        _last_member_stays,
        _three(),
        _CONTROLLER,
    ),
    Guard(
        "an inactive broker does not join the ISR",
        alter_partition,
        "_eligible",
        _same_incarnation_alone,
        _three(),
        _CONTROLLER,
    ),
    Guard(
        "a stale broker epoch does not join the ISR",
        alter_partition,
        "_eligible",
        _active_alone,
        _three(),
        _CANDIDATES,
    ),
    Guard(
        "an ISR by an old partition epoch is refused",
        alter_partition,
        "_stale",
        _any_partition_epoch,
        _three(1, behind=1),
        _CANDIDATES,
    ),
    Guard(
        "leaders are elected from ISR and ELR",
        partition_change,
        "_elect",
        _elect_anyone,
        _three(),
        _CANDIDATES,
    ),
    Guard(
        "the ELR is asked when the ISR is empty",
        partition_change,
        "_elect",
        _elect_of_elr_too,
        _three(),
        _CANDIDATES,
    ),
    Guard(
        "a new leader is a new leader epoch",
        replay,
        "merge",
        _same_epoch,
        _TWO,
        "OneLeaderAnEpoch",
    ),
)

GUARDS = (*_OF_LEADERS, *_OF_THE_CONTROLLER)


def _without(guard: Guard, monkeypatch: pytest.MonkeyPatch) -> Explored:
    # The module is an object here, so that a guard which is renamed is not left in place.
    monkeypatch.setattr(guard.module, guard.attribute, guard.without)
    return explore(guard.configuration)


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_without_any_one_guard_some_invariant_fails(
    guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = _without(guard, monkeypatch).broken
    assert broken is not None
    assert broken.invariant == guard.breaks


def test_partition_epochs_do_the_work_of_leader_epochs_in_proposals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The one guard that is not missed: whatever is a new leader epoch is a new partition epoch.
    monkeypatch.setattr(alter_partition, "_stale", _any_leader_epoch)
    explored = explore(_three(1, behind=1))
    assert explored.complete
    assert explored.broken is None


HOLD = {
    "3 brokers, min ISR 2, 2 disturbances": (_three(), 16_000),
    "3 brokers, min ISR 2, 1 disturbance, any may be behind": (_three(1, behind=3), 16_000),
    "3 brokers, min ISR 2, 1 disturbance, 1 is behind": (_three(1, behind=1), 11_000),
    "3 brokers, min ISR 2, 1 disturbance, 2 records": (
        replace(_three(1), bounds=Bounds(2, 1, 0)),
        15_000,
    ),
    "2 brokers, min ISR 1": (_TWO, 600),
    "4 brokers, min ISR 2": (
        Configuration(KAFKA_4_3_1, 2, initial(4, 4), 1, Bounds(1, 1, 0)),
        16_000,
    ),
    "4 brokers, min ISR 3": (
        Configuration(KAFKA_4_3_1, 3, initial(4, 4), 1, Bounds(1, 2, 0)),
        23_000,
    ),
    "4 brokers, min ISR 3, 2 unclean shutdowns overlap": (
        Configuration(
            KAFKA_4_3_1,
            3,
            initial(4, 3, records=1),
            2,
            Bounds(1, 2, 0, frozenset({Fault.CRASH, Fault.SESSION, Fault.LAG})),
        ),
        18_000,
    ),
    "3 brokers, min ISR 2, 1 disturbance, the KIP's texts": (_three(1, release=KIP_966), 3_000),
}


@pytest.mark.parametrize(("configuration", "at_least"), HOLD.values(), ids=HOLD)
def test_all_invariants_hold_in_every_state(configuration: Configuration, at_least: int) -> None:
    explored = explore(configuration)
    assert explored.broken is None
    assert explored.complete
    assert explored.states >= at_least


def test_each_configuration_of_a_guard_is_one_of_those_in_which_all_holds() -> None:
    held = [configuration for configuration, _ in HOLD.values()]
    assert all(guard.configuration in held for guard in GUARDS)


# That the states are those which matter: of each of these there is one.

SEEN: Mapping[str, tuple[Configuration, Invariant]] = {
    "a leader holds records while a member of the ELR is down uncleanly": (
        _three(),
        lambda state, _: (
            not (
                any(b.leading is not None and b.log for b in state.brokers)
                and any(b.seat.member == ELR and b.process == CRASHED for b in state.brokers)
            )
        ),
    ),
    "two lead, in different epochs": (
        _three(1, behind=3),
        lambda state, _: sum(b.leading is not None for b in state.brokers) < 2,
    ),
    "two logs part": (
        _three(1, behind=3),
        lambda state, _: len({b.log for b in state.brokers if b.log}) < 2,
    ),
    "a record is committed while an unclean shutdown is open": (
        _three(),
        lambda state, _: not (state.committed and any(b.open for b in state.brokers)),
    ),
    "the ISR is empty": (
        _three(),
        lambda state, _: any(b.seat.member == ISR for b in state.brokers),
    ),
}


@pytest.mark.parametrize(("configuration", "never"), SEEN.values(), ids=SEEN)
def test_states_that_matter_are_reached(configuration: Configuration, never: Invariant) -> None:
    assert explore(configuration, {"never": never}).broken is not None


@pytest.mark.parametrize("seed", range(5))
def test_states_that_differ_in_the_names_of_brokers_alone_are_one(seed: int) -> None:
    chance = Random(seed)
    controller, bounds = Controller(KAFKA_4_3_1, 2), Bounds(2, 1, 3)
    state = initial(4, 4)
    for _ in range(60):
        possible = [
            *steps.steps(state, controller, bounds),
            *steps.disturbances(state, controller, bounds),
        ]
        state = canonical(chance.choice(possible).state)[0]
        order = chance.sample(range(4), 4)
        assert canonical(_renamed(state, order))[0] == state


def _renamed(state: State, order: list[int]) -> State:
    brokers = []
    for place in order:
        broker = state.brokers[place]
        if broker.leading is not None:
            peers = tuple(broker.leading.peers[other] for other in order)
            broker = broker._replace(leading=broker.leading._replace(peers=peers))
        brokers.append(broker)
    return state._replace(brokers=tuple(brokers))


# What is lost, and when.

_LAST_REPLICA_STANDING = """\
At first leader 1, ISR [1, 2, 3].
Leader 1 writes a record.
Follower 2 fetches a record from leader 1.
Follower 2 fetches from leader 1, which has no more.
Leader 1 asks for the ISR without 3.
The controller makes it the ISR that leader 1 asks for: leader 1, ISR [1, 2]; a record is committed.
Leader 1 asks for the ISR without 2.
The controller makes it the ISR that leader 1 asks for: leader 1, ISR [1].
Broker 1 shuts down uncleanly and loses all of its records.
The session of broker 1 ends and it is fenced: leader none, ISR [1].
Broker 1 restarts and registers, having shut down uncleanly.
The controller hears broker 1 and unfences it: leader 1, ISR [1].
Follower 2 truncates its log to 0 records, as it parts from leader 1's.
"""


def test_without_elr_the_last_replica_standing_loses_what_was_committed() -> None:
    name = "NoCommittedRecordLostGlobally"
    explored = explore(_three(release=KAFKA_3_9_1), {name: INVARIANTS[name]})
    assert explored.broken is not None
    assert explored.broken.trace == tuple(_LAST_REPLICA_STANDING.splitlines())


# Replicas, min ISR, unclean shutdowns that it tolerates (the table of Vanlightly's analysis).
TOLERATED = ((3, 2, 1), (5, 3, 2), (6, 4, 3))


def _only_crashes(
    replicas: int, min_isr: int, overlapping: int, disturbances: int | None
) -> Configuration:
    """Return a configuration: records are committed in an ISR of min ISR, the others lag."""
    bounds = Bounds(1, overlapping, 0, frozenset({Fault.CRASH}))
    return Configuration(KAFKA_4_3_1, min_isr, initial(replicas, min_isr, 1), disturbances, bounds)


@pytest.mark.parametrize(("replicas", "min_isr", "tolerated"), TOLERATED)
def test_min_isr_less_one_unclean_shutdowns_are_tolerated_and_no_more(
    replicas: int, min_isr: int, tolerated: int
) -> None:
    # Any number of them with three replicas; with more it takes longer (benchmarks/model_check).
    disturbances = {3: None, 5: 2, 6: 1}[replicas]
    kept = explore(_only_crashes(replicas, min_isr, tolerated, disturbances))
    assert kept.complete
    assert kept.broken is None
    lost = explore(_only_crashes(replicas, min_isr, tolerated + 1, None))
    assert lost.broken is not None
    assert lost.broken.invariant == "NoCommittedRecordLostGlobally"
    assert sum("uncleanly" in line for line in lost.broken.trace) == tolerated + 1
