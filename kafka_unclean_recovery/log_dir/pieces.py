"""One replica read in pieces, side by side and anywhere, and put together as if it were one walk.

A batch is sound or not by itself, but for one thing: its offsets must lie above those of the batch
before. So a piece is walked as if it began its segment, and when the pieces are put together, in
order, what each found is taken if it would have been found from where the one before ended. At the
first that does not fit so, and where a piece is missing, the rest of the segment is read again, by
the walk that reads it whole: a cut at a wrong place costs time, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice, pairwise

from kafka_unclean_recovery.log_dir.replica_files import (
    Segment,
    recovered_from,
    replica_files,
    with_swaps,
)
from kafka_unclean_recovery.log_dir.replica_scan import Replica, scan_by
from kafka_unclean_recovery.log_dir.segments.batch_log import BatchLog, condensed
from kafka_unclean_recovery.log_dir.segments.batch_runs import Run
from kafka_unclean_recovery.log_dir.segments.batches import Reason
from kafka_unclean_recovery.log_dir.segments.segment_reads import SegmentReads, ended
from kafka_unclean_recovery.log_dir.segments.walk import End, Walk
from kafka_unclean_recovery.log_dir.tree import Folder, Unreadable
from kafka_unclean_recovery.log_dir.watching import Meter
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import ReplicaLog


@dataclass(frozen=True, slots=True)
class Piece:
    """The batches in bytes [start, end) of a segment."""

    segment: Segment
    start: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class PieceResult:
    """What lies in a piece. Of plain values throughout.

    compacted: it was held against the offset index. first: the offset that must lie above all
    before the piece, None when it holds no batch. doubtful: the index speaks against a batch.
    """

    piece: Piece
    compacted: bool
    first: int | None
    runs: tuple[Run, ...]
    ended: End
    doubtful: bool


def plan_pieces(
    folder: Folder, replica: Replica, mode: ScanMode, share: int, meter: Meter
) -> list[Piece]:
    """What a scan in this mode reads whole, in pieces of about `share` bytes (at least 1) or less;
    larger where the offset index does not help to cut. Raises Stopped, and Unreadable for a replica
    of which `scan_from_pieces` says so, too."""
    if mode is ScanMode.FAST:
        return []
    reads = SegmentReads(folder, meter)
    files = replica_files(folder)
    segments = with_swaps(files, reads.end_of)
    first = 0 if mode is ScanMode.DEEP else recovered_from(segments, replica.recovery_point)
    return [piece for segment in segments[first:] for piece in _cut(segment, share, reads)]


def _cut(segment: Segment, share: int, reads: SegmentReads) -> Iterator[Piece]:
    count = -(-segment.size // share)
    wished = (segment.size * number // count for number in range(1, count))
    cuts: list[int] = []
    if count > 1:
        # The scan itself may never come to read what could not be read for this.
        with suppress(Unreadable):
            cuts += reads.boundaries(segment, wished)
    for start, end in pairwise((0, *cuts, segment.size)):
        if start < end:
            yield Piece(segment, start, end)


def scan_piece(folder: Folder, piece: Piece, compacted: bool, meter: Meter) -> PieceResult:
    """`folder` is the replica's own; `compacted` as Replica has it. Raises Unreadable, and then
    the piece is as good as missing, and Stopped."""
    reads = SegmentReads(folder, meter)
    segment = piece.segment
    log = BatchLog(compacted)
    with reads.opened(segment.name) as read_at:
        walk = Walk(read_at, piece.start, piece.end, segment.base_offset)
        found = reads.runs(segment, walk, log)
        begun = list(islice(found, 1))
        runs = tuple(condensed(chain(begun, found)))
    assert walk.ended is not None
    firsts = [last if first is None else first for first, last, *_ in begun]
    first = firsts[0] if firsts else None
    return PieceResult(piece, compacted, first, runs, walk.ended, log.doubt is not None)


def scan_from_pieces(
    folder: Folder, replica: Replica, mode: ScanMode, results: Iterable[PieceResult], meter: Meter
) -> ReplicaLog:
    """What `scan_replica` says, whatever the results are of: pieces of `plan_pieces` or others,
    all or some, in any order. What they leave out is read."""
    reads = PiecedReads(SegmentReads(folder, meter), results)
    return scan_by(reads, folder, replica, mode)


class PiecedReads:
    """Reads of a replica's segments, as replica_scan wants them."""

    def __init__(self, reads: SegmentReads, results: Iterable[PieceResult]) -> None:
        self._reads = reads
        self._results = {(r.piece.segment.name, r.piece.start): r for r in results}
        self.last_batches = reads.last_batches
        self.end_of = reads.end_of

    def whole(self, segment: Segment, log: BatchLog) -> End:
        """As SegmentReads has it."""
        log.begin_segment(segment.base_offset)
        at = 0
        while found := self._results.get((segment.name, at)):
            if not _fits(found, segment, log):
                break
            log.take(found.runs)
            at = found.piece.end
            if at == segment.size:
                return ended(found.ended, log)
        return self._reads.rest(segment, at, log)


def _fits(found: PieceResult, segment: Segment, log: BatchLog) -> bool:
    """Whether a walk that has told `log` all before the piece would have found the same in it."""
    last = found.piece.end == segment.size
    return (
        found.compacted == log.compacted
        and not found.doubtful
        and found.first is not None
        and log.end is not None
        and found.first >= log.end
        and (last or (found.ended.reason is Reason.END and found.piece.end < segment.size))
    )
