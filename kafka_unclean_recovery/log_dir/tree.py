"""What lies in a log directory, wherever that is: on a disk of this machine, or elsewhere.

Whoever opens it (local_folder.py for disks) sees to it that nothing is written, that no link is
followed, that nothing but plain files is read, and that nothing hangs.
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
# The largest file that is ever read whole: a checkpoint of some hundred thousand partitions.
WHOLE_FILE_LIMIT = 64 << 20
_DEEPEST = 4
# A broker has these in each of its log directories, and nothing else has.
_OF_A_LOG_DIRECTORY = (
    checkpoints.HIGH_WATERMARKS,
    checkpoints.RECOVERY_POINTS,
    checkpoints.LOG_STARTS,
)


class Unreadable(Exception):
    """A file or directory can't be read; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A name in a folder, as whoever keeps it has it, for `opened` and `folder` to take back.

    link: that is what it is, and it leads to a directory, or nowhere. target: the identity of that
    directory, None where it leads nowhere."""

    name: str
    is_directory: bool
    is_file: bool
    size: int
    link: bool = False
    target: Hashable = None


class OpenFile(Protocol):
    """A plain file. size: in bytes, when it was opened."""

    @property
    def size(self) -> int: ...

    def read_at(self, position: int, length: int) -> bytes:
        """Up to that many bytes from there, none only at the end of the file. Raises Unreadable."""
        ...


class Folder(Protocol):
    """An open directory; names are of what lies in it. Everything raises Unreadable."""

    @property
    def identity(self) -> Hashable:
        """The same for one directory, whichever way leads to it."""
        ...

    def entries(self) -> list[Entry]:
        """What lies in it, by name; links are neither files nor directories here."""
        ...

    def list_all(self) -> None:
        """What lies in all folders below it will be asked for: where every listing is a request,
        one is made for all of them."""
        ...

    def opened(self, name: str) -> AbstractContextManager[OpenFile]:
        """A plain file."""
        ...

    def folder(self, name: str) -> AbstractContextManager[Folder]:
        """A directory."""
        ...

    def read_whole(self, name: str) -> bytes | None:
        """A small file (WHOLE_FILE_LIMIT), or None when there is none."""
        ...

    def lock_holder(self, name: str) -> int | None:
        """The process that holds a lock on this file; None too where that can't be told."""
        ...


class Location(Protocol):
    """Where a directory is, to open it by, in another process too. As text it is fit to print."""

    def open(self) -> AbstractContextManager[Folder]:
        """Raises Unreadable."""
        ...

    def __truediv__(self, name: str) -> Location: ...


@dataclass(slots=True)
class Below:
    """What was found at or below a root: log directories by their identity, sentences on what could
    not be looked at, and on links, which are never followed, by the identity of the directory that
    each leads to: where that is found otherwise, nothing is left out."""

    found: dict[Hashable, Location] = field(default_factory=dict)
    complaints: dict[str, None] = field(default_factory=dict)
    links: dict[Hashable, str] = field(default_factory=dict)
    seen: set[Hashable] = field(default_factory=set)


def log_directories(root: Location) -> Below:
    """Log directories at or below `root`, each known by its meta.properties. `root` itself may be
    one: then nothing below it is looked for."""
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
    """Why this is a log directory, or a replica's, that nobody can tell the broker of."""
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
    """A file name fit to print; what is not UTF-8 is escaped."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
