"""All that can happen in a state, one step each.

Disturbances are apart, to be counted; all else goes on for ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import combinations
from typing import NamedTuple

from kafka_unclean_recovery.kraft_rules import events as ev
from tests.model_check import controller as con
from tests.model_check import replication
from tests.model_check.controller import Basis, Controller, Outcome
from tests.model_check.states import (
    CRASHED,
    ISR,
    NOBODY,
    NOTHING_HEARD,
    STOPPED,
    UP,
    Broker,
    Leading,
    State,
)


class Fault(Enum):
    """What may go wrong. The first four are disturbances."""

    SESSION = "the session of a running broker ends"
    SHUTDOWN = "a broker shuts down cleanly"
    CRASH = "a broker shuts down uncleanly"
    LEADERSHIP = "the controller moves leadership"
    LAG = "a leader takes a follower out of the ISR"
    LOSS = "the answer to a fetch is lost"


@dataclass(frozen=True, slots=True)
class Bounds:
    """records: the most that a log may hold. unclean_shutdowns: as many may overlap. behind: as
    many running brokers may not have heard of what the controller has written last; who hears
    anything hears all."""

    records: int
    unclean_shutdowns: int
    behind: int
    faults: frozenset[Fault] = frozenset(Fault)


class Step(NamedTuple):
    """A sentence with a place for each broker, the brokers' places, and the state after it."""

    sentence: str
    brokers: tuple[int, ...]
    state: State


def steps(state: State, controller: Controller, bounds: Bounds) -> Iterator[Step]:
    """Yield all steps that are no disturbance."""
    for place, broker in enumerate(state.brokers):
        if broker.process != UP:
            yield from _told(_restarts(state, place, controller), controller, bounds)
            continue
        yield from _told(_runs(state, place, controller), controller, bounds)
        if broker.leading is not None:
            leads = _leads(state, place, broker, broker.leading, controller, bounds)
            yield from _told(leads, controller, bounds)


def disturbances(state: State, controller: Controller, bounds: Bounds) -> Iterator[Step]:
    yield from _told(_disturbances(state, controller, bounds), controller, bounds)


def _told(found: Iterable[Step], controller: Controller, bounds: Bounds) -> Iterator[Step]:
    """Yield each step with whoever hears of it at once, so that no more are behind than may be."""
    for step in found:
        behind = [at for at, broker in enumerate(step.state.brokers) if _behind(step.state, broker)]
        if len(behind) <= bounds.behind:
            yield step
            continue
        for hearing in combinations(behind, len(behind) - bounds.behind):
            after = step.state
            for place in hearing:
                after = replication.heard(after, place, controller.min_isr)
            yield step._replace(state=after)


# What goes on.


def _restarts(state: State, place: int, controller: Controller) -> Iterator[Step]:
    broker = state.brokers[place]
    if not broker.seat.fenced:
        yield from _expires(state, place, controller)
    clean = broker.process == STOPPED
    how = "having shut down cleanly" if clean else "having shut down uncleanly"
    started = broker._replace(process=UP, leader_epoch=NOTHING_HEARD)
    forgotten = replication.reincarnated(replication.replaced(state, place, started), place)
    event = con.register(place, clean)
    yield from _decided(
        forgotten, controller, event, Said(f"Broker {{}} restarts and registers, {how}", (place,))
    )


def _runs(state: State, place: int, controller: Controller) -> Iterator[Step]:
    broker = state.brokers[place]
    if broker.seat.fenced and broker.leader_epoch != NOTHING_HEARD:
        said = Said("The controller hears broker {} and unfences it", (place,))
        yield from _decided(state, controller, con.heartbeat(place), said)
    if _behind(state, broker):
        heard = replication.heard(state, place, controller.min_isr)
        yield Step("Broker {} hears what the controller has written", (place,), heard)


def _behind(state: State, broker: Broker) -> bool:
    if broker.process != UP:
        return False
    if broker.leading is not None:
        return not broker.leading.current
    if broker.seat.leader:
        return True
    led = any(other.seat.leader for other in state.brokers)
    return broker.leader_epoch != (state.leader_epoch if led else NOBODY)


def _leads(
    state: State,
    place: int,
    leader: Broker,
    leading: Leading,
    controller: Controller,
    bounds: Bounds,
) -> Iterator[Step]:
    if len(leader.log) < bounds.records:
        after = replication.written(state, place, controller.min_isr)
        yield Step("Leader {} writes a record", (place,), after)
    for other, follower in enumerate(state.brokers):
        if other != place and _follows(follower, leader):
            yield from _fetches(state, place, other, controller, bounds)
    # One request at a time: the next waits until it has heard what became of the last.
    if any(peer.asked for peer in leading.peers):
        yield from _received(state, place, leader, leading, controller)
    else:
        yield from _asks(state, place, leader, leading, bounds)


def _follows(follower: Broker, leader: Broker) -> bool:
    """Return whether the leader answers: only fetches of its own leader epoch (KIP-320)."""
    return (
        follower.process == UP
        and follower.leading is None
        and follower.leader_epoch == leader.leader_epoch
    )


