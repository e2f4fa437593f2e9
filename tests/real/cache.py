"""Things made once and kept under .cache: whole or absent, and made by one process at a time."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache"


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file `path`, waiting for whoever holds it; a dead holder holds nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def made_once(target: Path, make: Callable[[Path], None]) -> Path:
    """Return `target`, which `make` writes at the path it is given the first time it is asked for.

    The rename comes last: what an interrupted `make` leaves behind never carries the name.
    """
    if target.exists():
        return target
    with locked(target.with_name(f".{target.name}.lock")):
        if not target.exists():
            with scratch_directory(target.parent) as scratch:
                made = scratch / target.name
                make(made)
                os.replace(made, target)  # noqa: PTH105 - it is the rename that matters here
    return target


@contextmanager
def quick_scratch(beside: Path, needed: int = 2 << 30) -> Iterator[Path]:
    """Yield a scratch directory in memory where there is room for `needed` bytes, else beside.

    Thousands of partitions are tens of thousands of files, some synced at every new epoch:
    unpacking and starting 2,000 took 22 s on a disk and 5 s in memory.
    """
    memory = Path("/dev/shm")
    roomy = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > needed
    with scratch_directory(memory if roomy else beside) as scratch:
        yield scratch


@contextmanager
def scratch_directory(beside: Path) -> Iterator[Path]:
    """Yield a directory on the file system of `beside`, gone afterwards."""
    beside.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=".kafka-unclean-recovery-", dir=beside))
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
