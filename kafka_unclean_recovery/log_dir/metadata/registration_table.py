"""The registered brokers are kept in the order in which a controller goes through them. No I/O.

Source: org.apache.kafka.timeline.BaseHashTable, and CurrentIterator of SnapshottableHashTable.
"""

from __future__ import annotations

from collections.abc import Iterator

# BaseHashTable.MIN_CAPACITY and MAX_LOAD_FACTOR.
_FEWEST_SLOTS = 2
_MAX_LOAD = 0.75
_FIBONACCI = -7046029254386353131
_64_BITS = (1 << 64) - 1


class RegistrationTable:
    """The ids of the registered brokers, as the table goes through them in which a controller has
    them (TimelineHashMap). It never becomes smaller, so it depends on what was in it before."""

    def __init__(self) -> None:
        self._slots: list[list[int]] = [[] for _ in range(_FEWEST_SLOTS)]
        self._size = 0

    def put(self, broker: int) -> None:
        """Note that the broker registered, or that its registration changed."""
        # A table that is full grows also where a broker is there already.
        if (self._size + 1) * _MAX_LOAD > len(self._slots):
            every = [one for slot in self._slots for one in slot]
            self._slots = [[] for _ in range(2 * len(self._slots))]
            for one in every:
                self._slot(one).append(one)
        slot = self._slot(broker)
        if broker not in slot:
            slot.append(broker)
            self._size += 1

    def remove(self, broker: int) -> None:
        """Note that the broker was unregistered; nothing happens where it is not there."""
        slot = self._slot(broker)
        if broker in slot:
            slot.remove(broker)
            self._size -= 1

    def __iter__(self) -> Iterator[int]:
        """Yield the brokers as a controller goes through them."""
        return (broker for slot in self._slots for broker in reversed(slot))

    def _slot(self, broker: int) -> list[int]:
        bits = len(self._slots).bit_length() - 1
        hashed = (broker * _FIBONACCI) & _64_BITS
        return self._slots[hashed >> (64 - bits)]
