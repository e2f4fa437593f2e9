"""Read all copies of the metadata log, rank them, and compare each with the best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.metadata.image import MetadataImage
from kafka_unclean_recovery.log_dir.tree import Location, Unreadable
from kafka_unclean_recovery.quorum.copies import Copy, read_copy
from kafka_unclean_recovery.quorum.gap import described
from kafka_unclean_recovery.quorum.parting import Parting, Relation, log_batches, parting
from kafka_unclean_recovery.quorum.places import find, metadata_files


@dataclass(frozen=True, slots=True)
class Compared:
    """A copy beside the best one. `lacks` says what the best copy does beyond it, `beyond` what it
    does beyond the best copy."""

    copy: Copy
    parting: Parting
    lacks: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Survey:
    """All copies that could be read. `best` is the sound copy with the greatest (last epoch, end
    offset), `image` the state of the cluster that it has; both None where no copy is sound.
    `others` come best first. `problems` are sentences on what could not be read, `unread` those of
    them on copies, any of which may go further than the best."""

    best: Copy | None
    image: MetadataImage
    others: tuple[Compared, ...]
    log_directories: tuple[Location, ...]
    problems: tuple[str, ...]
    unread: tuple[str, ...] = ()

    @property
    def copies(self) -> tuple[Copy, ...]:
        return (*((self.best,) if self.best else ()), *(other.copy for other in self.others))


def survey(roots: Sequence[Location], say: Callable[[str], None]) -> Survey:
    """Read every copy at or below the roots. `say` hears which is being read; only one image more
    than the best is in memory at a time."""
    found = find(roots)
    unread: list[str] = []
    copies: list[Copy] = []
    best: Copy | None = None
    image = MetadataImage()
    for place in found.places:
        say(f"reading {place}")
        try:
            copy, held = read_copy(place)
        except (BadFormat, Unreadable) as error:
            unread.append(f"{place}: {error}")
            continue
        copies.append(copy)
        sound = copy.end.damage is None and copy.last_epoch >= 0
        if sound and (best is None or _rank(copy) > _rank(best)):
            best, image = copy, held
    rest = sorted((copy for copy in copies if copy is not best), key=_rank, reverse=True)
    others: list[Compared] = []
    for copy in rest:
        try:
            others.append(_compared(best, copy, image, say))
        except Unreadable as error:
            # It was there a moment ago.
            unread.append(f"{copy.place}: {error}")
    problems = (*found.problems, *unread)
    return Survey(best, image, tuple(others), found.log_directories, problems, tuple(unread))


def _rank(copy: Copy) -> tuple[int, int, bool]:
    """Return the rank: of equal copies one that no process holds comes first."""
    return (*copy.authority, copy.held_by is None)


def _compared(
    best: Copy | None, copy: Copy, image: MetadataImage, say: Callable[[str], None]
) -> Compared:
    if best is None:
        return Compared(copy, Parting(Relation.NOT_COMPARED, 0))
    say(f"comparing {copy.place}")
    with ExitStack() as stack:
        mine, its = (stack.enter_context(metadata_files(each.place)) for each in (best, copy))
        found = parting(mine, best.end_offset, its, copy.end_offset)
        compared = found.relation is not Relation.NOT_COMPARED
        start = found.offset if compared else copy.end_offset
        lacks = described(log_batches(mine, best.end_offset, start), image)
        beyond = described(log_batches(its, copy.end_offset, start), image)
    return Compared(copy, found, lacks, beyond if compared else ())
