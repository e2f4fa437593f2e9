"""Read directories of this machine: read-only, no symlink followed, only plain files.

Everything is opened relative to an open directory, so that a path swapped under us leads nowhere,
and without blocking, so that a FIFO named .log does not hang the scan.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import struct
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from kafka_unclean_recovery.log_dir.tree import (
    Entry,
    Unreadable,
    largest,
    printable,
)

_READ_ONLY = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
# The layout is struct flock of Linux on 64 bits: type, whence, start, length, process.
_FLOCK = struct.Struct("hhqqi4x")


@dataclass(frozen=True, slots=True)
class LocalLocation:
    """A path that the user named, or a path below one."""

    path: Path

    def open(self) -> LocalFolder:
        """Open the directory; only this path, which the user named, may be a symlink.

        Raises Unreadable.
        """
        return LocalFolder(_open(self.path, _READ_ONLY & ~os.O_NOFOLLOW | os.O_DIRECTORY))

    def __truediv__(self, name: str) -> LocalLocation:
        return LocalLocation(self.path / name)

    def __str__(self) -> str:
        return printable(self.path)


@dataclass(frozen=True, slots=True)
class LocalFile:
    """An OpenFile (tree.py) of this machine, closed by whoever leaves it."""

    descriptor: int
    name: str
    size: int

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.descriptor)

    def read_at(self, position: int, length: int) -> bytes:
        try:
            return os.pread(self.descriptor, length, position)
        except OSError as error:
            where = f"{printable(self.name)}: byte {position}"
            raise Unreadable(f"{where}: {error.strerror}") from None

    def next_data(self, position: int) -> int:
        """Return where data is written next, from this position on: a hole reads as zeros, and a
        file of some blocks may have holes of terabytes."""
        try:
            return os.lseek(self.descriptor, position, os.SEEK_DATA)
        except OSError as error:
            return self.size if error.errno == errno.ENXIO else position


@dataclass(frozen=True, slots=True)
class LocalFolder:
    """A Folder (tree.py) of this machine, by its open descriptor, closed by whoever leaves it."""

    descriptor: int

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.descriptor)

    @property
    def identity(self) -> Hashable:
        """Return device and inode: bind mounts and symlinks lead to the same directory."""
        status = os.fstat(self.descriptor)
        return status.st_dev, status.st_ino

    def entries(self) -> list[Entry]:
        try:
            with os.scandir(self.descriptor) as found:
                return sorted((_entry(e) for e in found), key=lambda e: os.fsencode(e.name))
        except OSError as error:
            raise Unreadable(str(error.strerror)) from None

    def list_all(self) -> None:
        """Do nothing, because listing a local directory costs no request."""

    def opened(self, name: str) -> LocalFile:
        descriptor = _open(name, _READ_ONLY, self.descriptor)
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            os.close(descriptor)
            raise Unreadable(f"{printable(name)}: not a plain file")
        return LocalFile(descriptor, name, status.st_size)

    def folder(self, name: str) -> LocalFolder:
        return LocalFolder(_open(name, _READ_ONLY | os.O_DIRECTORY, self.descriptor))

    def read_whole(self, name: str) -> bytes | None:
        try:
            with self.opened(name) as file:
                return _whole(file)
        except Unreadable:
            if not self._exists(name):
                return None
            raise

    def _exists(self, name: str) -> bool:
        try:
            os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return False
        except OSError:
            return True
        return True

    def lock_holder(self, name: str) -> int | None:
        """Return the process that locks the file with fcntl; a dead process holds no lock."""
        try:
            with self.opened(name) as file:
                question = _FLOCK.pack(fcntl.F_WRLCK, 0, 0, 0, 0)
                answer = fcntl.fcntl(file.descriptor, fcntl.F_GETLK, question)
        except (Unreadable, OSError):
            return None
        kind, _, _, _, process = _FLOCK.unpack(answer)
        return None if kind == fcntl.F_UNLCK else process


def _open(name: Path | str, flags: int, within: int | None = None) -> int:
    try:
        return os.open(name, flags, dir_fd=within)
    except OSError as error:
        raise Unreadable(f"{printable(name)}: {error.strerror}") from None


def _entry(entry: os.DirEntry[str]) -> Entry:
    directory = entry.is_dir(follow_symlinks=False)
    file = entry.is_file(follow_symlinks=False)
    if entry.is_symlink():
        return _link(entry)
    size = entry.stat(follow_symlinks=False).st_size if file else 0
    return Entry(entry.name, directory, file, size)


def _link(entry: os.DirEntry[str]) -> Entry:
    """Return the entry of a symlink; the directory it leads to is not read."""
    try:
        status = entry.stat()
    except OSError:
        return Entry(entry.name, is_directory=False, is_file=False, size=0, link=True)
    leads = stat.S_ISDIR(status.st_mode)
    target = (status.st_dev, status.st_ino) if leads else None
    return Entry(entry.name, is_directory=False, is_file=False, size=0, link=leads, target=target)


def _whole(file: LocalFile) -> bytes:
    if file.size > largest(file.name):
        raise Unreadable(f"{file.name}: {file.size} bytes is too large for what it should be")
    parts: list[bytes] = []
    position = 0
    while position < file.size and (part := file.read_at(position, file.size - position)):
        parts.append(part)
        position += len(part)
    return b"".join(parts)
