"""The tail of a replica is read from its segments: the batches that hold offsets to be salvaged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.replica_files import Segment
from kafka_unclean_recovery.log_dir.segments.batches import V2, BatchHeader, parse_header
from kafka_unclean_recovery.log_dir.segments.segment_reads import SegmentReads
from kafka_unclean_recovery.log_dir.segments.walk import ReadAt, Walk
from kafka_unclean_recovery.model import EpochLineage, EpochSpan
from kafka_unclean_recovery.salvage.sound import SoundBatches


@dataclass(frozen=True, slots=True)
class TailBatch:
    """A batch of the tail, whose CRC holds.

    first_offset: the base offset in the header; a compressed message of an old format has none
    there, and gets the offset after the batch before. spans: the part of the batch that is to be
    salvaged. read_at: reads the segment, as long as the iteration stands at this batch.
    """

    segment: Segment
    position: int
    header: BatchHeader
    first_offset: int
    spans: EpochLineage
    read_at: ReadAt = field(repr=False, compare=False)

    @property
    def straddling(self) -> bool:
        """Return True when the batch also holds offsets that are not to be salvaged."""
        wanted = sum(span.end_offset - span.start_offset for span in self.spans)
        return wanted <= self.header.last_offset - self.first_offset

    def whole(self, most: int) -> bytes:
        """Return the bytes of the batch. Raises BadFormat, before anything is read, when the batch
        is larger than `most` bytes."""
        if self.header.length > most:
            raise BadFormat("batch", f"{self.header.length} bytes is more than {most}")
        return self.read_at(self.position, self.header.length)


@dataclass(slots=True)
class Tail:
    """The part of a replica's log that is to be salvaged.

    spans: not empty, in rising offset. unread: what of a segment could not be read, and why, by its
    name; known once the batches were iterated over.
    """

    reads: SegmentReads
    segments: Sequence[Segment]
    spans: EpochLineage
    unread: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def cut(self) -> int:
        return self.spans[0].start_offset

    def batches(self) -> Iterator[TailBatch]:
        """Yield the batches in the order of the log. Raises Unreadable and Stopped."""
        for segment, following in zip_longest(self.segments, self.segments[1:]):
            if following is None or following.base_offset > self.cut:
                yield from self._of(segment, last=following is None)

    def _of(self, segment: Segment, *, last: bool) -> Iterator[TailBatch]:
        with self.reads.opened(segment.name) as read_at:
            sound = SoundBatches(read_at, segment, active=last)
            before = segment.base_offset - 1
            for position, _, base, end, *_ in sound:
                first, before = before + 1 if base is None else base, end
                if first >= self.spans[-1].end_offset:
                    return
                if spans := within(self.spans, first, end + 1):
                    header = parse_header(read_at(position, V2.size))
                    yield TailBatch(segment, position, header, first, spans, read_at)
        if sound.left_out:
            self.unread[segment.name] = tuple(sound.left_out)

    def open_transactions(self) -> dict[int, int]:
        """Return the first offset of each transaction that is open at the cut, by producer id. Only
        headers are read of the segments before the cut."""
        begun: dict[int, int] = {}
        for segment in self.segments:
            if segment.base_offset >= self.cut:
                break
            with self.reads.opened(segment.name) as read_at:
                walk = Walk(read_at, 0, segment.size, segment.base_offset, check_crc=False)
                for position, _, base, _, _, attributes, _ in walk:
                    if base is None or base >= self.cut:
                        break
                    if attributes & _TRANSACTIONAL:
                        _follow(begun, parse_header(read_at(position, V2.size)), base)
        return begun


_TRANSACTIONAL = 0x10


def _follow(begun: dict[int, int], header: BatchHeader, base: int) -> None:
    if header.is_transactional and header.is_control:
        begun.pop(header.producer_id, None)
    elif header.is_transactional:
        begun.setdefault(header.producer_id, base)


def within(spans: EpochLineage, start: int, end: int) -> EpochLineage:
    """Return the part of `spans` in [start, end)."""
    return tuple(
        EpochSpan(span.epoch, max(span.start_offset, start), min(span.end_offset, end))
        for span in spans
        if span.start_offset < end and start < span.end_offset
    )
