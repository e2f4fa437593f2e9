"""The log directories of one broker: each a disk that can fail by itself (KIP-112, KIP-858).

The first is <data directory>/broker-<id>, and holds the metadata log; others are beside it, with
-disk-<index> behind the name. A disk that is lost is a file in the place of the directory.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from kafka_unclean_recovery.emulator.disks.log_files import format_directory


@dataclass(slots=True)
class LogDirectory:
    """`id` is that of meta.properties, None of one that was lost before the broker started.
    `stopped_clean`: how the broker left it the last time. `replicas`: how many are open in it."""

    path: Path
    id: UUID | None
    online: bool = True
    stopped_clean: bool = False
    replicas: int = 0


def log_directories(parent: Path, broker: int, count: int, cluster_id: str) -> list[LogDirectory]:
    """What is there, or new ones. Raises ValueError when they are not those of this broker."""
    paths = list(_paths(parent, broker, count))
    if strangers := set(parent.glob(f"broker-{broker}-disk-*")) - set(paths):
        raise ValueError(
            f"{parent} holds a cluster with more log directories a broker:"
            f" {min(strangers).name} would be left out"
        )
    return [open_directory(path, broker, cluster_id) for path in paths]


def _paths(parent: Path, broker: int, count: int) -> Iterator[Path]:
    yield parent / f"broker-{broker}"
    for index in range(1, count):
        yield parent / f"broker-{broker}-disk-{index}"


def open_directory(path: Path, broker: int, cluster_id: str) -> LogDirectory:
    """Formatted if it is not yet. Raises ValueError."""
    if path.is_file():
        return LogDirectory(path, None, online=False)
    found = format_directory(path, broker, cluster_id)
    if found.node_id != broker or found.cluster_id != cluster_id or found.directory_id is None:
        raise ValueError(f"{path} is not that of broker {broker} of this cluster")
    return LogDirectory(path, UUID(found.directory_id))


def destroy(directory: LogDirectory) -> None:
    """The disk fails, with all that is on it."""
    directory.online = False
    _remove(directory.path)
    directory.path.touch()


def wiped(directory: LogDirectory, broker: int, cluster_id: str) -> LogDirectory:
    """An empty disk in its place, formatted: another directory id."""
    _remove(directory.path)
    return open_directory(directory.path, broker, cluster_id)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
