"""What the files of a replica hold beyond the end that its log has once the broker has started."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, zip_longest

from msgspec.structs import replace

from kafka_unclean_recovery.log_dir.replica_files import Segment
from kafka_unclean_recovery.log_dir.segments.segment_reads import SegmentReads
from kafka_unclean_recovery.log_dir.start.fate import ends_over
from kafka_unclean_recovery.model import EpochLineage, EpochSpan, ReplicaLog
from kafka_unclean_recovery.salvage.sound import SoundBatches

_NO_EPOCH = -1


def as_far_as_its_files(
    log: ReplicaLog, reads: SegmentReads, segments: Sequence[Segment]
) -> ReplicaLog:
    """Return the log with all that its files hold, if it ends before they do, or if the broker ends
    over it; else as it is. Raises Unreadable."""
    ends = ends_over(log.problem)
    damaged = log.scanned is not None and log.scanned.damage is not None
    if not segments or not (ends or damaged):
        return log
    end = 0 if ends else log.log_end_offset or 0
    held = list(_held(reads, segments, end))
    if not held:
        return log
    if ends:
        start = segments[0].base_offset
        log = replace(log, problem=None, suspect=ends, log_start_offset=start, epochs=())
    known = all(span.epoch != _NO_EPOCH for span in held) and log.epochs is not None
    return replace(
        log,
        log_end_offset=held[-1].end_offset,
        certain_end_offset=end if log.suspect is None else log.certain_end_offset,
        epochs=_joined([*(log.epochs or ()), *held]) if known else None,
    )


def _held(reads: SegmentReads, segments: Sequence[Segment], end: int) -> Iterator[EpochSpan]:
    """Yield (leader epoch, first offset, end) of each sound batch from `end` on."""
    for segment, following in zip_longest(segments, segments[1:]):
        if following is not None and following.base_offset <= end:
            continue
        with reads.opened(segment.name) as read_at:
            last = end - 1
            for _, _, base, last_offset, epoch, *_ in SoundBatches(
                read_at, segment, active=following is None
            ):
                first = last_offset if base is None else base
                if first >= end and first > last:
                    number = _NO_EPOCH if epoch is None else epoch
                    yield EpochSpan(number, first, last_offset + 1)
                    last = last_offset
            end = max(end, last + 1)


def _joined(spans: Sequence[EpochSpan]) -> EpochLineage:
    """Return a lineage without gaps: what is missing counts to the epoch before it, or after it
    where it is the first."""
    filled = [
        *(
            EpochSpan(one.epoch, one.start_offset, other.start_offset)
            for one, other in pairwise(spans)
        ),
        spans[-1],
    ]
    joined: list[EpochSpan] = []
    for span in filled:
        if joined and joined[-1].epoch == span.epoch:
            joined[-1] = EpochSpan(span.epoch, joined[-1].start_offset, span.end_offset)
        else:
            joined.append(span)
    return tuple(joined)
