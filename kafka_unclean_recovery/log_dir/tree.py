"""Find log directories in a tree of folders, on a disk of this machine or elsewhere.

The implementation of the protocols (local_folder.py for disks) makes sure that nothing is written,
that no link is followed, that only plain files are read, and that nothing hangs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

from kafka_unclean_recovery.log_dir.directory_names import segment_base_offset
from kafka_unclean_recovery.log_dir.small_files import checkpoints

META_PROPERTIES = "meta.properties"
# The largest file that is ever read whole is a checkpoint of some hundred thousand partitions; some
# files have a few lines.
WHOLE_FILE_LIMIT, FEW_LINES_LIMIT = 64 << 20, 1 << 20
_FEW_LINES = frozenset(
    {META_PROPERTIES, "partition.metadata", "quorum-state", ".kafka_cleanshutdown"}
)
_DEEPEST = 4
# A broker has these files in each of its log directories, and no other directory has them.
_OF_A_LOG_DIRECTORY = (
    checkpoints.HIGH_WATERMARKS,
    checkpoints.RECOVERY_POINTS,
    checkpoints.LOG_STARTS,
)


def largest(name: str) -> int:
    """Return how many bytes a file of this name may have to be read whole."""
    return FEW_LINES_LIMIT if name in _FEW_LINES else WHOLE_FILE_LIMIT


class Unreadable(Exception):
    """A file or directory can't be read; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A name in a folder, in the folder's own spelling, which `opened` and `folder` take.

    link: the entry is a link that leads to a directory, or nowhere. target: the identity of that
    directory, None where the link leads nowhere.
    """

    name: str
    is_directory: bool
    is_file: bool
    size: int
    link: bool = False
    target: Hashable = None


class OpenFile(Protocol):
    """A plain file that is open. size: in bytes, when it was opened."""

    @property
    def size(self) -> int: ...

    def read_at(self, position: int, length: int) -> bytes:
        """Return up to `length` bytes, none only at the end of the file. Raises Unreadable."""
        ...


class Folder(Protocol):
    """An open directory; its methods take names of its entries. Every method raises Unreadable."""

    @property
    def identity(self) -> Hashable:
        """Return a value that is the same for one directory, whichever way leads to it."""
        ...

    def entries(self) -> list[Entry]:
        """Return the entries by name; links count neither as files nor as directories."""
        ...

    def list_all(self) -> None:
        """Announce that the entries of all folders below will be asked for: where every listing is
        a request, one request is made for all of them."""
        ...

    def opened(self, name: str) -> AbstractContextManager[OpenFile]:
        """Open a plain file."""
        ...

    def folder(self, name: str) -> AbstractContextManager[Folder]:
        """Open a directory."""
        ...

    def read_whole(self, name: str) -> bytes | None:
        """Return a small file (see `largest`), or None when there is none."""
        ...

    def lock_holder(self, name: str) -> int | None:
        """Return the process that holds a lock on this file; None also where it can't be told."""
        ...


class Location(Protocol):
    """The place of a directory, from which any process can open it. Its text is fit to print."""

    def open(self) -> AbstractContextManager[Folder]:
        """Open the directory. Raises Unreadable."""
        ...

    def __truediv__(self, name: str) -> Location: ...


@dataclass(slots=True)
class Below:
    """The finds at or below a root. found: log directories by their identity. complaints: sentences
    on what could not be read. links: sentences on links, which are never followed, by the identity
    of the directory that each leads to; if that directory is found another way, nothing is left
    out."""

    found: dict[Hashable, Location] = field(default_factory=dict)
    complaints: dict[str, None] = field(default_factory=dict)
    links: dict[Hashable, str] = field(default_factory=dict)
    seen: set[Hashable] = field(default_factory=set)


def log_directories(root: Location) -> Below:
    """Find the log directories at or below `root`, each known by its meta.properties. If `root`
    itself is one, nothing below it is searched."""
    below = Below()
    _search(root, root.open, 0, below)
    below.links = {at: said for at, said in below.links.items() if at not in below.seen}
    return below


def _search(
    at: Location, opened: Callable[[], AbstractContextManager[Folder]], depth: int, below: Below
) -> None:
    try:
        with opened() as folder:
            inside = folder.entries()
            below.seen.add(folder.identity)
            if any(e.name == META_PROPERTIES and e.is_file for e in inside):
                below.found.setdefault(folder.identity, at)
            elif (odd := _nobodys(inside)) is not None:
                below.complaints[f"{at}: {odd}"] = None
            else:
                _name_links(at, inside, below)
                for entry in inside if depth < _DEEPEST else ():
                    if entry.is_directory:
                        inner = partial(folder.folder, entry.name)
                        _search(at / entry.name, inner, depth + 1, below)
    except Unreadable as error:
        below.complaints[f"{at}: {error}"] = None


def _nobodys(inside: Sequence[Entry]) -> str | None:
    """Return why the broker of this log directory, or replica, can't be told, or None."""
    names = {entry.name for entry in inside}
    if META_PROPERTIES in names:
        return f"{META_PROPERTIES} is no plain file (a symlink is never followed)"
    if held := next((name for name in _OF_A_LOG_DIRECTORY if name in names), None):
        return f"it has {held}, as log directories have, and no {META_PROPERTIES}"
    if any(segment_base_offset(name) is not None for name in names):
        return f"it holds segments, and the directory above it has no {META_PROPERTIES}"
    return None


def _name_links(at: Location, inside: Sequence[Entry], below: Below) -> None:
    for entry in inside:
        if not entry.link:
            continue
        where = at / entry.name
        if entry.target is None:
            below.complaints[f"{where}: a symlink that leads nowhere"] = None
        else:
            below.links[entry.target] = (
                f"{where}: a symlink, which is never followed: name where it leads"
            )


def printable(name: Path | str) -> str:
    """Return a file name fit to print; bytes that are not UTF-8 are escaped."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
