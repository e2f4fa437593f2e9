"""Files that others may have prepared are read as what they should be: plain, within the directory
that was named, and of a size that such files have. Nothing hangs, and no link is followed."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import BinaryIO

from kafka_unclean_recovery.shown import shown

# Python makes room for all that it is asked to read.
_PIECE = 1 << 20
_WITHIN = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def open_plain(path: Path) -> BinaryIO:
    """Open a plain file, or a link to one. Raises OSError, whose strerror says what it is."""
    # Opening must not wait: a FIFO may never get a writer.
    return _plain(os.open(path, _WITHIN & ~os.O_NOFOLLOW), path)


def read_plain(path: Path, most: int) -> bytes:
    """Return all of a plain file of at most so many bytes. Raises OSError as `open_plain` does."""
    with open_plain(path) as file:
        return whole(file, most)


def open_plain_within(directory: Path, inside: PurePath) -> BinaryIO:
    """Open a plain file below the directory, through no link. Raises OSError."""
    if not inside.parts or not _is_name(str(inside)):
        raise OSError(errno.ENOENT, "not a file name")
    *above, name = inside.parts
    at = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in above:
            below = os.open(part, _WITHIN | os.O_DIRECTORY, dir_fd=at)
            os.close(at)
            at = below
        return _plain(os.open(name, _WITHIN, dir_fd=at), directory / inside)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "a link, and none is followed there") from None
        raise
    finally:
        os.close(at)


def _is_name(text: str) -> bool:
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def whole(file: BinaryIO, most: int) -> bytes:
    """Return all that a file holds. Raises OSError for more than `most` bytes."""
    return b"".join(_pieces(file, most))


def whole_text(file: BinaryIO, most: int, *, torn: bool = False) -> bytes:
    """Return all that a file of text holds. torn: a power cut may have left NULs at its end, which
    do not count. Raises OSError as `whole` does, and at the first NUL, before all is in memory."""
    parts: list[bytes] = []
    ended = False
    for part in _pieces(file, most):
        begin = part.rstrip(b"\0") if torn else part
        if b"\0" in begin or (ended and begin):
            raise OSError(errno.EINVAL, "not text: it has a NUL")
        ended = ended or len(begin) < len(part)
        parts += [begin] if begin else []
    return b"".join(parts)


def _pieces(file: BinaryIO, most: int) -> Iterator[bytes]:
    # What is no file on a disk, as below /proc, has no size, and may have no end.
    left = most + 1 if os.fstat(file.fileno()).st_size <= most else 0
    while left and (part := file.read(min(left, _PIECE))):
        yield part
        left -= len(part)
    if not left:
        raise OSError(errno.EFBIG, f"more than {most} bytes, as no such file has")


def _plain(descriptor: int, path: Path) -> BinaryIO:
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        if stat.S_ISDIR(mode):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), shown(str(path)))
        raise OSError(errno.EINVAL, "not a plain file", shown(str(path)))
    return os.fdopen(descriptor, "rb")


def foreign_link(path: Path) -> Path | None:
    """Return a link on the way to a file that another user made, who could lead us anywhere; None
    where there is none. Links of root are trusted."""
    trusted = (0, os.geteuid())
    for place in (path, *path.parents):
        if place.is_symlink() and place.lstat().st_uid not in trusted:
            return place
    return None
