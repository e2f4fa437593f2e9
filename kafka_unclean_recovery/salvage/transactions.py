"""A replica's own markers tell which transactions wrote its tail, and how these ended. This module
does no I/O.

A marker ends the transaction that its producer id has open on the partition; a producer has one at
a time. Source: org.apache.kafka.storage.internals.log.ProducerAppendInfo.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum


class Ending(StrEnum):
    """The ending of a transaction. OPEN: this replica has no marker; the coordinator may know how
    the transaction ended."""

    COMMITTED = "committed"
    ABORTED = "aborted"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Transaction:
    """A transaction on one partition. Offsets are inclusive.

    first_offset: the offset of its first record on the partition, None where no record is left.
    marker_offset: the offset of the record that ended it, None while it is open.
    """

    producer_id: int
    producer_epoch: int
    first_offset: int | None
    marker_offset: int | None
    ending: Ending


@dataclass(slots=True)
class Transactions:
    """The transactions of a tail; give it the tail's transactional batches in the order of the log.

    cut: the offset at which the tail begins. before: the first offset of each transaction that was
    open at the cut, by producer id. counts: how many transactions ended in the tail, by ending.
    crossing: transactions that ended in the tail and began before it, or have no record left;
    without their marker they stay open in the log of the designated leader.
    """

    cut: int
    before: Mapping[int, int]
    counts: Counter[Ending] = field(default_factory=Counter)
    crossing: list[Transaction] = field(default_factory=list)
    _open: dict[int, Transaction] = field(default_factory=dict)
    _markers: dict[int, list[tuple[int, Ending]]] = field(default_factory=dict)

    def data(self, offset: int, producer_id: int, producer_epoch: int) -> None:
        """Take a batch of records; `offset` is the first of them."""
        known = self._open.get(producer_id) or self._begun(producer_id, offset)
        self._open[producer_id] = replace(known, producer_epoch=producer_epoch)

    def marker(self, offset: int, producer_id: int, producer_epoch: int, commit: bool) -> None:
        ending = Ending.COMMITTED if commit else Ending.ABORTED
        begun = self._open.pop(producer_id, None) or self._begun(producer_id, None)
        if begun.first_offset is None or begun.first_offset < self.cut:
            ended = replace(begun, producer_epoch=producer_epoch, marker_offset=offset)
            self.crossing.append(replace(ended, ending=ending))
        self.counts[ending] += 1
        self._markers.setdefault(producer_id, []).append((offset, ending))

    @property
    def open(self) -> tuple[Transaction, ...]:
        """Return the transactions that wrote the tail and do not end in it. Ask after all batches
        were given."""
        return tuple(self._open.values())

    def ending(self, producer_id: int, offset: int) -> Ending:
        """Return the ending of the transaction that wrote this record. Ask after all batches were
        given."""
        markers = self._markers.get(producer_id, [])
        place = bisect_right(markers, offset, key=lambda marker: marker[0])
        return markers[place][1] if place < len(markers) else Ending.OPEN

    def _begun(self, producer_id: int, offset: int | None) -> Transaction:
        """Return a new transaction. Only the first one that the tail has of a producer can have
        been open before the tail."""
        first = offset if producer_id in self._markers else self.before.get(producer_id, offset)
        return Transaction(producer_id, -1, first, None, Ending.OPEN)
