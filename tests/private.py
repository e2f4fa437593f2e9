"""What others than its owner may do with what was written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def generous_umask() -> Iterator[None]:
    """Let everybody write where whoever makes a file asks for no mode in particular."""
    before = os.umask(0)
    try:
        yield
    finally:
        os.umask(before)


def open_to_others(root: Path) -> list[str]:
    """Return the root, and what is in it, that others may open, by mode and path. The root must be
    there; symlinks are left out, which have no mode of their own."""
    found = [root, *(path for path in root.rglob("*") if not path.is_symlink())]
    modes = {path: path.stat().st_mode & 0o777 for path in found}
    return [f"{mode:o} {path}" for path, mode in modes.items() if mode & 0o077]
