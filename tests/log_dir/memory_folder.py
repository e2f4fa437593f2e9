"""Directories that lie on no disk, to scan what no disk of this machine holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kafka_unclean_recovery.log_dir.tree import Entry, Unreadable

Tree = Mapping[str, "bytes | Tree"]
"""Contents of files and directories by name."""


@dataclass(frozen=True)
class MemoryFile:
    content: bytes

    @property
    def size(self) -> int:
        return len(self.content)

    def read_at(self, position: int, length: int) -> bytes:
        return self.content[position : position + length]


@dataclass(frozen=True)
class MemoryFolder:
    inside: Tree

    @property
    def identity(self) -> int:
        return id(self.inside)

    def entries(self) -> list[Entry]:
        return [
            Entry(name, False, True, len(found))
            if isinstance(found, bytes)
            else Entry(name, True, False, 0)
            for name, found in sorted(self.inside.items())
        ]

    def list_all(self) -> None:
        pass

    @contextmanager
    def opened(self, name: str) -> Iterator[MemoryFile]:
        content = self.inside.get(name)
        if not isinstance(content, bytes):
            raise Unreadable(f"{name}: no such file")
        yield MemoryFile(content)

    @contextmanager
    def folder(self, name: str) -> Iterator[MemoryFolder]:
        inside = self.inside.get(name)
        if inside is None or isinstance(inside, bytes):
            raise Unreadable(f"{name}: no such directory")
        yield MemoryFolder(inside)

    def read_whole(self, name: str) -> bytes | None:
        content = self.inside.get(name)
        if content is not None and not isinstance(content, bytes):
            raise Unreadable(f"{name}: not a plain file")
        return content

    def lock_holder(self, name: str) -> int | None:
        return None


@dataclass(frozen=True)
class MemoryLocation:
    """A directory of `tree`; equal to none but itself."""

    tree: Tree
    path: tuple[str, ...] = ()

    @contextmanager
    def open(self) -> Iterator[MemoryFolder]:
        at = MemoryFolder(self.tree)
        for name in self.path:
            with at.folder(name) as below:
                at = below
        yield at

    def __truediv__(self, name: str) -> MemoryLocation:
        return MemoryLocation(self.tree, (*self.path, name))

    def __str__(self) -> str:
        return "/".join(("memory", *self.path))

    def __hash__(self) -> int:
        return hash(self.path)


def tree_of(path: Path) -> Tree:
    """Return what lies below a directory of this machine."""
    return {
        entry.name: tree_of(entry) if entry.is_dir() else entry.read_bytes()
        for entry in path.iterdir()
    }
