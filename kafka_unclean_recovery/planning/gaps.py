"""Offsets that are missing in a log may have been lost, or never been there: a follower copies the
gaps of its leader, whose log may have been compacted. The other disks tell which. No I/O."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from kafka_unclean_recovery.model import ReplicaLog

_LAST_BATCH = "only the last batch lies behind a gap of offsets "
_SEGMENT = "a gap of offsets lies before segment "
_MISSING = re.compile(r"offsets [0-9]+ to [0-9]+ \(exclusive\) are missing")


def missing_offsets(start: int, first: int) -> str:
    return f"offsets {start} to {first} (exclusive) are missing"


def last_batch_behind_a_gap(start: int, first: int) -> str:
    """Return the sentence on a gap that may be a wrong base offset of the last batch, which no CRC
    covers."""
    return f"{_LAST_BATCH}{start} to {first}"


def segment_behind_a_gap(base_offset: int, end: int) -> str:
    return f"{_SEGMENT}{base_offset}: the log before it ends at {end}"


def is_gap(reason: str) -> bool:
    """Return whether the sentence is on a gap that no wrong base offset makes."""
    return _MISSING.fullmatch(reason) is not None or reason.startswith(_SEGMENT)


def without_shared_gaps(logs: Sequence[ReplicaLog]) -> tuple[ReplicaLog, ...]:
    """Return the logs; those that are suspect for a gap are not any more where another disk has the
    same gap in a log that ends alike, or where there is no log without a gap."""
    seen = Counter(key for log in logs if (key := _gap(log)) is not None)
    readable = [log for log in logs if log.problem is None]
    everywhere = len(readable) > 1 and all(is_gap(log.suspect or "") for log in readable)

    def shared(log: ReplicaLog) -> bool:
        key = _gap(log)
        return key is not None and (seen[key] > 1 or (everywhere and log.problem is None))

    return tuple(
        replace(log, suspect=None, certain_end_offset=None) if shared(log) else log for log in logs
    )


def _gap(log: ReplicaLog) -> tuple[str, int | None, int | None] | None:
    if log.suspect is None or not (is_gap(log.suspect) or log.suspect.startswith(_LAST_BATCH)):
        return None
    return log.suspect, log.last_written_leader_epoch, log.log_end_offset
