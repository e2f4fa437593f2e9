"""Batches that come from a broker are kept as a log directory of that broker which holds only this
tail, so that the code that reads the disks of dead brokers reads it too."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from kafka_unclean_recovery.files.private_files import make_private_directory, open_private
from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.segments.batches import (
    OVERHEAD,
    UP_TO_MAGIC,
    BatchHeader,
    Reason,
    check_crc,
    parse_header,
)
from kafka_unclean_recovery.log_dir.small_files.checkpoints import LEADER_EPOCHS
from kafka_unclean_recovery.log_dir.small_files.properties_files import META_PROPERTIES
from kafka_unclean_recovery.model import EpochSpan
from kafka_unclean_recovery.salvage.live.losers import Loser
from kafka_unclean_recovery.salvage.tail import within

SEGMENT_BYTES = 1 << 30
"""The largest segment, as in Kafka's log.segment.bytes: Kafka's tools read no file of 2 GiB."""
# The offsets of a segment lie at most this far from its first offset
# (LogSegment.canConvertToRelativeOffset).
_SEGMENT_OFFSETS = 0x7FFFFFFF


@dataclass(slots=True)
class FetchedLog:
    """A log written from what a broker sends: add the answers in order, then close it. Nothing is
    synced, because nobody reads it after a crash.

    root: a new directory. next_offset: the offset to ask for next. size: bytes written. tail_size:
    bytes of the batches that hold something of the tail. gaps: whether offsets between batches are
    in no batch, as after compaction. transactional: whether some batch was written in a
    transaction.
    """

    root: Path
    loser: Loser
    cluster_id: str
    segment_bytes: int = SEGMENT_BYTES
    next_offset: int = field(init=False)
    size: int = 0
    tail_size: int = 0
    gaps: bool = False
    transactional: bool = False
    _start: int | None = None
    _segment_base: int = 0
    _segment_size: int = 0
    _file: BinaryIO | None = None

    def __post_init__(self) -> None:
        self.next_offset = self.loser.start_offset
        make_private_directory(self._directory)
        (self.root / META_PROPERTIES).write_text(
            f"version=1\nnode.id={self.loser.broker}\ncluster.id={self.cluster_id}\n"
        )

    @property
    def whole(self) -> bool:
        return self.next_offset >= self.loser.end_offset

    def add(self, records: bytes) -> None:
        """Write the whole batches that `records` begins with; a batch that is cut short is left
        out.

        Raises BadFormat for a batch that is corrupt or not the next one, after the batches before
        it were written. Raises OSError.
        """
        position = 0
        while (length := _length(records, position)) is not None and not self.whole:
            header = parse_header(records, position)
            if not header.known:
                raise BadFormat(Reason.MAGIC, f"{header.magic} is not known")
            if not check_crc(header, records, position):
                raise BadFormat(Reason.CRC, f"the batch at offset {self.next_offset}")
            self._take(header, records[position : position + length])
            position += length
        if position == 0:
            raise BadFormat(Reason.TRUNCATED, f"no whole batch at offset {self.next_offset}")

    def close(self) -> None:
        """Close the segment, and write leader-epoch-checkpoint with what was fetched."""
        if self._file is not None:
            self._file.close()
        if self._start is None:
            return
        spans = [
            span
            for span in self.loser.log.epochs or ()
            if self._start < span.end_offset and span.start_offset < self.next_offset
        ]
        lines = [f"{span.epoch} {self._begin_of(span)}" for span in spans]
        text = "\n".join(["0", str(len(lines)), *lines, ""])
        (self._directory / LEADER_EPOCHS).write_text(text)

    @property
    def _directory(self) -> Path:
        return self.root / str(self.loser.topic_partition)

    def _begin_of(self, span: EpochSpan) -> int:
        assert self._start is not None
        return max(span.start_offset, self._start)

    def _take(self, header: BatchHeader, batch: bytes) -> None:
        first = header.last_offset if header.base_offset is None else header.base_offset
        begun = self._start is not None
        if header.last_offset < self.next_offset or (begun and first < self.next_offset):
            detail = f"a batch up to {header.last_offset} where {self.next_offset} was next"
            raise BadFormat(Reason.ORDER, detail)
        # The first batch may straddle the cut. Where compaction removed the beginning of the tail,
        # the log begins at the cut all the same.
        base = min(first, self.next_offset)
        if not begun:
            self._start = base
        self.gaps |= first > self.next_offset
        self.transactional |= header.is_transactional
        self._segment_for(header, base, len(batch)).write(batch)
        self._segment_size += len(batch)
        self.size += len(batch)
        if within(self.loser.lost, first, header.last_offset + 1):
            self.tail_size += len(batch)
        self.next_offset = header.last_offset + 1

    def _segment_for(self, header: BatchHeader, base: int, length: int) -> BinaryIO:
        fits = (
            self._segment_size + length <= self.segment_bytes
            and header.last_offset - self._segment_base <= _SEGMENT_OFFSETS
        )
        if self._file is None or not fits:
            if self._file is not None:
                self._file.close()
            self._file = open_private(self._directory / f"{base:020}.log", "xb")
            self._segment_base, self._segment_size = base, 0
        return self._file


def _length(records: bytes, position: int) -> int | None:
    """Return the length of the batch at `position` in bytes, or None if it is not all there."""
    left = len(records) - position
    if left < UP_TO_MAGIC:
        return None
    length = int.from_bytes(records[position + 8 : position + OVERHEAD], "big", signed=True)
    return length + OVERHEAD if 0 < length + OVERHEAD <= left else None
