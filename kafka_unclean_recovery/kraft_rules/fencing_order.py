"""This module tells in which order a controller fences brokers whose sessions end at once.

A controller that begins gives each broker that is not fenced a new session. After a power cut
nobody sends a heartbeat, so all these sessions end together, and the brokers are fenced one by one
in the order in which a hash table goes through them. Whoever of an ISR is fenced last is its last
member.

Source: ClusterControlManager.activate, BrokerHeartbeatTracker (a ConcurrentHashMap, 4.0 and later).
"""

from __future__ import annotations

from collections.abc import Iterable

# ConcurrentHashMap begins with sixteen bins.
_FEWEST_BINS = 16
_MAX_LOAD = 0.75

_Entry = tuple[int, int]
"""A broker, and the hash of its id and epoch."""


def order_by_hash(registered: Iterable[tuple[int, int]]) -> tuple[int, ...]:
    """Return the brokers in the order in which a controller of 4.0 or later fences them.

    registered: (broker, broker epoch), as they came into the table.
    """
    bins: list[list[_Entry]] = [[] for _ in range(_FEWEST_BINS)]
    for size, (broker, epoch) in enumerate(registered, start=1):
        hashed = _hash(broker, epoch)
        bins[hashed & (len(bins) - 1)].append((broker, hashed))
        while size >= len(bins) * _MAX_LOAD:
            bins = _twice(bins)
    return tuple(broker for entries in bins for broker, _ in entries)


def _hash(broker: int, epoch: int) -> int:
    """Return the hash of a BrokerIdAndEpoch, a record of an int and a long, as the table spreads
    it."""
    hashed = (31 * broker + (epoch ^ (epoch >> 32))) & 0xFFFFFFFF
    return (hashed ^ (hashed >> 16)) & 0x7FFFFFFF


def _twice(bins: list[list[_Entry]]) -> list[list[_Entry]]:
    """Return twice as many bins, in which some entries of each have changed their order
    (ConcurrentHashMap.transfer)."""
    count = len(bins)
    low, high = zip(*(_split(entries, count) for entries in bins), strict=True)
    return [*low, *high]


def _split(entries: list[_Entry], bit: int) -> tuple[list[_Entry], list[_Entry]]:
    """Return the entries (without, with) the bit. The last ones that are alike in it stay as they
    are; each of the others goes before those."""
    run = len(entries)
    while run and bool(entries[run - 1][1] & bit) == bool(entries[-1][1] & bit):
        run -= 1
    parts: tuple[list[_Entry], list[_Entry]] = ([], [])
    for entry in entries[run:]:
        parts[bool(entry[1] & bit)].append(entry)
    for entry in entries[:run]:
        parts[bool(entry[1] & bit)].insert(0, entry)
    return parts
