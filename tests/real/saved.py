"""Clusters at rest, each made once: those that every run needs lie in the repository, others are
made when they are asked for, and kept under .cache.

The name of an archive holds a digest of all that decides what is in it. So one in the repository
that another recipe made is never taken: a fresh one is made in its place, and
tests/test_committed_archives.py fails until `python -m tests.real.committed` was run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tests.real.archive import SUFFIX
from tests.real.cache import CACHE, ROOT, made_once

COMMITTED = ROOT / "tests" / "testdata" / "outages"
HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Saved:
    """make: writes the archive at the path that it is given."""

    name: str
    digest: str
    make: Callable[[Path], None] = field(compare=False, repr=False)

    @property
    def file_name(self) -> str:
        return f"{self.name}-{self.digest}{SUFFIX}"

    @property
    def committed(self) -> Path:
        """Return where it is if it lies in the repository."""
        return COMMITTED / self.file_name

    def archive(self) -> Path:
        if self.committed.exists():
            return self.committed
        return made_once(CACHE / "outages" / self.file_name, self.make)


def digest_of(sources: Iterable[str], *more: str) -> str:
    """Return a digest of files, named as seen from tests/real, and of whatever else decides."""
    hashed = hashlib.sha256("".join(more).encode())
    for source in sources:
        hashed.update((HERE / source).read_bytes())
    return hashed.hexdigest()[:12]
