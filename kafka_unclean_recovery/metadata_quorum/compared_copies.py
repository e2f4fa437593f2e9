"""Read all copies of the metadata log, rank them, and compare each with the best."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.metadata.cluster_metadata import segments_of
from kafka_unclean_recovery.log_dir.metadata.image import MetadataImage
from kafka_unclean_recovery.log_dir.metadata.parting import Parting, Relation, log_batches, parting
from kafka_unclean_recovery.log_dir.small_files.properties_files import (
    META_PROPERTIES,
    MetaProperties,
    parse_meta_properties,
)
from kafka_unclean_recovery.log_dir.tree import Location, Unreadable
from kafka_unclean_recovery.metadata_quorum.alike import alike
from kafka_unclean_recovery.metadata_quorum.copies import Copy, read_copy
from kafka_unclean_recovery.metadata_quorum.gap import described
from kafka_unclean_recovery.metadata_quorum.places import CopyPlace, find, metadata_files


@dataclass(frozen=True, slots=True)
class Compared:
    """A copy beside the best one. `lacks` says what the best copy does beyond it, `beyond` what it
    does beyond the best copy."""

    copy: Copy
    parting: Parting
    lacks: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Copies:
    """All copies that could be read. `best` is the sound copy with the greatest (last epoch, end
    offset), `image` the state of the cluster that it has; None where no copy is sound. One at whose
    records a controller would die is not sound.
    `others` come best first. `problems` are sentences on what could not be read, `unread` those of
    them on copies, any of which may go further than the best. `without_copy` are log directories of
    nodes of which no copy was read, with their meta.properties."""

    best: Copy | None
    image: MetadataImage
    others: tuple[Compared, ...]
    log_directories: tuple[Location, ...]
    problems: tuple[str, ...]
    unread: tuple[str, ...] = ()
    without_copy: tuple[tuple[Location, MetaProperties], ...] = ()

    @property
    def copies(self) -> tuple[Copy, ...]:
        return (*((self.best,) if self.best else ()), *(other.copy for other in self.others))


def compared_copies(roots: Sequence[Location], say: Callable[[str], None]) -> Copies:
    """Read every copy at or below the roots. `say` hears which is being read; only one image more
    than the best is in memory at a time."""
    found = find(roots)
    unread: list[str] = []
    copies: list[Copy] = []
    bases: list[Copy | None] = []
    best: Copy | None = None
    image = MetadataImage()
    for place in sorted(found.places, key=_log_size, reverse=True):
        say(f"reading {place}")
        try:
            # What is the beginning of the best can't be better, and has no image of its own.
            known = None if best is None else alike(place, best)
            copy, held = read_copy(place) if known is None else (known, image)
            bases.append(None if known is None else best)
        except (BadFormat, Unreadable) as error:
            unread.append(f"{place}: {error}")
            continue
        copies.append(copy)
        if copy.sound and (best is None or _rank(copy) > _rank(best)):
            best, image = copy, held
    begin = {id(c) for c, base in zip(copies, bases, strict=True) if base and base is best}
    rest = sorted((copy for copy in copies if copy is not best), key=_rank, reverse=True)
    others: list[Compared] = []
    for copy in rest:
        try:
            others.append(_compared(best, copy, image, say, begins=id(copy) in begin))
        except Unreadable as error:
            # It was there a moment ago.
            unread.append(f"{copy.place}: {error}")
    problems = (*found.problems, *unread)
    without = tuple(_without_copy(found.log_directories, {copy.node for copy in copies}))
    directories = found.log_directories
    return Copies(best, image, tuple(others), directories, problems, tuple(unread), without)


def _without_copy(
    directories: Sequence[Location], read: Container[int | None]
) -> Iterator[tuple[Location, MetaProperties]]:
    for location in directories:
        # A directory that can't be read is told where its replicas are looked at.
        with suppress(BadFormat, Unreadable), location.open() as folder:
            owner = parse_meta_properties(folder.read_whole(META_PROPERTIES) or b"")
            if owner.node_id not in read:
                yield location, owner


def _log_size(place: CopyPlace) -> int:
    """Return the log's size in bytes: the longest is read first, of which others are a part."""
    try:
        with metadata_files(place) as files:
            return sum(file.size for _, file in segments_of(files))
    except Unreadable:
        return 0


def _rank(copy: Copy) -> tuple[int, int, bool]:
    """Return the rank: of equal copies one that no process holds comes first."""
    return (*copy.authority, copy.held_by is None)


def _compared(
    best: Copy | None,
    copy: Copy,
    image: MetadataImage,
    say: Callable[[str], None],
    *,
    begins: bool,
) -> Compared:
    """Compare a copy with the best. begins: it is known to be the beginning of it."""
    if best is None:
        return Compared(copy, Parting(Relation.NOT_COMPARED, 0))
    say(f"comparing {copy.place}")
    with ExitStack() as stack:
        mine, its = (stack.enter_context(metadata_files(each.place)) for each in (best, copy))
        if begins:
            whole = copy.end_offset == best.end_offset
            found = Parting(Relation.SAME if whole else Relation.PREFIX, copy.end_offset)
        else:
            found = parting(mine, best.end_offset, its, copy.end_offset)
            found = _in_one_history(found, best, copy)
        compared = found.relation is not Relation.NOT_COMPARED
        start = found.offset if compared else copy.end_offset
        lacks = described(log_batches(mine, best.end_offset, start), image)
        beyond = described(log_batches(its, copy.end_offset, start), image)
    return Compared(copy, found, lacks, beyond if compared else ())


def _in_one_history(found: Parting, best: Copy, copy: Copy) -> Parting:
    """Return the parting, or another history where a checkpoint disagrees with the best copy: what
    a checkpoint holds was committed, and never given up."""
    committed = 0 if copy.snapshot is None else copy.snapshot.offset
    part = found.relation is Relation.GIVEN_UP and found.offset < best.end_offset
    if part and committed > found.offset:
        return Parting(Relation.OTHER_HISTORY, found.offset)
    return found
