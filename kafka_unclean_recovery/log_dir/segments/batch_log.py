"""Collect what a walk over the batches of a log makes certain, and what contradicts; no I/O.

The CRC of a batch does not cover its base offset and its leader epoch, so both are checked against
other facts: offsets follow on, and segments' names, the offset index and leader-epoch-checkpoint
agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from kafka_unclean_recovery.log_dir.segments import index
from kafka_unclean_recovery.log_dir.segments.batch_runs import Batch, Run, run_of
from kafka_unclean_recovery.model import EpochLineage, EpochSpan
from kafka_unclean_recovery.planning.gaps import (
    is_gap,
    last_batch_behind_a_gap,
    missing_offsets,
    segment_behind_a_gap,
)

# Message format 2 has this number where no leader epoch is known.
_NO_EPOCH = -1


@dataclass(frozen=True, slots=True)
class Doubt:
    """A reason why the log may be wrong although every CRC is right; all below `certain_end`
    (exclusive) is not in doubt."""

    reason: str
    certain_end: int


@dataclass(slots=True)
class BatchLog:
    """The facts about a log; tell it segment after segment, batch after batch.

    compacted: records may have been taken out, so that a gap alone says nothing. runs: the leader
    epochs of the batches; records without one are left out. end: the offset after the last batch,
    exclusive; None before the first segment. doubt: the first contradiction.
    """

    compacted: bool
    runs: list[EpochSpan] = field(default_factory=list)
    end: int | None = None
    batches: int = 0
    epoch: int | None = None
    """The leader epoch of the last batch, None where it has none."""
    last_start: int = -1
    """The first offset of the last batch."""
    records: int | None = 0
    begins: int | None = None
    """Where the first segment begins, if its recovery moves that."""
    doubt: Doubt | None = None
    _gap: tuple[int, int] = (-1, -1)

    def begin_segment(self, base_offset: int) -> None:
        """Begin a segment, whose name says where it begins and the segment before it ends."""
        end, self.end = self.end, base_offset
        # A segment begins where the log ended at that time, which proves all before it.
        self._gap = (-1, -1)
        if end is None or end == base_offset or (end < base_offset and self.compacted):
            return
        if end < base_offset:
            self.suspect(segment_behind_a_gap(base_offset, end), end)
        else:
            reason = f"segment {base_offset} follows a log that ends at {end}"
            self.suspect(reason, min(base_offset, self.last_start))

    def take(self, runs: Iterable[Run]) -> None:
        """Take runs in order, of the begun segment, or of any place in one when none was begun."""
        for first, last, epoch, start, records, batches in runs:
            if first is not None and self.end is not None and first != self.end:
                if first > self.end:
                    self._gap = self.end, first
                    if not self.compacted:
                        self.suspect(missing_offsets(self.end, first), self.end)
                else:
                    why = f"offsets fall: {first} follows {self.end - 1}"
                    self.suspect(why, min(first, self.last_start))
            self.end = last + 1
            self.last_start = last if start is None else start
            self.epoch = None if epoch == _NO_EPOCH else epoch
            if self.epoch is not None and first is not None:
                self._add_run(EpochSpan(self.epoch, first, self.end))
            self.batches += batches
            if self.records is not None:
                self.records = None if records is None else self.records + records

    def _add_run(self, run: EpochSpan) -> None:
        if self.runs and self.runs[-1].epoch == run.epoch:
            self.runs[-1] = EpochSpan(run.epoch, self.runs[-1].start_offset, run.end_offset)
        else:
            self.runs.append(run)

    def suspect(self, reason: str, certain_end: int) -> None:
        """Keep a doubt, if it is the first."""
        if self.doubt is None:
            self.doubt = Doubt(reason, certain_end)

    def finish(self, reached: int) -> None:
        """Look for the one gap that may be a wrong base offset: the last batch of all would follow
        on if its base offset were another, which in a compacted log must be one bit away. A wrong
        base offset of any other batch makes offsets fall behind it. Compaction takes nothing out of
        an active segment, yet a follower copies the gaps of its leader.

        reached: the log went at least so far (exclusive), by its checkpoints.
        """
        end, (start, first) = self.end, self._gap
        if end is None or start < 0 or first != self.last_start:
            return
        one_bit = (start ^ first).bit_count() == 1
        if reached > start + end - first or (self.compacted and not one_bit):
            return
        if self.doubt is not None and is_gap(self.doubt.reason):
            # Another disk that has a gap too does not take this one back.
            start, self.doubt = self.doubt.certain_end, None
        self.suspect(last_batch_behind_a_gap(self._gap[0], first), start)


def condensed(runs: Iterable[Run]) -> list[Run]:
    """Return fewer runs that tell any BatchLog the same: only the first and last gaps matter."""
    kept: list[Run] = []
    gaps = 0
    last_gap = 0
    for run in runs:
        follows = not kept or run[0] in (None, kept[-1][1] + 1)
        if kept and follows and run[2] == kept[-1][2]:
            kept[-1] = _joined(kept[-1], run)
            continue
        if not follows:
            if gaps > 1 and kept[last_gap - 1][2] == kept[last_gap][2]:
                kept[last_gap - 1 : last_gap + 1] = [_joined(*kept[last_gap - 1 : last_gap + 1])]
            gaps += 1
            last_gap = len(kept)
        kept.append(run)
    return kept


def _joined(one: Run, other: Run) -> Run:
    records = None if one[4] is None or other[4] is None else one[4] + other[4]
    return one[0], other[1], one[2], other[3], records, one[5] + other[5]


def held_against(
    batches: Iterable[Batch], entries: Iterator[index.Entry], log: BatchLog
) -> Iterator[Run]:
    """Yield the batches as runs, checked against the index. An index entry names a batch's position
    and an offset not below the batch's last offset."""
    offset, position = next(entries, (-1, -1))
    end = log.end or 0
    for batch in batches:
        while 0 <= position < batch[0]:
            offset, position = next(entries, (-1, -1))
        if position == batch[0] and offset < batch[3]:
            log.suspect(f"a batch goes up to offset {batch[3]}, in the index to {offset}", end)
        end = batch[3] + 1
        yield run_of(batch)


