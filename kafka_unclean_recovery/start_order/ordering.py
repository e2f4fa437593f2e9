"""Choose the order of starting that loses least; no I/O.

Groups of brokers start one after the other, and between two groups partitions can be elected. A
broker is kept back while its start, beside others of its group in whatever order they are up, would
make a leader that costs records. That loses nothing wherever it leaves nobody back for good; else
every order is tried while there are few brokers, since elections in between can tie a knot: a
broker that is the worst leader of one partition and the best of another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import permutations
from typing import NamedTuple

from kafka_unclean_recovery.model import PartitionState
from kafka_unclean_recovery.start_order.returns import after
from kafka_unclean_recovery.start_order.situation import Part, Situation
from kafka_unclean_recovery.start_order.weighing import NOTHING, Price, Scales

Groups = tuple[tuple[int, ...], ...]
ALL_ORDERS_OF = 7
"""Of up to so many brokers every order is tried, where a simple one loses records."""


class Played(NamedTuple):
    """What becomes of one partition. at: after how many groups it gets its leader, None where it
    gets none. elected: an election of ours makes the leader, else the controller does."""

    price: Price
    elected: bool
    at: int | None
    leader: int | None


@dataclass(frozen=True, slots=True)
class Order:
    """The order of starting, and what it costs. tried_all: no order costs less."""

    groups: Groups
    price: Price
    tried_all: bool


def least(situation: Situation, scales: Scales) -> Order:
    """Return the order that costs least of those that were tried. Where it costs records that
    brokers which come later start last, others wait for them."""
    found = _least(situation, scales)
    if found.price == NOTHING or not situation.later:
        return found
    every = tuple(sorted((*situation.startable, *situation.later)))
    mixed = _least(replace(situation, startable=every, later=()), scales)
    return mixed if mixed.price < found.price else found


def _least(situation: Situation, scales: Scales) -> Order:
    later = tuple((broker,) for broker in situation.later)
    simple = (*_kept_back(situation, scales), *later)
    price = _whole(situation, simple, scales)
    if price == NOTHING:
        return Order(simple, price, tried_all=True)
    if len(situation.startable) > ALL_ORDERS_OF:
        return Order(simple, price, tried_all=False)
    found = min(
        ((*order, *later) for order in _one_each(situation.startable)),
        key=_Summed(situation, scales).price,
    )
    cheaper = _whole(situation, found, scales)
    return Order(*((found, cheaper) if cheaper < price else (simple, price)), tried_all=True)


def worst(situation: Situation, scales: Scales) -> Price | None:
    """Return what the worst order costs where nobody elects in between; None where there are too
    many orders to try."""
    brokers = (*situation.startable, *situation.later)
    if len(brokers) > ALL_ORDERS_OF:
        return None
    summed = _Summed(situation, scales, elections=False)
    return max(map(summed.price, _one_each(brokers)), default=NOTHING)


def harmful(
    part: Part, brokers: Sequence[int], situation: Situation, scales: Scales
) -> Mapping[int, Price]:
    """Return who may lead the partition by itself at a price once these brokers are started at
    once, in any order, and at which."""
    leaders = after(part, part.alike, brokers, situation.clean).leaders
    prices = {broker: scales.price(part, broker) for broker in leaders}
    return {broker: price for broker, price in prices.items() if price > NOTHING}


def play(
    part: Part,
    groups: Groups,
    clean: Mapping[int, bool | None],
    scales: Scales,
    *,
    elections: bool = True,
) -> Played:
    """Return the cheapest end of the partition as these groups start, with an election of ours
    before it gets a leader by itself, or without. elections=False: there are none but at the end.
    """
    state, up = part.alike, list(part.alike.online_replicas)
    options: list[Played] = []
    # After so many groups its replicas are as they are now.
    since = 0
    for number, group in enumerate(groups, start=1):
        if not set(group) & set(state.replicas):
            continue
        if elections:
            options += _elected(part, up, since, scales)
        found = after(part, state, group, clean)
        if found.leaders:
            # Which of them leads is a matter of milliseconds, so the dearest counts.
            price, leader = max((scales.price(part, leader), leader) for leader in found.leaders)
            options.append(Played(price, elected=False, at=number, leader=leader))
            break
        state, up, since = found.state, list(found.state.online_replicas), number
    else:
        options += _elected(part, up, since, scales)
    return min(options, key=_preference, default=Played(NOTHING, False, None, None))


def _preference(option: Played) -> tuple[Price, bool, int]:
    return option.price, option.elected, option.at or 0


def _elected(part: Part, up: Sequence[int], at: int, scales: Scales) -> Iterator[Played]:
    leader = scales.best(part, up)
    if leader is not None:
        yield Played(scales.price(part, leader), elected=True, at=at, leader=leader)


def _whole(situation: Situation, groups: Groups, scales: Scales) -> Price:
    prices = (play(part, groups, situation.clean, scales).price for part in situation.parts)
    return reduce(Price.__add__, prices, NOTHING)


def _kept_back(situation: Situation, scales: Scales) -> Groups:
    """Return groups in which each broker is kept back while its start would cost records."""
    groups: list[tuple[int, ...]] = []
    left = set(situation.startable)
    while left:
        open_ = [part for part in situation.parts if _open(part, tuple(groups), situation, scales)]
        now = _harmless(open_, tuple(groups), left, situation, scales)
        group = now or {_cheapest(tuple(groups), left, situation, scales)}
        groups.append(tuple(sorted(group)))
        left -= group
    return tuple(groups)


def _open(part: Part, groups: Groups, situation: Situation, scales: Scales) -> bool:
    """Return True while the partition has no leader after these groups, and no election of ours can
    give it one that costs nothing."""
    played = play(part, groups, situation.clean, scales)
    return played.at is None or (played.elected and played.price > NOTHING)


def _harmless(
    parts: Sequence[Part], groups: Groups, left: set[int], situation: Situation, scales: Scales
) -> set[int]:
    """Return the brokers that may start now, all at once, and cost nothing."""
    now = set(left)
    left_by = [(part, _left(part, groups, situation)) for part in parts]
    while now:
        bad: set[int] = set()
        for part, state in left_by:
            leaders = after(part, state, now, situation.clean).leaders
            bad |= {leader for leader in leaders if scales.price(part, leader) > NOTHING}
        if not bad & now:
            # A leader that is up already, and costs, leads as soon as others leave the ELR.
            return set() if bad else now
        now -= bad
    return now


def _left(part: Part, groups: Groups, situation: Situation) -> PartitionState:
    """Return what these groups leave of a partition without a leader."""
    state = part.alike
    for group in groups:
        state = after(part, state, group, situation.clean).state
    return state


def _cheapest(groups: Groups, left: set[int], situation: Situation, scales: Scales) -> int:
    return min(sorted(left), key=lambda broker: _whole(situation, (*groups, (broker,)), scales))


def _one_each(brokers: Sequence[int]) -> Iterator[Groups]:
    for order in permutations(brokers):
        yield tuple((broker,) for broker in order)


class _Summed:
    """The price of an order, one broker at a time. A partition's share depends on the order of its
    own replicas alone, so partitions with the same replicas are added up for each."""

    def __init__(self, situation: Situation, scales: Scales, *, elections: bool = True) -> None:
        self._clean = situation.clean
        self._scales = scales
        self._elections = elections
        self._by_replicas: dict[frozenset[int], list[Part]] = {}
        for part in situation.parts:
            self._by_replicas.setdefault(frozenset(part.state.replicas), []).append(part)
        self._known: dict[tuple[frozenset[int], Groups], Price] = {}

    def price(self, groups: Groups) -> Price:
        return reduce(
            Price.__add__, (self._of(mine, groups) for mine in self._by_replicas), NOTHING
        )

    def _of(self, replicas: frozenset[int], groups: Groups) -> Price:
        own = tuple(group for group in groups if set(group) & replicas)
        key = replicas, own
        if key not in self._known:
            self._known[key] = reduce(
                Price.__add__,
                (
                    play(part, own, self._clean, self._scales, elections=self._elections).price
                    for part in self._by_replicas[replicas]
                ),
                NOTHING,
            )
        return self._known[key]
