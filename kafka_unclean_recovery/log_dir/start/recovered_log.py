"""Recover the segments of a log one after the other, as a broker does that was killed.

Source: org.apache.kafka.storage.internals.log.LogLoader (recoverLog, loadSegmentFiles).
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Protocol

from kafka_unclean_recovery.log_dir.replica_files import Segment
from kafka_unclean_recovery.log_dir.segments.batch_log import BatchLog
from kafka_unclean_recovery.log_dir.segments.batches import Reason
from kafka_unclean_recovery.log_dir.segments.walk import End
from kafka_unclean_recovery.log_dir.start.fate import EndsBroker
from kafka_unclean_recovery.log_dir.start.next_offset import Next
from kafka_unclean_recovery.log_dir.start.recovery import Recovered

# Where the walk ends for these, a broker may go on, or take back more.
ANOTHER_WAY = (Reason.ORDER, Reason.OFFSETS, Reason.COUNT)


class Reads(Protocol):
    """The reads that a scan needs; SegmentReads has them."""

    def whole(self, segment: Segment, log: BatchLog) -> End: ...

    def end_of(self, segment: Segment) -> int: ...

    def last_batches(
        self, segments: Sequence[Segment], compacted: bool
    ) -> tuple[BatchLog, End]: ...

    def next_offset(self, segment: Segment) -> Next: ...

    def recovered(self, segment: Segment) -> list[Recovered]: ...

    def step_over(self, segment: Segment, offset: int, until: int | None) -> None: ...

    def sound_snapshot(self, offset: int) -> bool: ...


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A segment that is still to be taken. part: a part of it as a broker recovers it, None before
    that was asked for; fall: where its offsets are not as they should be, in words, and up to which
    offset that puts nothing in doubt, -1 for no doubt at all."""

    base_offset: int
    segment: Segment
    part: Recovered | None = None
    fall: tuple[str, int] = ("", 0)


def recover(reads: Reads, segments: Sequence[Segment], log: BatchLog) -> str | None:
    """Tell `log` the segments as a broker recovers them, which may split one; return the damage
    that the log then ends at, or None. Raises Unreadable, and EndsBroker."""
    waiting = [_Waiting(segment.base_offset, segment) for segment in segments]
    was = segments[0].base_offset if log.end is None else None
    while waiting:
        one = waiting.pop(0)
        rest = (one.segment, *(each.segment for each in waiting))
        if one.part is not None:
            damage = _take_part(one.segment, one.part, one.fall, rest, log)
        else:
            before = _state(log)
            ended = reads.whole(one.segment, log)
            if ended.reason in ANOTHER_WAY:
                parts = _parts(reads, one.segment, ended, log)
                _reset(log, before)
                waiting = sorted([*parts, *waiting], key=lambda each: each.base_offset)
                if one.base_offset == was:
                    log.begins = waiting[0].base_offset
                continue
            damage = damage_at(rest, ended, active=not waiting)
        if damage is None:
            continue
        if one.segment.indexed or not waiting:
            return damage
        # It was cut before the log was recovered, which then finds nothing to cut any more.
        log.suspect(f"{one.segment.name} has no offset index; {damage}", log.end or 0)
    return None


def _parts(reads: Reads, segment: Segment, ended: End, log: BatchLog) -> list[_Waiting]:
    """Return the parts that the segment is taken in. log: up to where the walk ended."""
    words = f"{ended.reason} ({ended.detail}) at byte {ended.position} of {segment.name}"
    parts = reads.recovered(segment)
    fall = words, log.last_start
    if ended.reason is Reason.OFFSETS:
        fall = words, -1 if _rises(parts) else log.end or 0
    if parts[0].emptied and len(parts) == 1 and not segment.indexed:
        raise EndsBroker(f"{segment.name} has no offset index, and none can be built: {words}")
    return [_Waiting(part.part.base_offset, segment, part, fall) for part in parts]


def _rises(parts: Sequence[Recovered]) -> bool:
    """Return whether a segment that is split has offsets that rise throughout, and more than one
    batch in each part. A single batch may have a wrong base offset, which no CRC covers."""
    as_in_the_file = sorted(parts, key=lambda each: each.part.start)
    return as_in_the_file == list(parts) and all(
        sum(run[5] for run in part.runs) > 1 for part in parts
    )


def _take_part(
    segment: Segment,
    found: Recovered,
    fall: tuple[str, int],
    rest: Sequence[Segment],
    log: BatchLog,
) -> str | None:
    """Tell `log` a recovered part; return the damage that the log ends at there, or None."""
    words, before = fall
    base = found.part.base_offset
    log.begin_segment(base)
    if found.older != found.end:
        log.suspect(f"{words}: brokers before 4.0 let the log end at {found.older}", base)
    log.take(found.runs)
    log.end = found.end
    if found.emptied:
        behind = sum(each.size for each in rest) - found.part.start
        return f"a broker deletes all from {base} on, {behind} bytes, for {words}"
    if before >= 0:
        log.suspect(words, min(before, found.end))
    if found.cut:
        return damage_at(rest, End(found.valid, Reason.CRC, f"behind {words}"))
    return None


def damage_at(segments: Sequence[Segment], ended: End, *, active: bool = True) -> str | None:
    """Return a sentence on the damage that the first of these segments ends at, None for a normal
    end. active: the segment is the last of the log, which may have zeros behind it."""
    if ended.reason is Reason.END or (active and ended.reason is Reason.ZEROS):
        return None
    detail = f" ({ended.detail})" if ended.detail else ""
    behind = sum(segment.size for segment in segments) - ended.position
    return (
        f"the log ends at {ended.reason}{detail} at byte {ended.position} of {segments[0].name},"
        f" {behind} bytes before its files do"
    )


def _state(log: BatchLog) -> BatchLog:
    kept = copy(log)
    kept.runs = list(log.runs)
    return kept


def _reset(log: BatchLog, to: BatchLog) -> None:
    for name in BatchLog.__slots__:
        setattr(log, name, getattr(to, name))