def _fetches(
    state: State, place: int, other: int, controller: Controller, bounds: Bounds
) -> Iterator[Step]:
    after = replication.fetched(state, place, other, controller.min_isr)
    had, has = len(state.brokers[other].log), len(after.brokers[other].log)
    if has < had:
        sentence = (
            f"Follower {{}} truncates its log to {has} records, as it parts from leader {{}}'s"
        )
    elif has > had:
        sentence = "Follower {} fetches a record from leader {}"
        if Fault.LOSS in bounds.faults:
            lost = "Follower {} fetches from leader {}, whose answer is lost"
            noted = replication.asked_for_more(state, place, other, controller.min_isr)
            yield Step(lost, (other, place), noted)
    else:
        sentence = "Follower {} fetches from leader {}, which has no more"
    yield Step(sentence, (other, place), after)


def _asks(
    state: State, place: int, leader: Broker, leading: Leading, bounds: Bounds
) -> Iterator[Step]:
    isr = {other for other, peer in enumerate(leading.peers) if peer.in_isr}
    for other, peer in enumerate(leading.peers):
        if peer.in_isr and other != place and Fault.LAG in bounds.faults:
            # It lags, or the leader can't see that it doesn't.
            sentence = "Leader {} asks for the ISR without {}"
            yield Step(sentence, (place, other), replication.asked(state, place, isr - {other}))
        elif not peer.in_isr and replication.in_sync(
            leading, leader.log, leader.leader_epoch, peer
        ):
            sentence = "Leader {} asks for the ISR with {}"
            yield Step(sentence, (place, other), replication.asked(state, place, isr | {other}))


def _received(
    state: State, place: int, leader: Broker, leading: Leading, controller: Controller
) -> Iterator[Step]:
    """Yield what comes of a request that reaches the controller. An answer that it was not by the
    newest epochs says no more than what the leader is going to hear anyway."""
    isr = [(other, peer.asked) for other, peer in enumerate(leading.peers) if peer.asked]
    basis = Basis(leader.leader_epoch == state.leader_epoch, leading.current)
    event = con.propose_isr(place, basis, tuple(isr))
    said = Said("The controller makes it the ISR that leader {} asks for", (place,))
    taken = list(_decided(state, controller, event, said))
    yield from taken
    if not taken and leading.current:
        sentence = "The controller refuses the ISR that leader {} asks for"
        yield Step(sentence, (place,), replication.asked(state, place, ()))


# What disturbs.


def _disturbances(state: State, controller: Controller, bounds: Bounds) -> Iterator[Step]:
    led = any(broker.seat.leader for broker in state.brokers)
    if led and Fault.LEADERSHIP in bounds.faults:
        said = Said("The controller moves leadership", ())
        yield from _decided(state, controller, con.PREFERRED_ELECTION, said)
    for place, broker in enumerate(state.brokers):
        if broker.process != UP:
            continue
        if not broker.seat.fenced and Fault.SESSION in bounds.faults:
            yield from _expires(state, place, controller)
        if Fault.SHUTDOWN in bounds.faults:
            yield from _stops(state, place, controller)
        if Fault.CRASH in bounds.faults:
            yield from _crashes(state, place, bounds)


def _expires(state: State, place: int, controller: Controller) -> Iterator[Step]:
    said = Said("The session of broker {} ends and it is fenced", (place,))
    yield from _decided(state, controller, con.session_expires(place), said)


def _stops(state: State, place: int, controller: Controller) -> Iterator[Step]:
    down = state.brokers[place]._replace(process=STOPPED, leader_epoch=NOBODY, leading=None)
    said = Said("Broker {} shuts down cleanly", (place,))
    after = replication.replaced(state, place, down)
    yield from _decided(after, controller, con.last_heartbeat(place), said)


def _crashes(state: State, place: int, bounds: Bounds) -> Iterator[Step]:
    """Yield unclean shutdowns, which drop any suffix of what was not flushed; nothing ever was,
    here, which has all that can happen if something was."""
    others = sum(other.open for at, other in enumerate(state.brokers) if at != place)
    if others >= bounds.unclean_shutdowns:
        return
    broker = state.brokers[place]
    for left in range(len(broker.log) + 1):
        down = broker._replace(
            process=CRASHED, log=broker.log[:left], open=True, leader_epoch=NOBODY, leading=None
        )
        sentence = f"Broker {{}} shuts down uncleanly{_lost(len(broker.log) - left, left)}"
        yield Step(sentence, (place,), replication.replaced(state, place, down))


def _lost(lost: int, left: int) -> str:
    if not lost:
        return " and loses nothing"
    return f" and loses {lost} of its records" if left else " and loses all of its records"


# The controller.


class Said(NamedTuple):
    sentence: str
    brokers: tuple[int, ...]


def _decided(state: State, controller: Controller, event: ev.Event, said: Said) -> Iterator[Step]:
    seats = tuple(broker.seat for broker in state.brokers)
    for outcome in controller.outcomes(seats, event):
        yield Step(said.sentence, said.brokers, _seated(state, outcome))


def _seated(state: State, outcome: Outcome) -> State:
    brokers = []
    for broker, seat in zip(state.brokers, outcome.seats, strict=True):
        leading = broker.leading
        if leading is not None and outcome.changed:
            leading = leading._replace(current=False)
        # Back in the ISR a replica has all that is committed, and its unclean shutdown is over.
        back = broker.process == UP and seat.member == ISR
        brokers.append(broker._replace(seat=seat, leading=leading, open=broker.open and not back))
    epoch = state.leader_epoch + outcome.leader_epochs
    return state._replace(brokers=tuple(brokers), leader_epoch=epoch)
