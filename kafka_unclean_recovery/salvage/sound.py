"""Find every sound batch of a segment, also behind bytes that can't be read.

A broker that starts deletes all that lies behind the first bad batch. Here the walk goes on: at the
next place where the bytes look like a header, and the CRC of the batch is right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.replica_files import Segment
from kafka_unclean_recovery.log_dir.segments.batch_runs import Batch
from kafka_unclean_recovery.log_dir.segments.batches import V2, Reason, check_crc, parse_header
from kafka_unclean_recovery.log_dir.segments.walk import End, ReadAt, Walk
from kafka_unclean_recovery.log_dir.small_files.text_lines import INT32_MAX
from kafka_unclean_recovery.salvage.records import LARGEST_BATCH

_WINDOW = 1 << 20
# The upper half of an offset, the rest of it, a length of less than 16 MiB times 16, an epoch, and
# a magic: a header of any format begins so.
_REST_OF_HEADER = rb"[\x00-\xff]{4}[\x00-\x0f][\x00-\xff]{7}[\x00-\x02]"
_HALF = 4


@dataclass(slots=True)
class SoundBatches:
    """The sound batches of one segment, in the order of the file and in rising offset; iterate
    over them, and then `left_out` says in sentences what lies between. active: the segment is the
    last of the log, which may have zeros behind it."""

    read_at: ReadAt
    segment: Segment
    active: bool
    left_out: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[Batch]:
        """Hold each batch back until the next one is known: if offsets fall behind a batch that
        lies behind a gap, its base offset, which no CRC covers, is the one that is wrong."""
        last = self.segment.base_offset - 1
        held: Batch | None = None
        for batch in self._all():
            first = _first(batch)
            if held is not None and first > held[3]:
                yield held
                last, held = held[3], batch
            elif held is not None and last < first and held[2] != last + 1:
                self._misplaced(held)
                held = batch
            elif held is None and first > last:
                held = batch
            else:
                self._misplaced(batch)
        if held is not None:
            yield held

    def _misplaced(self, batch: Batch) -> None:
        self.left_out.append(
            f"{self.segment.name}: the batch at byte {batch[0]} says offset {_first(batch)}, where"
            " that can't be: it is left out"
        )

    def _all(self) -> Iterator[Batch]:
        size = self.segment.size
        at, base = 0, self.segment.base_offset
        while at < size:
            walk = Walk(self.read_at, at, size, base)
            yield from walk
            assert walk.ended is not None
            end = walk.ended
            if end.reason is Reason.END or (self.active and end.reason is Reason.ZEROS):
                return
            moved = self._elsewhere(end, at, base)
            if moved is not None:
                at, base = moved
                continue
            found = self._resumed(end.position + 1)
            self._unread(end, found)
            if found is None:
                return
            at, base = found, self.segment.base_offset

    def _elsewhere(self, end: End, begun: int, base: int) -> tuple[int, int] | None:
        """Return where to go on and from which base offset, if the batch there is sound and only
        its offsets are not those that were expected."""
        if end.reason not in (Reason.ORDER, Reason.OFFSETS):
            return None
        try:
            header = parse_header(self.read_at(end.position, V2.size))
        except BadFormat:
            return None
        first = header.last_offset if header.base_offset is None else header.base_offset
        moved = end.position, min(first, header.last_offset)
        return None if moved == (begun, base) else moved

    def _resumed(self, start: int) -> int | None:
        """Return the position of the next sound batch from `start` on."""
        base = self.segment.base_offset
        # Offsets of one segment are less than 2^31 apart, and may pass a multiple of 2^32.
        halves = {(base + ahead).to_bytes(9, "big")[1 : 1 + _HALF] for ahead in (0, INT32_MAX)}
        high = b"|".join(map(re.escape, sorted(halves)))
        header = re.compile(b"(?=(?:" + high + b")" + _REST_OF_HEADER + b")")
        at = start
        while at < self.segment.size:
            window = self.read_at(at, min(_WINDOW, self.segment.size - at))
            if not window:
                return None
            for match in header.finditer(window):
                if self._sound(at + match.start()):
                    return at + match.start()
            if at + len(window) >= self.segment.size:
                return None
            at += len(window) - V2.size
        return None

    def _sound(self, at: int) -> bool:
        try:
            header = parse_header(self.read_at(at, V2.size))
            if not self.segment.base_offset <= header.last_offset:
                return False
            if header.length > min(LARGEST_BATCH, self.segment.size - at):
                return False
            return check_crc(header, self.read_at(at, header.length))
        except BadFormat:
            return False

    def _unread(self, end: End, found: int | None) -> None:
        detail = f" ({end.detail})" if end.detail else ""
        if found is None:
            self.left_out.append(
                f"{self.segment.name} could be read up to byte {end.position} of"
                f" {self.segment.size} only: {end.reason}{detail}"
            )
        else:
            self.left_out.append(
                f"{self.segment.name}: bytes {end.position} to {found} (exclusive) can't be read:"
                f" {end.reason}{detail}; what lies behind them is saved"
            )


def _first(batch: Batch) -> int:
    return batch[3] if batch[2] is None else batch[2]
