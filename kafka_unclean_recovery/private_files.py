"""Files and directories for nobody but their owner, whatever the umask: what they hold was in
topics, or tells where brokers are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO, cast


def private(path: str, flags: int) -> int:
    """For open(..., opener=private): a file that it makes has mode 0600. Raises OSError."""
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


def open_private(path: Path, mode: str) -> BinaryIO:
    """mode: of open(), binary. Raises OSError."""
    return cast(BinaryIO, open(path, mode, opener=private))


def make_private_directory(path: Path) -> None:
    """With those above it that are missing, each of mode 0700; fine if it is there. Raises
    OSError."""
    if not path.is_dir():
        make_private_directory(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)
