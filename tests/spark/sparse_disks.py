"""Log directories that take no room and seconds to read: preallocated segments."""

from __future__ import annotations

import os
from pathlib import Path

from tests.log_dir.test_scan import log_directory


def sparse_disks(path: Path, brokers: int, replicas: int, size: int) -> list[Path]:
    """Write a log directory each; every segment is `size` bytes, nearly all of them zeros."""
    roots = []
    for broker in range(1, brokers + 1):
        names = {f"wide.topic-{number}": 5 + broker for number in range(replicas)}
        roots.append(log_directory(path / f"broker-{broker}", broker, names))
        for name in names:
            os.truncate(path / f"broker-{broker}" / name / f"{0:020}.log", size)
    return roots
