"""A StoreFolder is a folder of an object store: it gets names and sizes by listing, contents by
ranged reads.

A key is no path to walk: names that a client would resolve (".", "..", none at all) are left out,
so that nothing leads out of the named folder.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pyarrow
from pyarrow import fs

from kafka_unclean_recovery.log_dir.tree import Entry, Unreadable, largest
from kafka_unclean_recovery.shown import shown
from kafka_unclean_recovery.stores.messages import why
from kafka_unclean_recovery.stores.read_ahead import Fetch, ReadAhead

_arrow: Any = pyarrow
_fs: Any = fs

FAILURES: tuple[type[Exception], ...] = (OSError, _arrow.ArrowException)
"""pyarrow.fs raises no other exceptions."""

# The store's client itself retries failed requests; these tries are for bodies that came short.
_TRIES = 3
# The marks may be any two bytes; few files are full of these.
_MARKS = (0xA5, 0x5A)
_NO_NAMES = frozenset(("", ".", ".."))

HDFS = "hdfs"
# A GCS listing of one folder leaves out folders, unless objects that stand for them were written.
_GCS = "gcs"

Listing = tuple[Entry, ...]
"""A Listing holds one folder's entries by name; an object and a folder may share a name."""


@dataclass(frozen=True, slots=True)
class StoreFile:
    """A file in a store, which is a Folder's OpenFile."""

    ahead: ReadAhead

    @property
    def size(self) -> int:
        return self.ahead.size

    def read_at(self, position: int, length: int) -> bytes:
        return self.ahead.read_at(position, length)


@dataclass(slots=True)
class StoreFolder:
    """A Folder in a store. filesystem: of pyarrow.fs. path: BUCKET/KEY, as pyarrow.fs has it.
    address: the folder's URI. A listed folder is not listed again: names and sizes are those of one
    moment."""

    filesystem: Any
    path: str
    address: str
    _below: Mapping[str, Listing] | None = None
    _listed: Listing | None = field(default=None, init=False)

    @property
    def identity(self) -> Hashable:
        return self.address

    def list_all(self) -> None:
        # A directory of HDFS is listed by one cheap call, however many entries lie below it.
        if self._below is None and self.filesystem.type_name != HDFS:
            self._below = self._listings(recursive=True)

    def entries(self) -> list[Entry]:
        return list(self._listing())

    @contextmanager
    def opened(self, name: str) -> Iterator[StoreFile]:
        path = self._path_of(name)
        try:
            file = self.filesystem.open_input_file(path)
        except FAILURES as error:
            raise Unreadable(f"{shown(name)}: {why(error)}") from None
        with file:
            size: int = file.size()
            self._must_be_as_listed(name, size)
            yield StoreFile(ReadAhead(_fetch(file, name), size))

    def _must_be_as_listed(self, name: str, size: int) -> None:
        for entry in self._listed or ():
            if entry.name == name and entry.is_file and entry.size != size:
                raise Unreadable(
                    f"{shown(name)}: it has {size} bytes, and was listed with {entry.size}:"
                    " somebody wrote it meanwhile"
                )

    @contextmanager
    def folder(self, name: str) -> Iterator[StoreFolder]:
        inside = None if self._below is None else _inside(self._below, name)
        yield StoreFolder(self.filesystem, self._path_of(name), f"{self.address}/{name}", inside)

    def read_whole(self, name: str) -> bytes | None:
        if not any(entry.name == name for entry in self._listing()):
            return None
        with self.opened(name) as file:
            if file.size > largest(name):
                raise Unreadable(f"{name}: {file.size} bytes is too large for what it should be")
            return file.read_at(0, file.size)

    def lock_holder(self, name: str) -> int | None:
        return None

    def _listing(self) -> Listing:
        if self._listed is None:
            if self.filesystem.type_name == _GCS:
                self.list_all()
            below = self._listings(recursive=False) if self._below is None else self._below
            if "" not in below:
                raise Unreadable("nothing lies there")
            self._listed = below[""]
        return self._listed

    def _listings(self, *, recursive: bool) -> dict[str, Listing]:
        """Return the listing of this folder, "", and with `recursive` those of all folders below it
        by their paths from here."""
        try:
            found = self.filesystem.get_file_info(_fs.FileSelector(self.path, recursive=recursive))
        except FileNotFoundError:
            return {}
        except FAILURES as error:
            raise Unreadable(why(error)) from None
        return _by_folder((self._from_here(info), info) for info in found)

    def _from_here(self, info: Any) -> str:
        if self.filesystem.type_name == HDFS:
            # HDFS gives paths back as URIs.
            return str(info.base_name)
        return str(info.path)[len(self.path) + 1 :]

    def _path_of(self, name: str) -> str:
        if name in _NO_NAMES or "/" in name:
            raise Unreadable(f"{shown(name)!r}: no name of a file")
        return f"{self.path}/{name}"


def _by_folder(found: Iterable[tuple[str, Any]]) -> dict[str, Listing]:
    """Return the listings by folder, from pairs of a path and pyarrow's FileInfo. Some stores name
    folders, others only the objects in them."""
    folders: dict[str, dict[tuple[str, bool], Entry]] = {"": {}}
    for path, info in found:
        *above, name = parts = path.split("/")
        if _NO_NAMES.intersection(parts):
            continue
        _add_folders(folders, above)
        if info.type == _fs.FileType.Directory:
            _add_folders(folders, parts)
        else:
            is_file = info.type == _fs.FileType.File
            entry = Entry(name, False, is_file, int(info.size or 0))
            folders["/".join(above)][name, False] = entry
    return {
        path: tuple(entry for _, entry in sorted(inside.items()))
        for path, inside in folders.items()
    }


def _add_folders(folders: dict[str, dict[tuple[str, bool], Entry]], parts: Sequence[str]) -> None:
    for depth, name in enumerate(parts):
        path = "/".join(parts[: depth + 1])
        if path not in folders:
            folders[path] = {}
            folders["/".join(parts[:depth])][name, True] = Entry(name, True, False, 0)


def _inside(below: Mapping[str, Listing], name: str) -> dict[str, Listing]:
    """Return the listings inside one of the folders, by their paths from there."""
    return {
        path[len(name) + 1 :]: listing
        for path, listing in below.items()
        if path == name or path.startswith(f"{name}/")
    }


def _fetch(file: Any, name: str) -> Fetch:
    """Return a Fetch of a file, which asks again for a body that came short."""

    def fetch(position: int, length: int) -> bytes:
        for _ in range(_TRIES):
            try:
                data = _read(file, position, length)
            except FAILURES as error:
                raise Unreadable(f"{shown(name)}: byte {position}: {why(error)}") from None
            if data is not None:
                return data
        raise Unreadable(f"{shown(name)}: byte {position}: less than {length} bytes came")

    return fetch


def _read(file: Any, position: int, length: int) -> bytes | None:
    """Read bytes, or return None when fewer came. pyarrow's S3 does not tell: the missing part of a
    buffer stays as it was, whatever it holds, and all of it counts as read. So the last byte is set
    beforehand, and if it is the same afterwards another value is tried."""
    for mark in _MARKS:
        buffer = bytearray(length)
        buffer[-1] = mark
        file.seek(position)
        if file.readinto(buffer) != length:
            return None
        if buffer[-1] != mark:
            return bytes(buffer)
    return None
