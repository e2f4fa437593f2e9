"""The records that the replicas of one partition saved are merged into one sequence, which has
every record once. This module does no I/O.

The sequence is in the order of leader epochs, then offsets. The order is the same in every run, so
that a position in the sequence says what has been produced.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby
from operator import attrgetter

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.salvage.replay.origin import Headers, Position, position
from kafka_unclean_recovery.salvage.transactions import Ending


@dataclass(frozen=True, slots=True)
class SavedRecord:
    """A record as a salvage saved it. timestamp: ms since 1970, None where it has none. ending: the
    ending of the transaction that wrote it, None outside of transactions. suspect: its replica may
    be corrupt. copies: how many replicas saved it."""

    broker: int
    offset: int
    leader_epoch: int | None
    timestamp: int | None
    key: bytes | None
    value: bytes | None
    headers: Headers
    ending: Ending | None = None
    control: bool = False
    suspect: bool = False
    copies: int = 1

    @property
    def position(self) -> Position:
        return position(self.leader_epoch, self.offset, self.broker)

    @property
    def content(self) -> tuple[object, ...]:
        """Return the parts of the record that followers copy."""
        return self.timestamp, self.key, self.value, self.headers, self.control


class Fate(StrEnum):
    """The fate of a record in a replay. SETTLED: it is produced. OPEN: no replica has the marker of
    its transaction, so it is produced only if that was asked for. ABORTED and CONTROL: it is left
    out."""

    SETTLED = "settled"
    OPEN = "open"
    ABORTED = "aborted"
    CONTROL = "control"


def fate(record: SavedRecord) -> Fate:
    if record.control:
        return Fate.CONTROL
    if record.ending is Ending.OPEN:
        return Fate.OPEN
    return Fate.ABORTED if record.ending is Ending.ABORTED else Fate.SETTLED


def merged(replicas: Sequence[Iterable[SavedRecord]], source: str) -> Iterator[SavedRecord]:
    """Merge the records of several replicas, each in order as from `in_order`. Where several
    replicas have a record, the first of them counts, so trusted replicas go first. Raises
    InputError, which names `source`, where two replicas that are trusted alike differ."""
    place = attrgetter("position")
    for _, same in groupby(heapq.merge(*replicas, key=place), key=place):
        copies = list(same)
        _check_copies(copies, source)
        yield _one(copies)


def _check_copies(copies: Sequence[SavedRecord], source: str) -> None:
    """Raise InputError where copies that are trusted alike differ. Followers copy byte for byte, so
    an offset or a leader epoch, which no CRC covers, is then corrupt."""
    first = copies[0]
    for other in copies[1:]:
        if other.content != first.content and (first.suspect or not other.suspect):
            raise InputError(
                f"{source}: offset {first.offset} of leader epoch {first.leader_epoch} is another"
                f" record on broker {first.broker} than on broker {other.broker}, so one of the two"
                " is corrupt; leave the partition out"
            )


def _one(copies: Sequence[SavedRecord]) -> SavedRecord:
    """Return one record for all its copies. A replica whose log ends before the marker takes a
    transaction for open whose ending another replica knows. Where two replicas tell different
    endings, it is open."""
    known = {copy.ending for copy in copies} - {Ending.OPEN}
    ending = known.pop() if len(known) == 1 else copies[0].ending and Ending.OPEN
    return replace(copies[0], ending=ending, copies=len(copies))


def in_order(records: Iterable[SavedRecord], source: str) -> Iterator[SavedRecord]:
    """Yield the records of one replica as its log has them. Raises InputError, which names
    `source`, at a record that is not behind the one before: its epoch or its offset is corrupt."""
    last: Position | None = None
    for record in records:
        if last is not None and record.position <= last:
            raise InputError(
                f"{source}: offset {record.offset} of leader epoch {record.leader_epoch} is out of"
                " order, so its leader epoch or its offset is corrupt; leave the partition out"
            )
        last = record.position
        yield record
