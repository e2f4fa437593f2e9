"""List the files in a replica's directory, and find the segments that a starting broker would take.

Source: org.apache.kafka.storage.internals.log.LogLoader (removeTempFilesAndCollectSwapFiles, load).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from kafka_unclean_recovery.log_dir.directory_names import (
    FileKind,
    FileState,
    PartitionFile,
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


@dataclass(slots=True)
class _Listed:
    """The files of a log by base offset: segments, and the names of indexes. snapshots: offsets of
    the producer snapshots. cleaned: the lowest offset of a .cleaned."""

    segments: dict[int, Entry] = field(default_factory=dict)
    swaps: dict[int, Entry] = field(default_factory=dict)
    indexes: dict[int, str] = field(default_factory=dict)
    swapped_indexes: dict[int, str] = field(default_factory=dict)
    transactions: dict[int, str] = field(default_factory=dict)
    snapshots: list[int] = field(default_factory=list)
    cleaned: int = INT64_MAX

    def take(self, entry: Entry, file: PartitionFile) -> None:
        """Take a file in. Raises Unreadable for a segment that is no plain file."""
        if file.state is FileState.CLEANED and entry.is_file:
            self.cleaned = min(self.cleaned, file.offset)
        if file.state not in (FileState.LIVE, FileState.SWAP):
            return
        swap = file.state is FileState.SWAP
        if file.kind is FileKind.SEGMENT:
            if not entry.is_file:
                raise Unreadable(f"{printable(entry.name)}: not a plain file")
            (self.swaps if swap else self.segments)[file.offset] = entry
        elif file.kind is FileKind.OFFSET_INDEX and entry.is_file:
            (self.swapped_indexes if swap else self.indexes)[file.offset] = entry.name
        elif file.kind is FileKind.PRODUCER_SNAPSHOT and entry.is_file:
            self.snapshots.append(file.offset)
        elif file.kind is FileKind.TRANSACTION_INDEX and entry.size >= LEAST_SIZE:
            self.transactions[file.offset] = entry.name


def replica_files(folder: Folder) -> ReplicaFiles:
    """List a replica's directory. Raises Unreadable, also for a segment that is no plain file:
    without it the log would only seem shorter."""
    listed = _Listed()
    small: set[str] = set()
    odd: list[str] = []
    for entry in folder.entries():
        file = parse_partition_file(entry.name)
        if file is not None:
            listed.take(entry, file)
        elif entry.is_file:
            small.add(entry.name)
        if file is None or not entry.is_file:
            odd += _odd(entry, known=file is not None)
    swaps = {base: e for base, e in sorted(listed.swaps.items()) if base < listed.cleaned}
    swapped = {base: n for base, n in listed.swapped_indexes.items() if base < listed.cleaned}
    indexes = listed.indexes | swapped
    # Others are deleted with the segments that are replaced.
    kept = {b: n for b, n in listed.transactions.items() if b not in swaps or not swaps[b].size}
    return ReplicaFiles(
        tuple(
            Segment(
                base,
                e.name,
                e.size,
                indexes.get(base),
                base in indexes and _indexed(folder, base, kept.get(base)),
            )
            for base, e in sorted(listed.segments.items())
        ),
        tuple(Segment(base, e.name, e.size, swapped.get(base)) for base, e in swaps.items()),
        LEADER_EPOCHS in small,
        PARTITION_METADATA in small,
        tuple(sorted(listed.snapshots)),
        tuple(odd),
    )


def _odd(entry: Entry, *, known: bool) -> Iterator[str]:
    """Yield why a broker may make more of this entry than we do: it follows links, and reads an
    offset out of names that it never writes. known: the name is one that it writes."""
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


def _indexed(folder: Folder, base_offset: int, transactions: str | None) -> bool:
    """Return False where a broker recovers the segment for its transaction index, of this name.
    Raises EndsBroker."""
    if transactions is None:
        return True
    verdict = transaction_index(folder.read_whole(transactions) or b"", base_offset)
    if verdict is IndexVerdict.UNKNOWN:
        raise EndsBroker(f"{transactions}: an entry has a version that is not known")
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
