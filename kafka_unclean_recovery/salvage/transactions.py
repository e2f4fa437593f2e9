"""Which transactions wrote a replica's tail, and how they ended, by what the replica itself holds.

Pure. A marker ends the transaction that its producer id has open on the partition; a producer has
one at a time. Source: org.apache.kafka.storage.internals.log.ProducerAppendInfo.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum


class Ending(StrEnum):
    """OPEN: no marker on this replica. The coordinator may know how it ended."""

    COMMITTED = "committed"
    ABORTED = "aborted"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Transaction:
    """Offsets are inclusive. first_offset: of its first record on the partition, None where none is
    left. marker_offset: of the record that ended it, None of an open one."""

    producer_id: int
    producer_epoch: int
    first_offset: int | None
    marker_offset: int | None
    ending: Ending


@dataclass(slots=True)
class Transactions:
    """Tell it the tail's transactional batches in the order of the log.

    cut: where the tail begins. before: the first offset of each transaction that was open there,
    by producer id. counts: of the transactions that wrote the tail or ended in it. crossing: those
    that ended in the tail and began before it, or have no record left: without their marker they
    stay open in the log of the designated leader.
    """

    cut: int
    before: Mapping[int, int]
    counts: Counter[Ending] = field(default_factory=Counter)
    crossing: list[Transaction] = field(default_factory=list)
    _open: dict[int, Transaction] = field(default_factory=dict)
    _markers: dict[int, list[tuple[int, Ending]]] = field(default_factory=dict)

    def data(self, offset: int, producer_id: int, producer_epoch: int) -> None:
        """A batch of records; `offset` is its first."""
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
        """Those that wrote the tail, and that nothing in it ends; ask once all was told."""
        return tuple(self._open.values())

    def ending(self, producer_id: int, offset: int) -> Ending:
        """Of the transaction that wrote this record; ask once all was told."""
        markers = self._markers.get(producer_id, [])
        place = bisect_right(markers, offset, key=lambda marker: marker[0])
        return markers[place][1] if place < len(markers) else Ending.OPEN

    def _begun(self, producer_id: int, offset: int | None) -> Transaction:
        """What was open before the tail can only be the first that the tail has of a producer."""
        first = offset if producer_id in self._markers else self.before.get(producer_id, offset)
        return Transaction(producer_id, -1, first, None, Ending.OPEN)
