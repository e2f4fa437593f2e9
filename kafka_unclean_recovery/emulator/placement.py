"""Replicas of new partitions are placed on the live brokers in turns, without regard to racks."""

from __future__ import annotations

from kafka_unclean_recovery.kraft_rules.records import Ids
from kafka_unclean_recovery.kraft_rules.state import State


def in_turns(state: State, first: int, partitions: int, factor: int) -> tuple[Ids, ...] | None:
    """Return the replicas of partitions that are numbered from `first` on. Each begins at the
    broker after the one that the last began at. Returns None when too few brokers are active."""
    active = sorted(id_ for id_ in state.brokers if state.active(id_))
    if not 0 < factor <= len(active):
        return None
    return tuple(
        tuple(active[(number + place) % len(active)] for place in range(factor))
        for number in range(first, first + partitions)
    )
