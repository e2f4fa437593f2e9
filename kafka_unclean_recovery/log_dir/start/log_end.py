"""Read a replica's log, and find the end that it has once its broker has started.

A broker that was killed recovers the log from the segment on that holds the recovery point: the log
ends at the first batch that is not sound, and later segments go. One that stopped in order reads
the end from the last index entry of the last segment on, whatever lies there. Both recover a
segment without an offset index, of which they keep the rest of the log.

Source: org.apache.kafka.storage.internals.log.LogLoader (loadSegmentFiles, recoverLog).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kafka_unclean_recovery.log_dir.replica_files import Segment, recovered_from
from kafka_unclean_recovery.log_dir.segments.batch_log import BatchLog
from kafka_unclean_recovery.log_dir.small_files.text_lines import INT32_MAX, INT64_MAX
from kafka_unclean_recovery.log_dir.start.producer_state import (
    read_from,
    segments_within,
    without_strays,
)
from kafka_unclean_recovery.log_dir.start.recovered_log import (
    ANOTHER_WAY,
    Reads,
    damage_at,
    recover,
)
from kafka_unclean_recovery.log_dir.tree import Unreadable
from kafka_unclean_recovery.mechanisms import ScanMode


@dataclass(frozen=True, slots=True)
class Stop:
    """How the broker stopped, as its log directory tells it. recovery_point: None is 0. log_start:
    by its checkpoint. snapshots: the offsets of the producer snapshots, in order. deleted: the log
    is about to be deleted, which the start loads and does not recover."""

    clean: bool
    recovery_point: int | None
    log_start: int = 0
    snapshots: tuple[int, ...] = ()
    deleted: bool = False


def read_log(
    reads: Reads, segments: Sequence[Segment], stop: Stop, mode: ScanMode, *, compacted: bool
) -> tuple[BatchLog, str | None]:
    """Return (the log, the damage that it ends at or None). Raises Unreadable, and EndsBroker where
    the broker fails over the log."""
    if stop.deleted:
        return _loaded(reads, segments, compacted), None
    if stop.recovery_point == INT64_MAX:
        # A broker looks for segments between this and the largest offset, and recovers none.
        stop = replace(stop, clean=True)
    if mode is ScanMode.FAST:
        return _fast(reads, segments, stop, compacted)
    log, damage = _checked(reads, segments, stop, mode, compacted)
    # A segment that was recovered has a snapshot where it ends.
    if stop.clean and segments and segments[-1].indexed:
        log, damage = _as_stopped(reads, segments, log)
        if kept := without_strays(stop.snapshots, segments):
            log_start = max(stop.log_start, segments[0].base_offset)
            _producers(reads, segments, kept, log_start, log.end or 0)
    return log, damage


def _loaded(reads: Reads, segments: Sequence[Segment], compacted: bool) -> BatchLog:
    log = BatchLog(compacted)
    for segment in segments:
        if not segment.indexed:
            recover(reads, [segment], log)
    return log


def _checked(
    reads: Reads, segments: Sequence[Segment], stop: Stop, mode: ScanMode, compacted: bool
) -> tuple[BatchLog, str | None]:
    """Read the segments whose CRCs this mode checks, and recover those that a broker recovers."""
    unflushed = recovered_from(segments, stop.recovery_point)
    # A start recovers each segment without an index, however long ago that was written.
    bare = (place for place, segment in enumerate(segments[:unflushed]) if not segment.indexed)
    checked = 0 if mode is ScanMode.DEEP else next(bare, unflushed)
    log = BatchLog(compacted)
    if checked:
        log, _ = reads.last_batches(segments[:checked], compacted)
    for place in range(checked, len(segments)):
        segment, active = segments[place], place == len(segments) - 1
        if not stop.clean and place >= unflushed:
            # One without an index is recovered while it is loaded, and has no later ones yet.
            loaded = segments if segment.indexed else segments[:place]
            _producers(reads, loaded, stop.snapshots, stop.log_start, segment.base_offset)
            for later in range(place + 1, len(segments)):
                _producers_while_loading(reads, segments, later, stop)
            damage = recover(reads, segments[place:], log)
            if damage is not None:
                # What goes with the damage was loaded before, over which a broker may end.
                _loaded(reads, segments[place + 1 :], compacted)
            return log, damage
        if segment.indexed:
            damage = damage_at([segment], reads.whole(segment, log), active=active)
        else:
            _producers_while_loading(reads, segments, place, stop)
            damage = recover(reads, [segment], log)
            if active:
                return log, damage
            if log.end is not None and log.end - 1 - segment.base_offset > INT32_MAX:
                raise Unreadable(
                    f"{segment.name}: offsets are too far from its name; a broker"
                    " splits it beyond later segments, and where the log then ends is not told"
                )
        if damage is not None:
            log.suspect(damage, log.end or 0)
    return log, None


def _producers_while_loading(
    reads: Reads, segments: Sequence[Segment], place: int, stop: Stop
) -> None:
    """Raise EndsBroker where a broker can't read the producers' state up to a segment without an
    index, which it recovers before it has loaded the next; it then takes a snapshot."""
    if segments[place].indexed:
        return
    recovered = next((p for p in range(place - 1, -1, -1) if not segments[p].indexed), -1)
    loaded = segments[recovered + 1 : place]
    _producers(reads, loaded, stop.snapshots, stop.log_start, segments[place].base_offset)


def _producers(
    reads: Reads,
    segments: Sequence[Segment],
    snapshots: Sequence[int],
    log_start: int,
    until: int,
) -> None:
    """Raise EndsBroker where a broker can't read the producers' state up to an offset."""
    start = read_from(snapshots, log_start, until, reads.sound_snapshot)
    last = max((s.base_offset for s in segments if s.base_offset <= until), default=None)
    for segment in segments_within(segments, start, until):
        ends = until if segment.base_offset == last else None
        reads.step_over(segment, max(start, log_start), ends)


def _fast(
    reads: Reads, segments: Sequence[Segment], stop: Stop, compacted: bool
) -> tuple[BatchLog, str | None]:
    if stop.clean and segments and segments[-1].indexed:
        return _as_stopped(reads, segments, BatchLog(compacted))
    log, ended = reads.last_batches(segments, compacted)
    if ended.reason in ANOTHER_WAY:
        raise Unreadable(
            f"{segments[-1].name}: {ended.reason} ({ended.detail}) at byte {ended.position}: where"
            " a broker lets the log end, a fast scan does not tell; scan it with --mode recover"
        )
    return log, damage_at(segments[-1:], ended)


def _as_stopped(
    reads: Reads, segments: Sequence[Segment], log: BatchLog
) -> tuple[BatchLog, str | None]:
    """Return the log with the end that a broker reads after a stop in order. log: from its CRCs, or
    empty where none were read."""
    last = segments[-1]
    found = reads.next_offset(last)
    if found.heads and log.end is None:
        log.begin_segment(last.base_offset)
        if found.heads[0].position > 0:
            log.end = None
        log.take(head.run for head in found.heads)
    elif not found.heads and (log.end is None or log.end != found.end):
        unread = log.end is not None and log.end > found.end
        before, log = log, reads.last_batches(segments[:-1], log.compacted)[0]
        log.doubt = before.doubt
        log.begin_segment(last.base_offset)
        if unread or last.size:
            return log, (
                f"a broker that stopped in order does not find the batches in {last.name}: its"
                f" offset index leads elsewhere, and the log ends at {found.end}; {last.size} bytes"
                " lie behind"
            )
    elif found.end != log.end:
        log.suspect(f"a broker that stopped in order lets the log end at {found.end}", log.end or 0)
        log.epoch = found.heads[-1].epoch
    log.end = found.end
    if found.older != found.end:
        log.suspect(f"brokers before 4.0 let the log end at {found.older}", found.end)
    return log, None
