"""Read one replica in pieces, side by side and anywhere, and join the results as if one walk had
found them.

A batch is sound or not by itself, except that its offsets must lie above those of the batch before.
So a piece is walked as if it began its segment. When the pieces are joined, in order, a piece's
result is taken if a walk that came from the end of the piece before would have found the same. From
the first piece that does not fit, and where a piece is missing, the rest of the segment is read
again by the walk that reads it whole: a cut at a wrong place costs time, and nothing else.
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
    """The batches found in a piece, in plain values throughout.

    compacted: the batches were held against the offset index. first: the offset that must lie above
    all before the piece, None when it holds no batch. doubtful: the index speaks against a batch,
    or its magic is none.
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
    """Return the parts that a scan in this mode reads whole, in pieces of about `share` bytes (at
    least 1) or less, larger where the offset index gives no place to cut. Raises Stopped, and
    Unreadable for a replica for which `scan_from_pieces` tells the same problem."""
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
        # The scan itself may never need the bytes that could not be read for the cuts.
        with suppress(Unreadable):
            cuts += reads.boundaries(segment, wished)
    for start, end in pairwise((0, *cuts, segment.size)):
        if start < end:
            yield Piece(segment, start, end)


def scan_piece(folder: Folder, piece: Piece, compacted: bool, meter: Meter) -> PieceResult:
    """Walk one piece. `folder` is the replica's own; `compacted` as in Replica. Raises Stopped, and
    Unreadable, after which the piece counts as missing."""
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
    doubtful = log.doubt is not None or walk.strange is not None
    return PieceResult(piece, compacted, first, runs, walk.ended, doubtful)


def scan_from_pieces(
    folder: Folder, replica: Replica, mode: ScanMode, results: Iterable[PieceResult], meter: Meter
) -> ReplicaLog:
    """Return what `scan_replica` returns, whatever results are given: of pieces of `plan_pieces` or
    of others, all or some, in any order. Parts that the results leave out are read."""
    reads = PiecedReads(SegmentReads(folder, meter), results)
    return scan_by(reads, folder, replica, mode)


class PiecedReads:
    """Reads of a replica's segments that fulfil the protocol Reads of replica_scan.py."""

    def __init__(self, reads: SegmentReads, results: Iterable[PieceResult]) -> None:
        self._reads = reads
        self._results = {(r.piece.segment.name, r.piece.start): r for r in results}
        self.last_batches = reads.last_batches
        self.end_of = reads.end_of
        self.next_offset = reads.next_offset
        self.recovered = reads.recovered
        self.step_over = reads.step_over
        self.sound_snapshot = reads.sound_snapshot

    def whole(self, segment: Segment, log: BatchLog) -> End:
        """Tell `log` the segment as SegmentReads.whole does, from the pieces where they fit."""
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
    """Return whether a walk that has told `log` all before the piece would find the same in it."""
    last = found.piece.end == segment.size
    return (
        found.compacted == log.compacted
        and not found.doubtful
        and found.first is not None
        and log.end is not None
        and found.first >= log.end
        and (last or (found.ended.reason is Reason.END and found.piece.end < segment.size))
    )
