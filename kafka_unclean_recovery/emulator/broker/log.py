"""A Log holds a replica's batches, its leader epochs and where they end. No I/O.

Offsets named first or last are inclusive, those named end are exclusive. A log begins at offset 0,
because nothing is ever deleted from its beginning.
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
    """A record batch's place in the file. `position` and `length` are in bytes, `max_timestamp` in
    ms. Only batches of idempotent producers name their producer."""

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
        """Return the position at which the next batch begins, in bytes."""
        return self.position + self.length


@dataclass(frozen=True, slots=True)
class EpochEnd:
    """A leader epoch and its end offset, exclusive."""

    epoch: int
    end_offset: int


@dataclass(slots=True)
class Log:
    """The batches and leader epochs of one replica.

    epochs: (leader epoch, start offset) pairs, both rising, as in leader-epoch-checkpoint; the last
    epoch may have no record yet.
    """

    batches: list[Batch] = field(default_factory=list)
    epochs: list[tuple[int, int]] = field(default_factory=list)

    @property
    def end_offset(self) -> int:
        return self.batches[-1].last_offset + 1 if self.batches else 0

    @property
    def size(self) -> int:
        """Return the size of the log in bytes."""
        return self.batches[-1].end if self.batches else 0

    @property
    def last_written_epoch(self) -> int:
        return self.batches[-1].leader_epoch if self.batches else NO_EPOCH

    @property
    def latest_epoch(self) -> int:
        """Return the newest known leader epoch, whether it has records or not."""
        return self.epochs[-1][0] if self.epochs else NO_EPOCH

    def append(self, batches: Iterable[Batch]) -> None:
        """Append batches that follow on, and note their epochs."""
        for batch in batches:
            self.batches.append(batch)
            self.assign_epoch(batch.leader_epoch, batch.base_offset)

    def assign_epoch(self, epoch: int, start_offset: int) -> None:
        """Note that an epoch begins at an offset. Entries that can't come before it are removed: an
        epoch that wrote nothing leaves no trace (LeaderEpochFileCache.assign)."""
        if self.latest_epoch == epoch:
            return
        while self.epochs and (self.epochs[-1][0] >= epoch or self.epochs[-1][1] >= start_offset):
            self.epochs.pop()
        self.epochs.append((epoch, start_offset))

    def truncate(self, end_offset: int) -> None:
        """Keep only the whole batches below `end_offset`. A batch that holds this offset goes."""
        keep = bisect_left(self.batches, end_offset, key=lambda batch: batch.last_offset)
        del self.batches[keep:]
        while self.epochs and self.epochs[-1][1] >= end_offset:
            self.epochs.pop()

    def end_of_epoch(self, epoch: int) -> EpochEnd | None:
        """Return the largest known epoch up to `epoch`, and its end; `epoch` itself when only newer
        ones are known; None when `epoch` is newer than all (LeaderEpochFileCache.endOffsetFor)."""
        if epoch == NO_EPOCH or epoch > self.latest_epoch:
            return None
        if epoch == self.latest_epoch:
            return EpochEnd(epoch, self.end_offset)
        above = bisect_right(self.epochs, epoch, key=lambda entry: entry[0])
        end = self.epochs[above][1]
        return EpochEnd(self.epochs[above - 1][0] if above else epoch, end)

    def slice(self, offset: int, end_offset: int, max_bytes: int) -> tuple[int, int]:
        """Return (position, length) of the whole batches from the one that holds `offset`, below
        `end_offset`: as many as fit in `max_bytes`, and at least one if there is any."""
        first = bisect_left(self.batches, offset, key=lambda batch: batch.last_offset)
        length = 0
        for place in range(first, len(self.batches)):
            batch = self.batches[place]
            if batch.last_offset >= end_offset or (length and length + batch.length > max_bytes):
                break
            length += batch.length
        return (self.batches[first].position if length else 0), length


def batches_in(data: bytes, position: int = 0) -> list[Batch]:
    """Return the batches in `data`, which lies at `position` of the file. Raises BadFormat, also
    for a batch that is cut short or fails its CRC."""
    found = []
    at = 0
    while at < len(data):
        batch = _batch(data, at, position)
        found.append(batch)
        at += batch.length
    return found


def sound_batches(data: bytes, *, whole: bool = True) -> list[Batch]:
    """Return the batches at the beginning of a file, up to the first bytes that are no batch. With
    `whole` a batch that fails its CRC does not count, as in recovery; an ordinary start does not
    look at the CRC."""
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
    """Return a producer's batches as the leader writes them: with offsets from `base_offset` on and
    the leader's epoch. Both fields lie outside the CRC. Raises BadFormat."""
    written = bytearray(data)
    for batch in batches_in(data):
        _BASE_OFFSET.pack_into(written, batch.position, base_offset)
        _LEADER_EPOCH.pack_into(written, batch.position + _LEADER_EPOCH_AT, leader_epoch)
        base_offset += batch.last_offset - batch.base_offset + 1
    return bytes(written)


def truncation_point(log: Log, leader_says: EpochEnd) -> int:
    """Return the offset at which a follower cuts a log that the leader found diverging (KIP-101,
    KIP-279; AbstractFetcherThread.getOffsetTruncationState)."""
    ours = log.end_of_epoch(leader_says.epoch)
    if ours is None:
        return min(leader_says.end_offset, log.end_offset)
    if ours.epoch != leader_says.epoch:
        return min(ours.end_offset, log.end_offset)
    return min(ours.end_offset, leader_says.end_offset, log.end_offset)
