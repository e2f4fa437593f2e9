"""Files that commands create: complete, synced to the disk, never in the place of another."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from kafka_unclean_recovery.errors import usage
from kafka_unclean_recovery.files.private_files import private


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file to create. flag: that which names it in messages."""

    path: Path
    flag: str
    chunks: Iterable[str]


def write_new(path: Path, text: str, flag: str) -> None:
    """Create the file, or leave nothing. Raises Exit(2)."""
    write_new_files([NewFile(path, flag, [text])])


def write_new_files(files: Sequence[NewFile]) -> None:
    """Create all of the files, or leave none: no name is taken before each file is complete, so
    that a run that was killed can be run again. An exception of `chunks` leaves nothing either.
    Raises Exit(2)."""
    with ExitStack() as undo:
        partials = [_complete(file, undo) for file in files]
        for file, partial in zip(files, partials, strict=True):
            _take_its_name(file, partial, undo)
        undo.pop_all()


def _complete(file: NewFile, undo: ExitStack) -> Path:
    partial = partial_of(file.path)
    with _told(file), open(partial, "x", encoding="utf-8", opener=private) as written:
        undo.callback(partial.unlink, missing_ok=True)
        written.writelines(file.chunks)
        written.flush()
        os.fsync(written.fileno())
    return partial


def _take_its_name(file: NewFile, partial: Path, undo: ExitStack) -> None:
    with _told(file):
        # The empty file keeps the name from others; not every file system has links.
        open(file.path, "x", encoding="utf-8", opener=private).close()
        undo.callback(file.path.unlink)
        partial.replace(file.path)


@contextmanager
def _told(file: NewFile) -> Iterator[None]:
    """Raise Exit(2) for an OSError."""
    try:
        yield
    except FileExistsError:
        raise usage(
            f"{file.flag} {file.path}: the file exists and is never overwritten; name a new one"
        ) from None
    except OSError as error:
        raise usage(f"{file.flag} {file.path}: {error.strerror}") from None


def partial_of(path: Path) -> Path:
    """Return a name in the same directory for the file while it is not complete. The name is
    random, so nobody can have created such a file before."""
    return path.with_name(f".{path.name}.{os.urandom(8).hex()}.partial")
