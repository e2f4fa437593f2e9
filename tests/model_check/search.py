"""Breadth first through all reachable states; first those without disturbances, then those after
one, and so on, if these are counted. So the first trace to a broken invariant is a shortest of
those with the fewest disturbances. Nothing is random in it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, pairwise

from kafka_unclean_recovery.kraft_rules.releases import Release
from tests.model_check.controller import Controller
from tests.model_check.invariants import INVARIANTS, Invariant
from tests.model_check.states import (
    ELR,
    ISR,
    State,
    canonical,
)
from tests.model_check.steps import Bounds, Step, disturbances, steps


@dataclass(frozen=True, slots=True)
class Configuration:
    """disturbances: how many there may be in all, None being any number; see steps."""

    release: Release
    min_isr: int
    start: State
    disturbances: int | None
    bounds: Bounds


@dataclass(frozen=True, slots=True)
class Broken:
    """trace: what happened, a sentence each."""

    invariant: str
    trace: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explored:
    """states: distinct ones, up to the names of brokers. steps: all that were tried.
    complete: there are no more states. broken: the first invariant found not to hold."""

    states: int
    steps: int
    complete: bool
    broken: Broken | None


def explore(
    configuration: Configuration,
    invariants: Mapping[str, Invariant] = INVARIANTS,
    most_states: int = 10_000_000,
) -> Explored:
    """Explore up to the first invariant that does not hold, or to `most_states` states."""
    search = _Search(Controller(configuration.release, configuration.min_isr), configuration.bounds)
    for reached in search.states(configuration.start, configuration.disturbances):
        if broken := _first_broken(reached, configuration.min_isr, invariants):
            trace = _trace(search, _path(search.came_from, reached))
            return search.explored(False, Broken(broken, trace))
        if len(search.came_from) >= most_states:
            return search.explored(False, None)
    return search.explored(True, None)


_Moves = Callable[[State, Controller, Bounds], Iterator[Step]]


@dataclass(slots=True)
class _Search:
    """came_from: each state that was reached, and the one before it, if any."""

    controller: Controller
    bounds: Bounds
    came_from: dict[State, State | None] = field(default_factory=dict)
    tried: int = 0

    def explored(self, complete: bool, broken: Broken | None) -> Explored:
        return Explored(len(self.came_from), self.tried, complete, broken)

    def states(self, start: State, most_disturbances: int | None) -> Iterator[State]:
        """Yield each state once."""
        self.came_from[start] = None
        yield start
        if most_disturbances is None:
            yield from self._level([start], [], (steps, disturbances))
            return
        calmer = yield from self._level([start], [], (steps,))
        for _ in range(most_disturbances):
            calmer = yield from self._level([], calmer, (steps,))

    def _level(
        self, first: list[State], calmer: list[list[State]], moves: tuple[_Moves, ...]
    ) -> Generator[State, None, list[list[State]]]:
        """Yield what `moves` reach, and one disturbance of `calmer`. Both are, as is what it
        returns, lists of states by how many steps lead to them."""
        level = [first]
        while level[-1] or len(level) <= len(calmer):
            found: list[State] = []
            disturbed = calmer[len(level) - 1] if len(level) <= len(calmer) else []
            for states, by in ((level[-1], moves), (disturbed, (disturbances,))):
                for state in states:
                    for move in by:
                        for after in self._new(state, move):
                            found.append(after)
                            yield after
            level.append(found)
        return level

    def _new(self, state: State, move: _Moves) -> Iterator[State]:
        for step in move(state, self.controller, self.bounds):
            self.tried += 1
            after, _ = canonical(step.state)
            if after not in self.came_from:
                self.came_from[after] = state
                yield after


def _first_broken(state: State, min_isr: int, invariants: Mapping[str, Invariant]) -> str | None:
    return next((name for name, holds in invariants.items() if not holds(state, min_isr)), None)


def _path(came_from: Mapping[State, State | None], last: State) -> list[State]:
    path = [last]
    while (before := came_from[path[-1]]) is not None:
        path.append(before)
    return path[::-1]


# Traces: a canonical state has its brokers in an order of its own, a trace has them named.


def _trace(search: _Search, path: list[State]) -> tuple[str, ...]:
    names = _names(path[0])
    lines = [f"At first {_partition(path[0], names)}."]
    for state, after in pairwise(path):
        step, order = _step_to(search, state, after)
        sentence = step.sentence.format(*(names[place] for place in step.brokers))
        lines.append(sentence + _news(state, step.state, names))
        names = tuple(names[place] for place in order)
    return tuple(lines)


def _names(state: State) -> tuple[int, ...]:
    """Return the names: the leader is 1, the rest of the ISR follows, then all others."""
    seats = [broker.seat for broker in state.brokers]
    order = sorted(
        range(len(seats)), key=lambda at: (not seats[at].leader, seats[at].member != ISR)
    )
    return tuple(order.index(place) + 1 for place in range(len(seats)))


def _news(state: State, after: State, names: tuple[int, ...]) -> str:
    """Return what a step changed of the partition, and whether it committed a record."""
    was, now = _partition(state, names), _partition(after, names)
    told = "" if was == now else f": {now}"
    if len(after.committed) > len(state.committed):
        told += "; a record is committed"
    return f"{told}."


def _step_to(search: _Search, state: State, after: State) -> tuple[Step, tuple[int, ...]]:
    possible = (found(state, search.controller, search.bounds) for found in (steps, disturbances))
    for step in chain.from_iterable(possible):
        found, order = canonical(step.state)
        if found == after:
            return step, order
    raise AssertionError("a state that nothing leads to")


def _partition(state: State, names: tuple[int, ...]) -> str:
    seats = [broker.seat for broker in state.brokers]
    leader = [name for name, seat in zip(names, seats, strict=True) if seat.leader]
    isr = sorted(name for name, seat in zip(names, seats, strict=True) if seat.member == ISR)
    elr = sorted(name for name, seat in zip(names, seats, strict=True) if seat.member == ELR)
    return f"leader {leader[0] if leader else 'none'}, ISR {isr}" + (f", ELR {elr}" if elr else "")
