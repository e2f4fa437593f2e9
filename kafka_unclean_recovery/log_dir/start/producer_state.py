"""Whether a broker can read the state of producers out of a log, from its newest snapshot on.

It steps over the headers of batches there, and ends over a batch of no size. As a rule a snapshot
lies where it begins, and there is nothing to read.

Source: org.apache.kafka.storage.internals.log.UnifiedLog.rebuildProducerState,
ProducerStateManager (truncateAndReload, removeStraySnapshots, readSnapshot).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence

from crc32c import crc32c

from kafka_unclean_recovery.log_dir.replica_files import Segment

_PREFIX = struct.Struct(">hI")
_VERSION = 1


def sound_snapshot(data: bytes) -> bool:
    """Return whether a broker takes a producer snapshot; it deletes another."""
    if len(data) < _PREFIX.size:
        return False
    version, written = _PREFIX.unpack_from(data)
    return bool(version == _VERSION and crc32c(data[_PREFIX.size :]) == written)


def without_strays(snapshots: Iterable[int], segments: Sequence[Segment]) -> list[int]:
    """Return the snapshots that a broker keeps after it loaded the segments: where one begins, and
    the last of the others if it lies behind all."""
    bases = {segment.base_offset for segment in segments}
    kept = [offset for offset in snapshots if offset in bases]
    strays = [offset for offset in snapshots if offset not in bases]
    return kept + [offset for offset in strays[-1:] if offset > max(bases, default=-1)]


def read_from(
    snapshots: Iterable[int], log_start: int, until: int, sound: Callable[[int], bool]
) -> int:
    """Return the offset from which on a broker reads the log up to `until`."""
    within = (offset for offset in sorted(snapshots, reverse=True) if log_start < offset <= until)
    return next(filter(sound, within), log_start)


def segments_within(segments: Sequence[Segment], start: int, until: int) -> Sequence[Segment]:
    """Return the segments that hold the offsets from `start` to `until`, exclusive."""
    if start >= until:
        return ()
    first = max((s.base_offset for s in segments if s.base_offset <= start), default=0)
    return [s for s in segments if first <= s.base_offset < until]
