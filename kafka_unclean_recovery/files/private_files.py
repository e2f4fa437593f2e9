"""Files and directories for nobody but their owner, whatever the umask: what they hold was in
topics, or tells where brokers are."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO, cast

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def why_not_ours(path: Path, below: Path) -> str | None:
    """Return why somebody else may have a hand in a directory below one that all can write to; None
    where it is ours alone, or is not there. Raises OSError."""
    shared = below.stat().st_mode
    if shared & _OTHERS_WRITE and not shared & stat.S_ISVTX:
        return f"others can replace what lies in {below}"
    for place in (path, *path.parents):
        if place == below:
            break
        if (why := _why_not_ours(place)) is not None:
            return f"{place} {why}"
    return None


def _why_not_ours(path: Path) -> str | None:
    try:
        status = path.lstat()
    except FileNotFoundError:
        return None
    if not stat.S_ISDIR(status.st_mode):
        return "is no directory, or a link to one"
    if status.st_uid != os.geteuid():
        return "belongs to another user"
    return "can be written to by others" if status.st_mode & _OTHERS_WRITE else None


def private(path: str, flags: int) -> int:
    """Open a file, of mode 0600 if it is made: for open(..., opener=private). Raises OSError."""
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


def open_private(path: Path, mode: str) -> BinaryIO:
    """Open a file that only its owner may read. mode: of open(), binary. Raises OSError."""
    return cast(BinaryIO, open(path, mode, opener=private))


def make_private_directory(path: Path) -> None:
    """Make a directory, with those above it that are missing, each of mode 0700; one that is there
    stays as it is. Raises OSError."""
    if not path.is_dir():
        make_private_directory(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)
