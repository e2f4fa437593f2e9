"""Walking the segments of one replica's directory: whole with CRCs, or the last headers only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from kafka_unclean_recovery.log_dir import index
from kafka_unclean_recovery.log_dir.batch_log import BatchLog, held_against
from kafka_unclean_recovery.log_dir.batches import V2, Reason, parse_header
from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.replica_files import Segment
from kafka_unclean_recovery.log_dir.tree import Folder, OpenFile
from kafka_unclean_recovery.log_dir.walk import End, ReadAt, Walk
from kafka_unclean_recovery.log_dir.watching import Meter

# Larger than the index of any segment that Kafka writes: 2 GiB, an entry for every 4 KiB and less.
_INDEX_LIMIT = 64 << 20


class SegmentReads:
    """Everything raises Unreadable for a file that can't be read, and what the meter raises."""

    def __init__(self, folder: Folder, meter: Meter) -> None:
        self._folder = folder
        self._meter = meter

    def whole(self, segment: Segment, log: BatchLog) -> End:
        """Tell `log` all sound batches, CRCs checked. Where they end, and why."""
        log.begin_segment(segment.base_offset)
        with self.opened(segment.name) as read_at:
            walk = Walk(read_at, 0, segment.size, segment.base_offset)
            if log.compacted:
                log.take(held_against(walk, self._index_entries(segment), log))
            else:
                log.take(walk.runs())
        return _ended(walk, log)

    def tail(self, segment: Segment, log: BatchLog) -> End:
        """Tell `log` the batches that the offset index does not reach any more, by their headers;
        all of them where it is of no use."""
        with self.opened(segment.name) as read_at:
            start = self._last_indexed(segment, read_at)
            if start == 0:
                log.begin_segment(segment.base_offset)
            walk = Walk(read_at, start, segment.size, segment.base_offset, check_crc=False)
            log.take(walk.runs())
        return _ended(walk, log)

    def last_batches(self, segments: Sequence[Segment], compacted: bool) -> tuple[BatchLog, End]:
        """Headers from the newest segment that holds a batch, and the names of those after it;
        where and why the last of all ended."""
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

    def _last_indexed(self, segment: Segment, read_at: ReadAt) -> int:
        """The position of the last batch in the index; 0 unless a batch lies there that fits."""
        if segment.index is None:
            return 0
        try:
            with self._folder.opened(segment.index) as file:
                entry = index.last_entry(self._metered(file), file.size, segment.base_offset)
            if entry is None or entry[1] >= segment.size:
                return 0
            header = parse_header(read_at(entry[1], V2.size))
        except BadFormat:
            return 0
        fits = segment.base_offset <= header.last_offset <= entry[0]
        return entry[1] if fits else 0

    def _index_entries(self, segment: Segment) -> Iterator[index.Entry]:
        """Those up to the first that can't be right: nothing guards an index."""
        if segment.index is None:
            return
        with self._folder.opened(segment.index) as file:
            data = self._metered(file)(0, min(file.size, _INDEX_LIMIT) // 8 * 8)
        try:
            yield from index.entries(data, segment.base_offset)
        except BadFormat:
            return

    @contextmanager
    def opened(self, name: str) -> Iterator[ReadAt]:
        """A file of the replica, to read from anywhere in it."""
        with self._folder.opened(name) as file:
            yield self._metered(file)

    def _metered(self, file: OpenFile) -> ReadAt:
        def read_at(position: int, length: int) -> bytes:
            data = file.read_at(position, length)
            self._meter.add(len(data))
            return data

        return read_at


def _ended(walk: Walk, log: BatchLog) -> End:
    assert walk.ended is not None
    # A broker looks at neither. Where offsets fall, the batch before may be the wrong one.
    if walk.ended.reason is Reason.ORDER:
        log.suspect(f"offsets fall: {walk.ended.detail}", log.last_start)
    elif walk.ended.reason is Reason.OFFSETS:
        log.suspect(f"offsets that can't be: {walk.ended.detail}", log.end or 0)
    return walk.ended
