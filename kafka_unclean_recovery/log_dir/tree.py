"""Opening what lies in a log directory: read-only, no symlink followed, nothing but plain files.

Everything is opened relative to an open directory, so that a path swapped under us leads nowhere,
and without blocking, so that a FIFO named .log does not hang the scan.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

META_PROPERTIES = "meta.properties"
_DEEPEST = 4
_READ_ONLY = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
# The largest file that is ever read whole: a checkpoint of some hundred thousand partitions.
_WHOLE_FILE_LIMIT = 64 << 20


class Unreadable(Exception):
    """A file or directory can't be read; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A name in a directory. `name` is as the file system has it, for `os.open` to take back."""

    name: str
    is_directory: bool
    is_file: bool
    size: int


@contextmanager
def open_directory(path: Path | str, within: int | None = None) -> Iterator[int]:
    """A descriptor of the directory. Only the outermost path, which the user named, may be a
    symlink. Raises Unreadable."""
    flags = _READ_ONLY if within is not None else _READ_ONLY & ~os.O_NOFOLLOW
    try:
        descriptor = os.open(path, flags | os.O_DIRECTORY, dir_fd=within)
    except OSError as error:
        raise Unreadable(f"{printable(path)}: {error.strerror}") from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def open_file(directory: int, name: str) -> Iterator[int]:
    """A descriptor of a plain file in the directory. Raises Unreadable."""
    try:
        descriptor = os.open(name, _READ_ONLY, dir_fd=directory)
    except OSError as error:
        raise Unreadable(f"{printable(name)}: {error.strerror}") from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Unreadable(f"{printable(name)}: not a plain file")
        yield descriptor
    finally:
        os.close(descriptor)


def entries(directory: int) -> list[Entry]:
    """What lies in the directory, by name; symlinks are neither files nor directories here."""
    try:
        with os.scandir(directory) as found:
            return sorted((_entry(e) for e in found), key=lambda e: os.fsencode(e.name))
    except OSError as error:
        raise Unreadable(str(error.strerror)) from None


def _entry(entry: os.DirEntry[str]) -> Entry:
    directory = entry.is_dir(follow_symlinks=False)
    file = entry.is_file(follow_symlinks=False)
    size = entry.stat(follow_symlinks=False).st_size if file else 0
    return Entry(entry.name, directory, file, size)


def read_whole(directory: int, name: str) -> bytes | None:
    """A small file, or None when there is none. Raises Unreadable."""
    try:
        with open_file(directory, name) as descriptor:
            return _read_at(descriptor, 0, _plausible_size(descriptor, name))
    except Unreadable:
        if not _exists(directory, name):
            return None
        raise
    except OSError as error:
        raise Unreadable(f"{name}: {error.strerror}") from None


def _plausible_size(descriptor: int, name: str) -> int:
    size = os.fstat(descriptor).st_size
    if size > _WHOLE_FILE_LIMIT:
        raise Unreadable(f"{name}: {size} bytes is too large for what it should be")
    return size


def _exists(directory: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return True


def _read_at(descriptor: int, position: int, length: int) -> bytes:
    parts = []
    while length > 0:
        part = os.pread(descriptor, length, position)
        if not part:
            break
        parts.append(part)
        position += len(part)
        length -= len(part)
    return b"".join(parts)


def log_directories(root: Path) -> tuple[list[Path], list[str]]:
    """(log directories at or below `root`, each known by its meta.properties; what could not be
    looked at). `root` itself may be one: then nothing below it is looked for."""
    found: list[Path] = []
    complaints: list[str] = []
    _search(root, None, 0, found, complaints)
    return found, complaints


def _search(
    path: Path, within: int | None, depth: int, found: list[Path], complaints: list[str]
) -> None:
    try:
        with open_directory(path if within is None else path.name, within) as descriptor:
            inside = entries(descriptor)
            if any(e.name == META_PROPERTIES and e.is_file for e in inside):
                found.append(path)
            elif depth < _DEEPEST:
                for entry in inside:
                    if entry.is_directory:
                        _search(path / entry.name, descriptor, depth + 1, found, complaints)
    except Unreadable as error:
        complaints.append(f"{printable(path)}: {error}")


def printable(name: Path | str) -> str:
    """A file name fit to print; what is not UTF-8 is escaped."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
