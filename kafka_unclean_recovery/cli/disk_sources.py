"""Replica info from --replica-info-file and from --log-dirs is merged."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kafka_unclean_recovery.cli.selection import Selection
from kafka_unclean_recovery.cli.terminal.console import Console, read_input
from kafka_unclean_recovery.errors import Exit
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import ReplicaInfo

if TYPE_CHECKING:
    from kafka_unclean_recovery.cli.terminal.scan_watch import ScanWatch

_FILE_FLAG = "--replica-info-file"
_DIRECTORY_FLAG = "--log-dirs"
_MOST_WORKERS = 4


@dataclass(frozen=True, slots=True)
class Sources:
    """The files of earlier scans, and the log directories to scan now in `mode`."""

    replica_info_files: Sequence[Path] = ()
    log_dirs: Sequence[Path] = ()
    mode: ScanMode = ScanMode.RECOVER

    @property
    def any(self) -> bool:
        return bool(self.replica_info_files or self.log_dirs)

    def flags(self) -> list[str]:
        """Return the flags that give these sources to a command."""
        files = [word for path in self.replica_info_files for word in (_FILE_FLAG, str(path))]
        return files + [word for path in self.log_dirs for word in (_DIRECTORY_FLAG, str(path))]


def read_sources(console: Console, sources: Sources, chosen: Selection) -> ReplicaInfo:
    """Return what all sources say about the chosen partitions; there is at least one source.

    Doubts are said on stderr. Raises Exit(2), and Exit(130 or 143) when a signal ended the scan,
    because no plan can rest on half a disk.
    """
    # For which a run without disks should not wait, as for the readers of log directories below.
    from kafka_unclean_recovery.cli.terminal.output import scan_complaints
    from kafka_unclean_recovery.planning.merged_scans import merge_infos

    infos = [(str(path), read_info(path, chosen)) for path in sources.replica_info_files]
    if sources.log_dirs:
        infos.append((_DIRECTORY_FLAG, _scan(console, sources, chosen)))
    merged = merge_infos(infos)
    for complaint in scan_complaints(merged):
        console.say(complaint)
    return merged


def read_info(path: Path, chosen: Selection) -> ReplicaInfo:
    """Return the chosen partitions of a file of --replica-info-file. Raises Exit(2)."""
    from kafka_unclean_recovery.documents.replica_info import parse_replica_info

    info = parse_replica_info(read_input(path, _FILE_FLAG), str(path))
    problems = info.problems
    if info.interrupted:
        problems = ("its scan was interrupted, so replicas are missing; scan again", *problems)
    kept = tuple(part for part in info.partitions if chosen.includes(part.topic_partition))
    return replace(info, partitions=kept, problems=problems)


def _scan(console: Console, sources: Sources, chosen: Selection) -> ReplicaInfo:
    from kafka_unclean_recovery.cli.terminal.scan_watch import ScanWatch

    watch = ScanWatch(console, "nothing is done")
    info = scan_directories(sources.log_dirs, sources.mode, chosen, None, watch)
    if watch.exit_code is not None:
        raise Exit(watch.exit_code, "interrupted while log directories were read; nothing was done")
    return info


def scan_directories(
    directories: Sequence[Path],
    mode: ScanMode,
    chosen: Selection,
    workers: int | None,
    watch: ScanWatch,
) -> ReplicaInfo:
    """Scan the directories with so many workers; None is as many as there are processors, at most
    4. Raises Exit(2)."""
    # The readers of log directories, for which a run without --log-dirs should not wait.
    from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
    from kafka_unclean_recovery.log_dir.scan import scan_log_directories

    with watch.signals():
        return scan_log_directories(
            [LocalLocation(path) for path in directories],
            mode,
            wanted=chosen.includes,
            workers=workers or min(_MOST_WORKERS, os.cpu_count() or 1),
            watch=watch,
        )
