"""A starting broker loads a replica's files by these rules (LogLoader, LogSegment.recover)."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

from kafka_unclean_recovery.emulator.broker.log import Batch, Log, sound_batches
from kafka_unclean_recovery.emulator.disks import log_files as files
from kafka_unclean_recovery.emulator.disks.indexes import (
    NOTHING_INDEXED,
    Entries,
    Indexed,
    final_time,
    index,
)
from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.small_files.checkpoints import (
    LEADER_EPOCHS,
    parse_leader_epochs,
)


def load_replica(directory: Path, *, recover: bool) -> tuple[Log, Indexed]:
    """Load a replica's log and repair its files.

    After an unclean stop, `recover` ends the log at the first batch that is not sound, cuts off
    that batch and all that follow, and takes epochs that the checkpoint lacks from the batches.
    After a clean stop batches are believed by their headers, and only a torn one is cut off.
    """
    batches = sound_batches((directory / files.SEGMENT).read_bytes(), whole=recover)
    if recover and not _indexable(batches):
        batches = []
    log = Log(batches)
    os.truncate(directory / files.SEGMENT, log.size)
    log.epochs = [(epoch, start) for epoch, start in _epochs(directory) if start < log.end_offset]
    for batch in log.batches if recover else ():
        if batch.leader_epoch > log.latest_epoch:
            log.assign_epoch(batch.leader_epoch, batch.base_offset)
    return log, reindex(directory, log, final=True)


def reindex(directory: Path, log: Log, *, final: bool) -> Indexed:
    """Write the indexes of a log that was read or cut. `final` adds an entry for the greatest time
    of all. The next entry is counted from the log's end (LogSegment.bytesSinceLastIndexEntry)."""
    known, entries = index(NOTHING_INDEXED, log.batches, files.BASE_OFFSET)
    if final:
        known, time = final_time(known)
        entries = Entries(entries.offsets, entries.times + time)
    files.replace_entries(directory, entries)
    return Indexed(log.size, known.greatest, known.last_time)


def _indexable(batches: list[Batch]) -> bool:
    """Return whether offsets rise from one index entry to the next. A segment in which they don't
    is given up whole (LogLoader.recoverLog on an InvalidOffsetException)."""
    _, entries = index(NOTHING_INDEXED, batches, files.BASE_OFFSET)
    return all(one < other for one, other in pairwise(entries.relative_offsets()))


def _epochs(directory: Path) -> tuple[tuple[int, int], ...]:
    try:
        return parse_leader_epochs((directory / LEADER_EPOCHS).read_bytes())
    except (FileNotFoundError, BadFormat):
        return ()
