"""Where a copy of the metadata log ends in its files, and whether that is the normal look of an
end.

A node that is killed while it writes leaves a torn batch behind: no whole batch comes after it, and
no segment. Whatever else stops a log is damage in the middle of it, and what lies behind is lost to
the reader although it was written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.metadata.batches import MetadataFile, read_batches
from kafka_unclean_recovery.log_dir.metadata.cluster_metadata import ClusterMetadata, segments_of
from kafka_unclean_recovery.log_dir.segments.batches import check_crc, parse_header

_MAGIC, _MAGIC_AT = 2, 16
# More than the largest batch that KRaft writes, so more than one torn write leaves.
_MOST_TORN = 16 << 20


@dataclass(frozen=True, slots=True)
class LogEnd:
    """segment: the file with the last record, None when there is no segment. position: of the first
    byte behind that record. torn: how many bytes of an unfinished write lie behind it. damage: why
    the log stops although more was written; None where it simply ends."""

    segment: str | None
    position: int
    torn: int = 0
    damage: str | None = None


def log_end(files: Sequence[MetadataFile], metadata: ClusterMetadata) -> LogEnd:
    """Return where the log of these files ends; `metadata` is what was read of them."""
    segments = segments_of(files)
    held = [(base, file) for base, file in segments if base <= metadata.end_offset]
    if not held:
        damage = metadata.stopped
        return LogEnd(None, 0, damage=damage)
    base, last = held[-1]
    if metadata.stopped is None:
        return LogEnd(last.name, last.size)
    position = _position_of_end(last, base, metadata.end_offset)
    behind = last.size - position
    if len(held) < len(segments) or behind > _MOST_TORN or _goes_on(last, position):
        return LogEnd(last.name, position, damage=metadata.stopped)
    return LogEnd(last.name, position, torn=behind)


def _position_of_end(file: MetadataFile, base: int, end_offset: int) -> int:
    position = 0
    try:
        for batch in read_batches(file):
            if batch.base_offset != base or base >= end_offset:
                break
            position, base = batch.position + batch.size, batch.end_offset
    except BadFormat:
        pass
    return position


def _goes_on(file: MetadataFile, position: int) -> bool:
    """Return True when a whole batch lies anywhere behind `position`. Base offset and epoch lie
    outside its CRC, so it counts whatever they say."""
    rest = file.read_at(position, file.size - position)
    view = memoryview(rest)
    at = rest.find(b"\x02", _MAGIC_AT)
    while at >= 0:
        # Of a view, for a copy of the rest at each such byte would take hours.
        if _is_whole(view[at - _MAGIC_AT :]):
            return True
        at = rest.find(b"\x02", at + 1)
    return False


def _is_whole(data: memoryview) -> bool:
    try:
        header = parse_header(data)
    except BadFormat:
        return False
    fits = header.magic == _MAGIC and header.length <= len(data)
    return fits and check_crc(header, data[: header.length])
