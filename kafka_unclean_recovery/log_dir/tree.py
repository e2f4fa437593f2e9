"""What lies in a log directory, wherever that is: on a disk of this machine, or elsewhere.

Whoever opens it (local_folder.py for disks) sees to it that nothing is written, that no link is
followed, that nothing but plain files is read, and that nothing hangs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

META_PROPERTIES = "meta.properties"
# The largest file that is ever read whole: a checkpoint of some hundred thousand partitions.
WHOLE_FILE_LIMIT = 64 << 20
_DEEPEST = 4


class Unreadable(Exception):
    """A file or directory can't be read; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A name in a folder, as whoever keeps it has it, for `opened` and `folder` to take back."""

    name: str
    is_directory: bool
    is_file: bool
    size: int


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


def log_directories(root: Location) -> tuple[dict[Hashable, Location], list[str]]:
    """(log directories at or below `root` by their identity, each known by its meta.properties;
    what could not be looked at). `root` itself may be one: then nothing below it is looked for."""
    found: dict[Hashable, Location] = {}
    complaints: list[str] = []
    _search(root, root.open, 0, found, complaints)
    return found, complaints


def _search(
    at: Location,
    opened: Callable[[], AbstractContextManager[Folder]],
    depth: int,
    found: dict[Hashable, Location],
    complaints: list[str],
) -> None:
    try:
        with opened() as folder:
            inside = folder.entries()
            if any(e.name == META_PROPERTIES and e.is_file for e in inside):
                found.setdefault(folder.identity, at)
            elif depth < _DEEPEST:
                for entry in inside:
                    if entry.is_directory:
                        below = partial(folder.folder, entry.name)
                        _search(at / entry.name, below, depth + 1, found, complaints)
    except Unreadable as error:
        complaints.append(f"{at}: {error}")


def printable(name: Path | str) -> str:
    """A file name fit to print; what is not UTF-8 is escaped."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
