"""Each log directory of a broker is a disk that can fail by itself (KIP-112, KIP-858).

The first is <data directory>/broker-<id>, and holds the metadata log; the others are beside it,
with -disk-<index> behind the name. A disk that is lost is a file in the place of the directory.
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
    """A log directory. `id` is that of meta.properties, or None if the disk was lost before the
    broker started. `stopped_clean`: whether the broker last stopped cleanly. `replicas`: the number
    of open ones."""

    path: Path
    id: UUID | None
    online: bool = True
    stopped_clean: bool = False
    replicas: int = 0


def log_directories(parent: Path, broker: int, count: int, cluster_id: str) -> list[LogDirectory]:
    """Return a broker's log directories, and create missing ones. Raises ValueError when they are
    not this broker's."""
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
    """Open a log directory and format it if needed. Raises ValueError."""
    if path.is_file():
        return LogDirectory(path, None, online=False)
    found = format_directory(path, broker, cluster_id)
    if found.node_id != broker or found.cluster_id != cluster_id or found.directory_id is None:
        raise ValueError(f"{path} is not that of broker {broker} of this cluster")
    return LogDirectory(path, UUID(found.directory_id))


def destroy(directory: LogDirectory) -> None:
    """Let the disk fail, which loses all that is on it."""
    directory.online = False
    _remove(directory.path)
    directory.path.touch()


def wiped(directory: LogDirectory, broker: int, cluster_id: str) -> LogDirectory:
    """Return a new, formatted disk in the directory's place, which has another directory id."""
    _remove(directory.path)
    return open_directory(directory.path, broker, cluster_id)


def exchanged(directory: LogDirectory, broker: int, cluster_id: str) -> LogDirectory:
    """Return the broker's spare disk, put into the directory's place; what was there is the spare
    from then on. The first spare is a new, formatted disk."""
    spare = directory.path.with_name(f"spare-of-{directory.path.name}")
    aside = spare.with_name(f"{spare.name}-meanwhile")
    directory.path.rename(aside)
    if spare.exists():
        spare.rename(directory.path)
    aside.rename(spare)
    return open_directory(directory.path, broker, cluster_id)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
