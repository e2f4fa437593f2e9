"""Find the copies of the metadata log in directories that the user named, and open their files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from kafka_unclean_recovery.log_dir.metadata import newest
from kafka_unclean_recovery.log_dir.metadata.batches import MetadataFile
from kafka_unclean_recovery.log_dir.metadata.newest import CLUSTER_METADATA
from kafka_unclean_recovery.log_dir.small_files.quorum_state import QUORUM_STATE
from kafka_unclean_recovery.log_dir.tree import (
    META_PROPERTIES,
    Folder,
    Location,
    Unreadable,
    log_directories,
)


@dataclass(frozen=True, slots=True)
class CopyPlace:
    """The place of a copy. `within` is the log directory that holds `__cluster_metadata-0`, or the
    metadata directory itself where the user named that alone."""

    within: Location
    alone: bool = False

    def __str__(self) -> str:
        return str(self.within if self.alone else self.within / CLUSTER_METADATA)


@dataclass(frozen=True, slots=True)
class FoundCopies:
    """places: of copies, in the order of the directories named. log_directories: all of them, with
    a copy or without. problems: sentences on what could not be read."""

    places: tuple[CopyPlace, ...]
    log_directories: tuple[Location, ...]
    problems: tuple[str, ...]


def find(roots: Sequence[Location]) -> FoundCopies:
    """Find the copies at and below these directories. A directory is a metadata directory by its
    files, or a log directory by its meta.properties."""
    places: dict[object, CopyPlace] = {}
    directories: dict[object, Location] = {}
    problems: list[str] = []
    for root in roots:
        try:
            with root.open() as folder:
                if _is_metadata(folder):
                    places.setdefault(folder.identity, CopyPlace(root, alone=True))
                    continue
        except Unreadable as error:
            problems.append(f"{root}: {error}")
            continue
        below = log_directories(root)
        directories |= below.found
        problems += [*below.complaints, *below.links.values()]
    for location in directories.values():
        _add(location, places, problems)
    return FoundCopies(tuple(places.values()), tuple(directories.values()), tuple(problems))


def _is_metadata(folder: Folder) -> bool:
    names = {entry.name for entry in folder.entries() if entry.is_file}
    if META_PROPERTIES in names:
        return False
    return QUORUM_STATE in names or any(name.endswith(".checkpoint") for name in names)


def _add(location: Location, places: dict[object, CopyPlace], problems: list[str]) -> None:
    """Add the copy in this log directory, if there is one: a broker has it in one of several."""
    try:
        with location.open() as folder:
            if any(e.name == CLUSTER_METADATA and e.is_directory for e in folder.entries()):
                with folder.folder(CLUSTER_METADATA) as inner:
                    places.setdefault(inner.identity, CopyPlace(location))
    except Unreadable as error:
        problems.append(f"{location}: {error}")


@contextmanager
def opened(place: CopyPlace) -> Iterator[Folder]:
    """Open the metadata directory. Raises Unreadable."""
    with ExitStack() as stack:
        folder = stack.enter_context(place.within.open())
        if not place.alone:
            folder = stack.enter_context(folder.folder(CLUSTER_METADATA))
        yield folder


@contextmanager
def metadata_files(place: CopyPlace) -> Iterator[list[MetadataFile]]:
    """Open the segments and snapshots of a copy, by name. Raises Unreadable."""
    with opened(place) as folder, newest.metadata_files(folder) as found:
        yield found
