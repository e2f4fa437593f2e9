"""List the files in a replica's directory, and find the segments that a starting broker would take.

Source: org.apache.kafka.storage.internals.log.LogLoader (removeTempFilesAndCollectSwapFiles, load).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kafka_unclean_recovery.log_dir.directory_names import (
    FileKind,
    FileState,
    parse_partition_file,
)
from kafka_unclean_recovery.log_dir.small_files.checkpoints import LEADER_EPOCHS
from kafka_unclean_recovery.log_dir.small_files.properties_files import PARTITION_METADATA
from kafka_unclean_recovery.log_dir.small_files.text_lines import INT64_MAX
from kafka_unclean_recovery.log_dir.start.fate import EndsBroker
from kafka_unclean_recovery.log_dir.start.names import (
    file_keeps_a_broker_from_starting,
    taken_for_a_segment,
)
from kafka_unclean_recovery.log_dir.start.transaction_index import (
    LEAST_SIZE,
    IndexVerdict,
    transaction_index,
)
from kafka_unclean_recovery.log_dir.tree import Entry, Folder, Unreadable, printable

_SMALL = (LEADER_EPOCHS, PARTITION_METADATA)


@dataclass(frozen=True, slots=True)
class Segment:
    """A .log file. `index` is the name of its offset index, if it has one. indexed: False where a
    broker that starts finds none, and recovers the segment."""

    base_offset: int
    name: str
    size: int
    index: str | None = None
    indexed: bool = True


@dataclass(frozen=True, slots=True)
class ReplicaFiles:
    """The segments of a replica by base offset: the segments in use, and the segments (.swap) that
    are to replace some of them. A .swap is no use from the lowest .cleaned on: it is of a split
    that was not finished, and is done again (KAFKA-6264). snapshots: the offsets of the producer
    snapshots, in order. odd: sentences on what a broker reads there and we do not."""

    segments: tuple[Segment, ...]
    swaps: tuple[Segment, ...]
    has_leader_epochs: bool
    has_partition_metadata: bool
    snapshots: tuple[int, ...] = ()
    odd: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        return sum(segment.size for segment in self.segments)


def replica_files(folder: Folder) -> ReplicaFiles:
    """List a replica's directory. Raises Unreadable, also for a segment that is no plain file:
    without it the log would only seem shorter."""
    found = {FileState.LIVE: dict[int, Segment](), FileState.SWAP: dict[int, Segment]()}
    indexes: dict[tuple[FileState, int], str] = {}
    plain: set[str] = set()
    snapshots: list[int] = []
    transactions: dict[int, str] = {}
    cleaned = INT64_MAX
    odd: list[str] = []
    for entry in folder.entries():
        if entry.is_file:
            plain.add(entry.name)
        odd += _odd(entry)
        file = parse_partition_file(entry.name)
        if file is not None and file.state is FileState.CLEANED and entry.is_file:
            cleaned = min(cleaned, file.offset)
        if file is None or file.state not in found:
            continue
        if file.kind is FileKind.PRODUCER_SNAPSHOT and entry.is_file:
            snapshots.append(file.offset)
        elif file.kind is FileKind.TRANSACTION_INDEX and entry.size >= LEAST_SIZE:
            transactions[file.offset] = entry.name
        elif file.kind is FileKind.OFFSET_INDEX and entry.is_file:
            indexes[file.state, file.offset] = entry.name
        elif file.kind is FileKind.SEGMENT:
            if not entry.is_file:
                raise Unreadable(f"{printable(entry.name)}: not a plain file")
            found[file.state][file.offset] = Segment(file.offset, entry.name, entry.size)
    swapped = {at: name for (state, at), name in indexes.items() if state is FileState.SWAP}
    replaced = {base for base, s in found[FileState.SWAP].items() if s.size and base < cleaned}
    # They are deleted with the segments that are replaced.
    transactions = {base: name for base, name in transactions.items() if base not in replaced}
    live = tuple(
        replace(s, index=index, indexed=index is not None and _indexed(folder, s, transactions))
        for base, s in sorted(found[FileState.LIVE].items())
        for index in [swapped.get(base) if base < cleaned else None]
        for index in [index or indexes.get((FileState.LIVE, base))]
    )
    swaps = tuple(
        replace(s, index=swapped.get(base))
        for base, s in sorted(found[FileState.SWAP].items())
        if base < cleaned
    )
    return ReplicaFiles(
        live,
        swaps,
        LEADER_EPOCHS in plain,
        PARTITION_METADATA in plain,
        tuple(sorted(snapshots)),
        tuple(odd),
    )


def _odd(entry: Entry) -> Iterator[str]:
    """Yield why a broker may make more of this entry than we do: it follows links, and reads an
    offset out of names that it never writes."""
    known = parse_partition_file(entry.name) is not None
    if entry.is_file and not known and taken_for_a_segment(entry.name):
        yield (
            f"{printable(entry.name)}: a broker reads an offset out of this name, and takes the"
            " file for a segment: move it out of the log directory"
        )
    elif entry.is_file and not known and file_keeps_a_broker_from_starting(entry.name):
        yield f"{printable(entry.name)}: a broker ends over this name: move the file elsewhere"
    elif not entry.is_file and (known or entry.name in _SMALL):
        yield (
            f"{printable(entry.name)} is no plain file (a symlink is never followed): what a broker"
            " makes of it is not told"
        )


def _indexed(folder: Folder, segment: Segment, transactions: Mapping[int, str]) -> bool:
    """Return False where a broker recovers it for its transaction index. Raises EndsBroker."""
    name = transactions.get(segment.base_offset)
    if name is None:
        return True
    verdict = transaction_index(folder.read_whole(name) or b"", segment.base_offset)
    if verdict is IndexVerdict.UNKNOWN:
        raise EndsBroker(f"{name}: an entry has a version that is not known")
    return verdict is IndexVerdict.SOUND


def with_swaps(files: ReplicaFiles, end_of: Callable[[Segment], int]) -> tuple[Segment, ...]:
    """Return the segments once the .swap files have replaced the segments that they were made of:
    all that begin between the first of them and the end of the last. `end_of` tells where a segment
    ends, exclusive."""
    if not files.swaps:
        return files.segments
    first, end = _replaced(files, end_of)
    taken = {swap.base_offset for swap in files.swaps}
    kept = [
        s for s in files.segments if not first <= s.base_offset < end and s.base_offset not in taken
    ]
    return tuple(sorted([*kept, *files.swaps], key=lambda s: s.base_offset))


def _replaced(files: ReplicaFiles, end_of: Callable[[Segment], int]) -> tuple[int, int]:
    """Return offsets, end exclusive: a broker deletes each file that begins between them."""
    if not files.swaps:
        return 0, 0
    return files.swaps[0].base_offset, max(map(end_of, files.swaps))


def kept_snapshots(files: ReplicaFiles, end_of: Callable[[Segment], int]) -> list[int]:
    """Return the offsets of the producer snapshots once .swap files are taken into use."""
    first, end = _replaced(files, end_of)
    return [offset for offset in files.snapshots if not first <= offset < end]


def recovered_from(segments: Sequence[Segment], recovery_point: int | None) -> int:
    """Return the index of the segment with which a broker begins to recover: the segment that holds
    the recovery point, or the first when there is no recovery point."""
    if recovery_point is None:
        return 0
    begun = [place for place, s in enumerate(segments) if s.base_offset <= recovery_point]
    return begun[-1] if begun else 0
