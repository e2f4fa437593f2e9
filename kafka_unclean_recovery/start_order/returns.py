"""Whom the controller elects by itself while brokers come back one after the other; no I/O.

Who leads depends on the ISR, the ELR and the last known leader of the partition, and on which stops
count as clean; so partitions that are alike in these are worked out once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations, product

from kafka_unclean_recovery.model import PartitionState
from kafka_unclean_recovery.planning.self_election import returned
from kafka_unclean_recovery.start_order.situation import Part

_FEW = 5
"""Up to so many replicas that start at once, each order of them is tried."""


@dataclass(frozen=True, slots=True)
class Returned:
    """What a group of brokers that start at once leaves. leaders: who may lead by themselves then,
    by the order in which they are up. state: the partition where nobody does."""

    leaders: frozenset[int]
    state: PartitionState


def after(
    part: Part, state: PartitionState, group: Iterable[int], clean: Mapping[int, bool | None]
) -> Returned:
    """Return what a start of the group leaves of a partition without a leader. state: its `alike`,
    or what an earlier group left of that. A stop that nobody knows to be clean is tried both ways.
    """
    stops = tuple(
        (broker, clean.get(broker)) for broker in sorted({*group} & {*state.offline_replicas})
    )
    return _after(state, stops, part.unclean)


@lru_cache(maxsize=1 << 16)
def _after(
    state: PartitionState, stops: tuple[tuple[int, bool | None], ...], unclean: bool
) -> Returned:
    leaders: set[int] = set()
    left = state
    for order in _orders(stops):
        for way in _ways(order):
            found = _one_by_one(state, way, unclean)
            if found.offline:
                left = found
            else:
                leaders.add(found.leader)
    return Returned(frozenset(leaders), left)


def _orders(
    stops: tuple[tuple[int, bool | None], ...],
) -> Iterator[tuple[tuple[int, bool | None], ...]]:
    """Yield the orders in which brokers may be up. Of many, each one once first and once last."""
    if len(stops) <= _FEW:
        yield from permutations(stops)
        return
    for index, stop in enumerate(stops):
        others = (*stops[:index], *stops[index + 1 :])
        yield (stop, *others)
        yield (*others, stop)


def _ways(order: tuple[tuple[int, bool | None], ...]) -> Iterator[list[tuple[int, bool]]]:
    """Yield the order with what is known of each stop, and both ways for each that is unknown."""
    for way in product(*((False, True) if clean is None else (clean,) for _, clean in order)):
        yield [(broker, clean) for (broker, _), clean in zip(order, way, strict=True)]


def _one_by_one(
    state: PartitionState, order: Iterable[tuple[int, bool]], unclean: bool
) -> PartitionState:
    for broker, clean in order:
        if not state.offline:
            break
        state = returned(state, broker, clean, unclean)
    return state
