"""The directories of scanned replicas are read again, for the ends of hanging transactions."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.log_directory import read_log_directory
from kafka_unclean_recovery.log_dir.transaction_ends import Ends, LeftOpen, transaction_ends
from kafka_unclean_recovery.log_dir.tree import Unreadable
from kafka_unclean_recovery.log_dir.watching import Stopped
from kafka_unclean_recovery.model import ReplicaLog

Answer = Ends | str
"""What a disk tells, or why it tells nothing."""


@dataclass(slots=True)
class DiskReader:
    """Reads each disk once for the same question: the disk of a dead broker stays as it is, and a
    watch asks every second."""

    _known: dict[tuple[str, frozenset[LeftOpen]], Answer] = field(default_factory=dict)

    async def ends(self, log: ReplicaLog, wanted: Iterable[LeftOpen]) -> Answer:
        """Return the ends that this scanned replica's files have of the transactions."""
        assert log.scanned is not None
        key = log.scanned.directory, frozenset(wanted)
        if key not in self._known:
            stop = _Stop()
            try:
                self._known[key] = await asyncio.to_thread(_read, log, key[1], stop)
            finally:
                stop.asked = True
        return self._known[key]


@dataclass(slots=True)
class _Stop:
    """A Meter that ends the reading once nobody waits for it any more."""

    asked: bool = False

    def add(self, count: int) -> None:
        if self.asked:
            raise Stopped


def _read(log: ReplicaLog, wanted: frozenset[LeftOpen], stop: _Stop) -> Answer:
    assert log.scanned is not None
    path = Path(log.scanned.directory)
    try:
        # An earlier scan may be of another machine, which has other disks at the same paths.
        meta = read_log_directory(LocalLocation(path.parent)).meta
        if (meta.node_id, meta.directory_id) != (log.broker, log.scanned.directory_id):
            return f"{path.parent} is not here the log directory that was scanned"
        with LocalLocation(path).open() as folder:
            return transaction_ends(folder, wanted, stop)
    except Unreadable as error:
        return str(error)
