"""The log of one replica: its batches, its leader epochs, where they end. No I/O.

Offsets are inclusive where they say first or last, exclusive where they say end. A log begins at
offset 0, for nothing is ever deleted from its beginning.
"""

from __future__ import annotations

import struct
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.segments.batches import Reason, check_crc, parse_header

NO_EPOCH = -1
_BASE_OFFSET = struct.Struct(">q")
_LEADER_EPOCH = struct.Struct(">i")
_LEADER_EPOCH_AT = 12
_MAGIC = 2


@dataclass(frozen=True, slots=True)
class Batch:
    """Where a record batch lies. `position`, `length`: bytes of the file; `max_timestamp`: ms. Who
    produced it is known of idempotent producers."""

    base_offset: int
    last_offset: int
    leader_epoch: int
    position: int
    length: int
    max_timestamp: int
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1

    @property
    def end(self) -> int:
        """Where the next one begins, in bytes."""
        return self.position + self.length


@dataclass(frozen=True, slots=True)
class EpochEnd:
    """A leader epoch and where it ends, exclusive."""

    epoch: int
    end_offset: int


@dataclass(slots=True)
class Log:
    """epochs: (leader epoch, start offset) pairs, both rising, as leader-epoch-checkpoint has them;
    the last may have no record yet."""

    batches: list[Batch] = field(default_factory=list)
    epochs: list[tuple[int, int]] = field(default_factory=list)

    @property
    def end_offset(self) -> int:
        return self.batches[-1].last_offset + 1 if self.batches else 0

    @property
    def size(self) -> int:
        """In bytes."""
        return self.batches[-1].end if self.batches else 0

    @property
    def last_written_epoch(self) -> int:
        return self.batches[-1].leader_epoch if self.batches else NO_EPOCH

    @property
    def latest_epoch(self) -> int:
        """The newest that is known, be there records of it or not."""
        return self.epochs[-1][0] if self.epochs else NO_EPOCH

    def append(self, batches: Iterable[Batch]) -> None:
        """Batches that follow on; their epochs are noted."""
        for batch in batches:
            self.batches.append(batch)
            self.assign_epoch(batch.leader_epoch, batch.base_offset)

    def assign_epoch(self, epoch: int, start_offset: int) -> None:
        """The epoch begins here. Entries that can't be before it go: an epoch that wrote nothing
        leaves no trace (LeaderEpochFileCache.assign)."""
        if self.latest_epoch == epoch:
            return
        while self.epochs and (self.epochs[-1][0] >= epoch or self.epochs[-1][1] >= start_offset):
            self.epochs.pop()
        self.epochs.append((epoch, start_offset))

    def truncate(self, end_offset: int) -> None:
        """Only whole batches below `end_offset` stay; a batch that holds it goes."""
        keep = bisect_left(self.batches, end_offset, key=lambda batch: batch.last_offset)
        del self.batches[keep:]
        while self.epochs and self.epochs[-1][1] >= end_offset:
            self.epochs.pop()

    def end_of_epoch(self, epoch: int) -> EpochEnd | None:
        """The largest known epoch up to this one, and its end; the asked one itself when only newer
        ones are known; None when it is newer than all (LeaderEpochFileCache.endOffsetFor)."""
        if epoch == NO_EPOCH or epoch > self.latest_epoch:
            return None
        if epoch == self.latest_epoch:
            return EpochEnd(epoch, self.end_offset)
        above = bisect_right(self.epochs, epoch, key=lambda entry: entry[0])
        end = self.epochs[above][1]
        return EpochEnd(self.epochs[above - 1][0] if above else epoch, end)

    def slice(self, offset: int, end_offset: int, max_bytes: int) -> tuple[int, int]:
        """(position, length) of the whole batches from the one that holds `offset`, below
        `end_offset`: as many as fit, and at least one if there is any."""
        first = bisect_left(self.batches, offset, key=lambda batch: batch.last_offset)
        length = 0
        for place in range(first, len(self.batches)):
            batch = self.batches[place]
            if batch.last_offset >= end_offset or (length and length + batch.length > max_bytes):
                break
            length += batch.length
        return (self.batches[first].position if length else 0), length


def batches_in(data: bytes, position: int = 0) -> list[Batch]:
    """The batches that `data` is made of, which lies at `position` of the file. Raises BadFormat,
    for a batch that is cut short or fails its CRC too."""
    found = []
    at = 0
    while at < len(data):
        batch = _batch(data, at, position)
        found.append(batch)
        at += batch.length
    return found


def sound_batches(data: bytes, *, whole: bool = True) -> list[Batch]:
    """Those at the beginning of a file, up to the first that is not one; `whole`: whose CRC does
    not hold is none, which recovery looks at and an ordinary start does not."""
    found: list[Batch] = []
    at = 0
    while at < len(data):
        try:
            batch = _batch(data, at, 0, check=whole)
        except BadFormat:
            break
        found.append(batch)
        at = batch.end
    return found


def _batch(data: bytes, at: int, position: int, *, check: bool = True) -> Batch:
    header = parse_header(data, at)
    if header.magic != _MAGIC or header.base_offset is None or header.leader_epoch is None:
        raise BadFormat(Reason.MAGIC, f"{header.magic} is not {_MAGIC}")
    if at + header.length > len(data):
        raise BadFormat(Reason.TRUNCATED, f"{at + header.length - len(data)} bytes are missing")
    if check and not check_crc(header, data, at):
        raise BadFormat(Reason.CRC, f"at byte {at}")
    return Batch(
        header.base_offset,
        header.last_offset,
        header.leader_epoch,
        position + at,
        header.length,
        header.max_timestamp,
        header.producer_id,
        header.producer_epoch,
        header.base_sequence,
    )


def assigned(data: bytes, base_offset: int, leader_epoch: int) -> bytes:
    """Batches as a leader writes those of a producer: offsets from `base_offset` on, its epoch.
    Both fields lie outside of the CRC. Raises BadFormat."""
    written = bytearray(data)
    for batch in batches_in(data):
        _BASE_OFFSET.pack_into(written, batch.position, base_offset)
        _LEADER_EPOCH.pack_into(written, batch.position + _LEADER_EPOCH_AT, leader_epoch)
        base_offset += batch.last_offset - batch.base_offset + 1
    return bytes(written)


def truncation_point(log: Log, leader_says: EpochEnd) -> int:
    """Where a follower cuts its log that the leader finds diverging (KIP-101, KIP-279;
    AbstractFetcherThread.getOffsetTruncationState)."""
    ours = log.end_of_epoch(leader_says.epoch)
    if ours is None:
        return min(leader_says.end_offset, log.end_offset)
    if ours.epoch != leader_says.epoch:
        return min(ours.end_offset, log.end_offset)
    return min(ours.end_offset, leader_says.end_offset, log.end_offset)