def first_contradiction(
    runs: Sequence[EpochSpan], assigned: Sequence[tuple[int, int]], log_start: int
) -> Doubt | None:
    """Return the first place where the epochs of batches disagree with leader-epoch-checkpoint.

    assigned: (leader epoch, start offset) pairs of the checkpoint. A broker writes a pair before
    the first batch of its epoch, so a batch of an epoch that is not there is in doubt. Batches
    below the first pair were deleted, by DeleteRecords or retention: a broker cuts the checkpoint
    off there at once, writes down the log start up to a minute later, and deletes segments up to
    five minutes later. Such batches are of no newer epoch than the first pair.
    """
    for run in runs:
        start = max(run.start_offset, log_start)
        if start >= run.end_offset:
            continue
        first_epoch, begin = assigned[0] if assigned else (-1, start)
        if start < begin and run.epoch > first_epoch:
            return Doubt(_wrote(run, EpochSpan(-1, start, start), assigned), start)
        kept = max(start, begin)
        if kept >= run.end_offset:
            continue
        for span in spans_within(assigned, kept, run.end_offset) or (EpochSpan(-1, kept, kept),):
            if span.epoch != run.epoch:
                return Doubt(_wrote(run, span, assigned), span.start_offset)
    return None


def _wrote(run: EpochSpan, span: EpochSpan, assigned: Sequence[tuple[int, int]]) -> str:
    there = f"has epoch {span.epoch} there" if span.epoch >= 0 else "begins later"
    return (
        f"batches from offset {span.start_offset} are of leader epoch {run.epoch}, and"
        f" leader-epoch-checkpoint {there if assigned else 'is empty'}"
    )


def first_fall(runs: Sequence[EpochSpan]) -> Doubt | None:
    """Return the first fall of leader epochs: they never fall, so the batch before may be wrong."""
    for before, after in pairwise(runs):
        if after.epoch < before.epoch:
            return Doubt(
                f"leader epoch {after.epoch} at offset {after.start_offset} follows {before.epoch}",
                before.start_offset,
            )
    return None


def spans_within(assigned: Sequence[tuple[int, int]], start: int, end: int) -> EpochLineage:
    """Return the part in [start, end) of epochs that each end where the next begins."""
    ends = [*(offset for _, offset in assigned[1:]), end][: len(assigned)]
    return tuple(
        EpochSpan(epoch, max(begin, start), min(stop, end))
        for (epoch, begin), stop in zip(assigned, ends, strict=True)
        if max(begin, start) < min(stop, end)
    )
