"""The end of a transaction is read from a replica's files, for another log that leaves it open.

The first marker of a producer behind the transaction's first record ends the transaction, because a
producer has one at a time on a partition. Source:
org.apache.kafka.storage.internals.log.ProducerAppendInfo.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.metadata.codec import Reader
from kafka_unclean_recovery.log_dir.replica_files import Segment, replica_files, with_swaps
from kafka_unclean_recovery.log_dir.segments.batches import V2, BatchHeader, Reason, parse_header
from kafka_unclean_recovery.log_dir.segments.segment_reads import SegmentReads
from kafka_unclean_recovery.log_dir.segments.walk import ReadAt, Walk
from kafka_unclean_recovery.log_dir.tree import Folder, Unreadable
from kafka_unclean_recovery.log_dir.watching import Meter

_TRANSACTIONAL = 0x10
_MAX_SEQUENCE = 0x7FFFFFFF
# A marker has one small record; no other control batch of a partition is larger.
_LARGEST_MARKER = 64 << 10
# The key of a control record holds its version, then its type (ControlRecordType).
_KEY = struct.Struct(">hh")
_TYPES = {0: False, 1: True}


@dataclass(frozen=True, slots=True)
class LeftOpen:
    """A transaction that some log leaves open. start_offset: the offset of its first record,
    inclusive. last_sequence, last_timestamp_ms: those of the newest batch that the log has of it.
    """

    producer_id: int
    start_offset: int
    last_sequence: int | None
    last_timestamp_ms: int | None


@dataclass(frozen=True, slots=True)
class FoundEnd:
    """The end of a transaction in a replica's files. marker_offset, producer_epoch: the marker's.
    newest: the last offset of the batch that is the newest one of the log that leaves the
    transaction open; None where these files do not have that batch."""

    marker_offset: int
    producer_epoch: int
    commit: bool
    newest: int | None


Ends = Mapping[LeftOpen, FoundEnd]


def transaction_ends(folder: Folder, wanted: Iterable[LeftOpen], meter: Meter) -> Ends:
    """Return the ends that the files have of these transactions; one without an end is missing.

    `folder` is the replica's own. Raises Unreadable, and what the meter raises.
    """
    left: dict[int, list[LeftOpen]] = defaultdict(list)
    for each in wanted:
        left[each.producer_id].append(each)
    newest: dict[LeftOpen, int] = {}
    found: dict[LeftOpen, FoundEnd] = {}
    first = min((each.start_offset for of in left.values() for each in of), default=0)
    for header, commit in _batches(SegmentReads(folder, meter), _segments(folder, meter), first):
        base = header.base_offset or 0
        for each in [e for e in left[header.producer_id] if e.start_offset <= base]:
            if commit is not None:
                found[each] = FoundEnd(base, header.producer_epoch, commit, newest.get(each))
                left[header.producer_id].remove(each)
            elif _is_newest(header, each):
                newest[each] = header.last_offset
        if not any(left.values()):
            break
    return found


def _segments(folder: Folder, meter: Meter) -> Sequence[Segment]:
    return with_swaps(replica_files(folder), SegmentReads(folder, meter).end_of)


def _is_newest(header: BatchHeader, left_open: LeftOpen) -> bool:
    base = header.base_offset or 0
    sequence = (header.base_sequence + header.last_offset - base) & _MAX_SEQUENCE
    told = left_open.last_sequence, left_open.last_timestamp_ms
    return told == (sequence, header.max_timestamp)


def _batches(
    reads: SegmentReads, segments: Sequence[Segment], first: int
) -> Iterator[tuple[BatchHeader, bool | None]]:
    """Yield (header, None) for each transactional batch of records from offset `first` on, and
    (header, whether it commits) for each marker, up to where the log ends. Raises Unreadable."""
    for segment, following in zip_longest(segments, segments[1:]):
        if following is not None and following.base_offset <= first:
            continue
        with reads.opened(segment.name) as read_at:
            walk = Walk(read_at, 0, segment.size, segment.base_offset)
            for position, _, _, last, _, attributes, _ in walk:
                if last < first or not attributes & _TRANSACTIONAL:
                    continue
                header = parse_header(read_at(position, V2.size))
                if header.is_transactional:
                    marker = header.is_control
                    yield header, _commits(header, position, read_at) if marker else None
        assert walk.ended is not None
        if walk.ended.reason is not Reason.END:
            return


def _commits(header: BatchHeader, position: int, read_at: ReadAt) -> bool:
    """Return whether this marker commits. Raises Unreadable for one that does not tell."""
    length = min(header.length - V2.size, _LARGEST_MARKER)
    record = Reader(read_at(position + V2.size, length), "marker")
    try:
        record.varint()  # the length of the rest
        record.take(1)  # attributes
        record.varlong()  # the time
        record.varint()  # the offset
        _, kind = _KEY.unpack_from(record.take(record.varint()))
        return _TYPES[kind]
    except (BadFormat, struct.error, KeyError):
        raise Unreadable(f"the marker at offset {header.base_offset} can't be read") from None
