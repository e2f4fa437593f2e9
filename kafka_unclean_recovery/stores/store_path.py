"""A StorePath is where results go in a store: with the few methods of pathlib.Path that they need.

An object is there whole or not at all: it is made when its upload ends. Only hdfs shows a file that
is still written, so there it is written under another name.
"""

from __future__ import annotations

import errno
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from pyarrow import fs

from kafka_unclean_recovery.log_dir.tree import Unreadable
from kafka_unclean_recovery.shown import shown
from kafka_unclean_recovery.stores.connection import connected
from kafka_unclean_recovery.stores.location import parts_of
from kafka_unclean_recovery.stores.messages import why
from kafka_unclean_recovery.stores.store_folder import FAILURES, HDFS, StoreFolder
from kafka_unclean_recovery.stores.store_options import StoreOptions

_fs: Any = fs


@dataclass(frozen=True, slots=True)
class StorePath:
    """A path in a store. uri: as StoreLocation has it. Its methods raise OSError with the URI as
    its file name, and those that read FileNotFoundError where nothing is there."""

    uri: str
    options: StoreOptions = field(default_factory=StoreOptions)

    def __truediv__(self, name: str) -> StorePath:
        return StorePath(f"{self.uri}/{name}", self.options)

    def __str__(self) -> str:
        return shown(self.uri)

    @property
    def name(self) -> str:
        return self.uri.rpartition("/")[2]

    @property
    def parent(self) -> StorePath:
        return StorePath(self.uri.rpartition("/")[0], self.options)

    def exists(self) -> bool:
        """Return whether there is an object of this name, or any below it."""
        with self._store() as (filesystem, path):
            (info,) = filesystem.get_file_info([path])
        return bool(info.type != _fs.FileType.NotFound)

    def names(self, *, recursive: bool = False) -> list[str]:
        """Return the names of what lies below, sorted; with `recursive` the paths of all objects
        from here."""
        with self._store() as (filesystem, path):
            selector = _fs.FileSelector(path, allow_not_found=True, recursive=recursive)
            found = filesystem.get_file_info(selector)
        if not recursive:
            return sorted(str(info.base_name) for info in found)
        files = [info for info in found if info.type == _fs.FileType.File]
        # HDFS gives paths back as URIs.
        return sorted(str(info.path).partition(f"{path}/")[2] for info in files)

    def glob(self, pattern: str) -> Iterator[StorePath]:
        """Yield what lies directly below and has a name like this."""
        return (self / name for name in self.names() if fnmatchcase(name, pattern))

    def read_bytes(self) -> bytes:
        """Read the whole object, and never less without an error."""
        return self.read_end(None)

    def read_end(self, most: int | None) -> bytes:
        """Read the last `most` bytes, or all there are, and never less without an error."""
        if not self.exists():
            raise FileNotFoundError(errno.ENOENT, "nothing is there", self.uri)
        with self._store() as (filesystem, path):
            folder = StoreFolder(filesystem, path.rpartition("/")[0], self.parent.uri)
            with folder.opened(self.name) as file:
                length = file.size if most is None else min(most, file.size)
                return file.read_at(file.size - length, length) if length else b""

    def read_text(self, encoding: str = "utf-8") -> str:
        return self.read_bytes().decode(encoding)

    def write(self, made: Path) -> None:
        """Write what a local file holds, in place of what is there."""
        # Once it is open an upload ends with what was written so far, whatever ends this call.
        content = made.read_bytes()
        with self._store() as (filesystem, path):
            shows_parts = filesystem.type_name == HDFS
            target = f"{path}.{uuid.uuid4().hex}" if shows_parts else path
            with filesystem.open_output_stream(target) as sink:
                sink.write(content)
            if shows_parts:
                filesystem.move(target, path)
            (info,) = filesystem.get_file_info([path])
            if info.size != len(content):
                raise OSError(f"{info.size} bytes are there, of {len(content)} that were written")

    def copy_to(self, target: StorePath) -> None:
        """Copy an object, in place of what is there, within one store."""
        with self._store() as (filesystem, path), target._store() as (_, other):
            filesystem.copy_file(path, other)

    def unlink(self, *, missing_ok: bool = False) -> None:
        if missing_ok and not self.exists():
            return
        with self._store() as (filesystem, path):
            filesystem.delete_file(path)

    def remove_tree(self) -> None:
        """Remove all that lies below, if anything does."""
        with self._store() as (filesystem, path):
            filesystem.delete_dir_contents(path, missing_dir_ok=True)
            (info,) = filesystem.get_file_info([path])
            if info.type == _fs.FileType.Directory:
                filesystem.delete_dir(path)

    @contextmanager
    def _store(self) -> Iterator[tuple[Any, str]]:
        """Yield (a pyarrow filesystem, the path in it)."""
        scheme, authority, path = parts_of(self.uri)
        try:
            filesystem, base = connected(scheme, authority, self.options)
            yield filesystem, f"{base}{path}"
        except FileNotFoundError:
            raise
        except Unreadable as error:
            raise OSError(errno.EIO, str(error), self.uri) from None
        except FAILURES as error:
            raise OSError(errno.EIO, why(error), self.uri) from None
