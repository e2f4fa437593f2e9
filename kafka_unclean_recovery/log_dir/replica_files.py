"""List the files in a replica's directory, and find the segments that a starting broker would take.

Source: org.apache.kafka.storage.internals.log.LogLoader (removeTempFilesAndCollectSwapFiles, load).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kafka_unclean_recovery.log_dir.directory_names import (
    FileKind,
    FileState,
    parse_partition_file,
)
from kafka_unclean_recovery.log_dir.small_files.checkpoints import LEADER_EPOCHS
from kafka_unclean_recovery.log_dir.small_files.properties_files import PARTITION_METADATA
from kafka_unclean_recovery.log_dir.tree import Folder, Unreadable, printable


@dataclass(frozen=True, slots=True)
class Segment:
    """A .log file. `index` is the name of its offset index, if it has one."""

    base_offset: int
    name: str
    size: int
    index: str | None = None


@dataclass(frozen=True, slots=True)
class ReplicaFiles:
    """The segments of a replica by base offset: the segments in use, and the segments (.swap) that
    are to replace some of them."""

    segments: tuple[Segment, ...]
    swaps: tuple[Segment, ...]
    has_leader_epochs: bool
    has_partition_metadata: bool

    @property
    def size(self) -> int:
        return sum(segment.size for segment in self.segments)


def replica_files(folder: Folder) -> ReplicaFiles:
    """List a replica's directory. Raises Unreadable, also for a segment that is no plain file:
    without it the log would only seem shorter."""
    found = {FileState.LIVE: dict[int, Segment](), FileState.SWAP: dict[int, Segment]()}
    indexes: dict[tuple[FileState, int], str] = {}
    plain: set[str] = set()
    for entry in folder.entries():
        if entry.is_file:
            plain.add(entry.name)
        file = parse_partition_file(entry.name)
        if file is None or file.state not in found:
            continue
        if file.kind is FileKind.OFFSET_INDEX:
            indexes[file.state, file.offset] = entry.name
        elif file.kind is FileKind.SEGMENT:
            if not entry.is_file:
                raise Unreadable(f"{printable(entry.name)}: not a plain file")
            found[file.state][file.offset] = Segment(file.offset, entry.name, entry.size)
    live, swaps = (
        tuple(
            Segment(s.base_offset, s.name, s.size, indexes.get((state, s.base_offset)))
            for _, s in sorted(found[state].items())
        )
        for state in (FileState.LIVE, FileState.SWAP)
    )
    return ReplicaFiles(live, swaps, LEADER_EPOCHS in plain, PARTITION_METADATA in plain)


def with_swaps(files: ReplicaFiles, end_of: Callable[[Segment], int]) -> tuple[Segment, ...]:
    """Return the segments once every .swap has replaced the segments that it was made of, which
    begin within it. `end_of` tells where a segment ends, exclusive."""
    segments: Sequence[Segment] = files.segments
    for swap in files.swaps:
        end = end_of(swap)
        kept = [s for s in segments if not swap.base_offset <= s.base_offset < end]
        segments = sorted([*kept, swap], key=lambda s: s.base_offset)
    return tuple(segments)


def recovered_from(segments: Sequence[Segment], recovery_point: int | None) -> int:
    """Return the index of the segment with which a broker begins to recover: the segment that holds
    the recovery point, or the first when there is no recovery point."""
    if recovery_point is None:
        return 0
    begun = [place for place, s in enumerate(segments) if s.base_offset <= recovery_point]
    return begun[-1] if begun else 0
