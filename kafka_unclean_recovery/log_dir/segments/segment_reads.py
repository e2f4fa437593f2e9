"""Walk the segments in one replica's directory: whole with CRCs, or the last headers only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.replica_files import Segment
from kafka_unclean_recovery.log_dir.segments import index
from kafka_unclean_recovery.log_dir.segments.batch_log import BatchLog, held_against
from kafka_unclean_recovery.log_dir.segments.batch_runs import Run
from kafka_unclean_recovery.log_dir.segments.batches import V2, Reason, parse_header
from kafka_unclean_recovery.log_dir.segments.walk import End, ReadAt, Walk
from kafka_unclean_recovery.log_dir.start.next_offset import (
    Next,
    heads,
    last_indexed,
    lookup,
    must_unwrap,
    next_offset,
)
from kafka_unclean_recovery.log_dir.start.producer_state import sound_snapshot
from kafka_unclean_recovery.log_dir.start.recovery import Recovered, recover
from kafka_unclean_recovery.log_dir.tree import Folder, OpenFile
from kafka_unclean_recovery.log_dir.watching import Meter

# The limit is larger than the index of any segment that Kafka writes: a segment has up to 2 GiB,
# and at most one entry for every 4 KiB.
_INDEX_LIMIT = 64 << 20
# This many index entries are checked against the batches before a segment stays uncut there.
_TRIES = 8


class SegmentReads:
    """Reads of one replica's segments. Every method raises Unreadable for a file that can't be
    read, and what the meter raises."""

    def __init__(self, folder: Folder, meter: Meter) -> None:
        self._folder = folder
        self._meter = meter

    def whole(self, segment: Segment, log: BatchLog) -> End:
        """Tell `log` all sound batches, CRCs checked; return where and why the segment ends."""
        log.begin_segment(segment.base_offset)
        return self.rest(segment, 0, log)

    def rest(self, segment: Segment, start: int, log: BatchLog) -> End:
        """Do as `whole` for a segment whose batches up to `start` were told to `log` before."""
        assert log.end is not None
        with self.opened(segment.name) as read_at:
            walk = Walk(read_at, start, segment.size, segment.base_offset, previous=log.end - 1)
            log.take(self.runs(segment, walk, log))
        assert walk.ended is not None
        doubt_magic(walk, log)
        return ended(walk.ended, log)

    def runs(self, segment: Segment, walk: Walk, log: BatchLog) -> Iterator[Run]:
        """Yield the runs of `walk` over any part of the segment; `log` hears of doubtful ones."""
        if log.compacted:
            return held_against(walk, self._index_entries(segment), log)
        return walk.runs()

    def tail(self, segment: Segment, log: BatchLog) -> End:
        """Tell `log`, by their headers, the batches beyond the reach of the offset index; all
        batches where the index is of no use."""
        with self.opened(segment.name) as read_at:
            for start in self._last_indexed(segment, read_at):
                if start == 0:
                    log.begin_segment(segment.base_offset)
                walk = Walk(read_at, start, segment.size, segment.base_offset, check_crc=False)
                log.take(walk.runs())
                doubt_magic(walk, log)
                # A batch that was written only in part may have an entry too: then the walk begins
                # at an earlier entry.
                if log.batches:
                    break
        assert walk.ended is not None
        return ended(walk.ended, log)

    def last_batches(self, segments: Sequence[Segment], compacted: bool) -> tuple[BatchLog, End]:
        """Return the log from the headers of the newest segment that holds a batch and the names of
        the segments after it; and where and why the very last segment ended."""
        last: End | None = None
        for place in range(len(segments) - 1, -1, -1):
            log = BatchLog(compacted)
            ended = self.tail(segments[place], log)
            last = last or ended
            if log.batches or place == 0:
                for empty in segments[place + 1 :]:
                    log.begin_segment(empty.base_offset)
                return log, last
        return BatchLog(compacted), End(0, Reason.END)

    def end_of(self, segment: Segment) -> int:
        """Return where a broker takes the segment to end, exclusive, by the headers."""
        return self.next_offset(segment).end

    def next_offset(self, segment: Segment) -> Next:
        """Return where a broker takes the segment to end, which it does not recover."""
        target, position = segment.base_offset, 0
        if segment.index is not None:
            with self._folder.opened(segment.index) as file:
                target, position = last_indexed(self._metered(file), file.size, segment.base_offset)
        with self.opened(segment.name) as read_at:
            found = list(heads(read_at, position, segment.size))
            must_unwrap(found, read_at, target)
        return next_offset(found, target, segment.base_offset)

    def step_over(self, segment: Segment, offset: int, until: int | None) -> None:
        """Step over the headers of the batches from the offset on, up to one that is looked for.
        Raises EndsBroker where a broker can't."""
        with self.opened(segment.name) as read_at:
            read = heads(read_at, self._position(segment, offset), segment.size)
            must_unwrap(read, read_at, offset)
            for head in read:
                if until is not None and head.last >= until:
                    break
            if until is not None:
                must_unwrap(
                    heads(read_at, self._position(segment, until), segment.size), read_at, until
                )

    def _position(self, segment: Segment, offset: int) -> int:
        """Return where a broker begins to look for the offset."""
        if segment.index is None or offset <= segment.base_offset:
            return 0
        with self._folder.opened(segment.index) as file:
            return lookup(self._metered(file), file.size, offset - segment.base_offset)

    def sound_snapshot(self, offset: int) -> bool:
        """Return whether a broker takes the producer snapshot of this offset."""
        return sound_snapshot(self._folder.read_whole(f"{offset:020d}.snapshot") or b"")

    def recovered(self, segment: Segment) -> list[Recovered]:
        """Return what a broker makes of the segment when it recovers it, by a slow read of all."""
        with self.opened(segment.name) as read_at:
            return recover(read_at, segment.base_offset, segment.size)

    def _last_indexed(self, segment: Segment, read_at: ReadAt) -> Iterator[int]:
        """Yield positions of batches that the index names and that fit, the last first and then
        ever further apart; in the end 0."""
        found = self._last_entries(segment)
        back = 1
        while back <= len(found):
            if _fits(segment, found[-back], read_at):
                yield found[-back][1]
            back *= 2
        yield 0

    def _last_entries(self, segment: Segment) -> list[index.Entry]:
        if segment.index is None:
            return []
        try:
            with self._folder.opened(segment.index) as file:
                return index.last_entries(self._metered(file), file.size, segment.base_offset)
        except BadFormat:
            return []

    def boundaries(self, segment: Segment, wished: Iterable[int]) -> Iterator[int]:
        """Yield positions at which to cut the segment, in rising order. For each wished position
        (rising) it is the first batch at or behind it that the offset index names and that fits, if
        one comes soon."""
        data = self._index(segment)
        least = 0
        with self.opened(segment.name) as read_at:
            for position in wished:
                least = max(position, least)
                tried = list(islice(index.entries_from(data, least, segment.base_offset), _TRIES))
                if not tried:
                    return
                for entry in tried:
                    if entry[1] >= least and _fits(segment, entry, read_at):
                        yield entry[1]
                        least = entry[1] + 1
                        break

    def _index_entries(self, segment: Segment) -> Iterator[index.Entry]:
        """Yield the entries up to the first that can't be right: nothing guards an index."""
        try:
            yield from index.entries(self._index(segment), segment.base_offset)
        except BadFormat:
            return

    def _index(self, segment: Segment) -> bytes:
        if segment.index is None:
            return b""
        with self._folder.opened(segment.index) as file:
            return self._metered(file)(0, min(file.size, _INDEX_LIMIT) // 8 * 8)

    @contextmanager
    def opened(self, name: str) -> Iterator[ReadAt]:
        """Open a file of the replica, to read from anywhere in it."""
        with self._folder.opened(name) as file:
            yield self._metered(file)

    def _metered(self, file: OpenFile) -> ReadAt:
        def read_at(position: int, length: int) -> bytes:
            data = file.read_at(position, length)
            self._meter.add(len(data))
            return data

        if (next_data := getattr(file, "next_data", None)) is not None:
            read_at.next_data = next_data  # type: ignore[attr-defined]
        return read_at


def doubt_magic(walk: Walk, log: BatchLog) -> None:
    """Tell `log` of a batch that a broker keeps and nobody can read."""
    if walk.strange is not None:
        base, magic = walk.strange.base_offset or 0, walk.strange.magic
        log.suspect(
            f"the batch at offset {base} has magic byte {magic}, which a broker keeps and no"
            " consumer or follower reads",
            base,
        )


def _fits(segment: Segment, entry: index.Entry, read_at: ReadAt) -> bool:
    """Return whether the batch that the entry names seems to lie there."""
    offset, position = entry
    if position >= segment.size:
        return False
    try:
        header = parse_header(read_at(position, V2.size))
    except BadFormat:
        return False
    return segment.base_offset <= header.last_offset <= offset


def ended(end: End, log: BatchLog) -> End:
    """Return where a segment ended, after telling `log` if the end is doubtful."""
    # A broker checks neither. Where offsets fall, the batch before may be the wrong one.
    if end.reason is Reason.ORDER:
        log.suspect(f"offsets fall: {end.detail}", log.last_start)
    elif end.reason is Reason.OFFSETS:
        log.suspect(f"offsets that can't be: {end.detail}", log.end or 0)
    return end
