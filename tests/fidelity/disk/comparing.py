"""The start of a log directory by Kafka and by us: every difference, in a sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kafka_unclean_recovery.log_dir.directory_names import DirectoryKind, PartitionDirectory
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.log_directory import read_log_directory
from kafka_unclean_recovery.log_dir.replica_scan import scan_replica
from kafka_unclean_recovery.log_dir.scan import every_partition, loaded_replicas
from kafka_unclean_recovery.log_dir.segments.batches import Reason
from kafka_unclean_recovery.log_dir.small_files.checkpoints import LEADER_EPOCHS
from kafka_unclean_recovery.log_dir.small_files.properties_files import PARTITION_METADATA
from kafka_unclean_recovery.log_dir.start.directory import directory_start
from kafka_unclean_recovery.log_dir.start.fate import DirectoryStart, Fate, ends_over
from kafka_unclean_recovery.log_dir.watching import Unmetered
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import ReplicaLog, TopicPartition
from tests.fidelity.disk.logs import FORMAT_0
from tests.fidelity.disk.oracle import KafkaLog, KafkaStart

_A_GAP = "only the last batch lies behind a gap"
_UNTOLD = (
    *("no plain file", "not a plain file", "reads an offset out of this name"),
    "splits it beyond later segments",
)
NOT_FORETOLD = (
    # In a directory that went offline before, a broker ends over an open transaction, and over
    # whatever else makes it read the log while it loads it; strays alone are foretold.
    "is already offline due to a previous IO exception",
    # Which transactions are open is not followed.
    "Attempted to complete transaction",
    # Offsets within compressed messages of format 0 are not read.
    "Failed to append records from position",
    # An index that is larger than segment.index.bytes, which is not known.
    "newPosition > limit",
)
"""Ends of a broker that docs/how-it-works.md lists as not foretold, by Kafka's words."""


@dataclass(frozen=True, slots=True)
class OurStart:
    """starts: of the log directories. rows: by the names of the log directory and of the replica's
    own, and by the mode of the scan. nameless: replicas without a topic id, which the start puts
    aside. names: of the replicas' directories."""

    starts: tuple[DirectoryStart, ...]
    rows: Mapping[str, Mapping[ScanMode, ReplicaLog]]
    nameless: frozenset[str]
    names: Mapping[str, PartitionDirectory] = field(default_factory=dict)

    @property
    def ends(self) -> str | None:
        """Return why the broker ends."""
        if any(start.fate is Fate.ENDS for start in self.starts):
            return str(self.starts)
        if twice := [tp for tp, n in self._partitions().items() if n > 1]:
            return f"{twice} twice"
        problems = (
            row.problem
            for name, rows in self.rows.items()
            for row in rows.values()
            # A broker reads this file first.
            if not self._fails(name, LEADER_EPOCHS)
        )
        return next(filter(ends_over, problems), None)

    @property
    def untold(self) -> bool:
        """Return whether something is there that a broker reads and we do not, and say so."""
        rows = (row for of_one in self.rows.values() for row in of_one.values())
        said = (row.problem or row.suspect or "" for row in rows)
        return any(each in text for text in said for each in _UNTOLD)

    def _fails(self, name: str, file: str) -> bool:
        return any(f"/{name}/{file}" in c.file for start in self.starts for c in start.causes)

    @property
    def offline(self) -> frozenset[str]:
        return frozenset(each.directory for each in self.starts if each.fate is Fate.OFFLINE)

    def _partitions(self) -> Counter[tuple[TopicPartition, DirectoryKind]]:
        """Count the replicas that come into use, and the copies: of others there may be two."""
        return Counter(
            (self.names[name].topic_partition, self.names[name].kind)
            for name in self.rows
            if name in self.names
            and self.names[name].kind in (DirectoryKind.LIVE, DirectoryKind.FUTURE)
            and name not in self.nameless
            and not self._fails(name, "")
        )


def our_start(directories: Sequence[Path], compacted: frozenset[str]) -> OurStart:
    starts: list[DirectoryStart] = []
    rows: dict[str, dict[ScanMode, ReplicaLog]] = {}
    names: dict[str, PartitionDirectory] = {}
    nameless: list[str] = []
    for directory in directories:
        location = LocalLocation(directory)
        found = read_log_directory(location)
        starts.append(directory_start(location))
        with location.open() as folder:
            for name, replica in loaded_replicas(found, every_partition, compacted):
                key = f"{directory.name}/{name}"
                names[key] = found.replicas[name]
                with folder.folder(name) as own:
                    rows[key] = {
                        mode: scan_replica(own, replica, mode, Unmetered()) for mode in ScanMode
                    }
                if not (directory / name / PARTITION_METADATA).exists():
                    nameless.append(key)
    return OurStart(tuple(starts), rows, frozenset(nameless), names)


def foretold(kafka: KafkaStart) -> bool:
    """Return whether the end of the broker is of those that are foretold, or it lives."""
    return kafka.ends is None or not any(each in kafka.ends for each in NOT_FORETOLD)


def differences(kafka: KafkaStart, ours: OurStart, *, old: bool = False) -> Iterator[str]:
    """Yield the differences. old: Kafka is from before 4.0, whose ends are told where they differ,
    and which reads no compressed message while it starts."""
    if old and ours.ends is not None and "of 4.0 or later" in ours.ends:
        return
    if not foretold(kafka) or ours.untold:
        return
    yield from _of_the_broker(kafka, ours)
    if kafka.ends is not None:
        return
    offline = {Path(each).name for each in kafka.offline}
    for name, rows in ours.rows.items():
        if name.partition("/")[0] in offline:
            continue
        log = kafka.logs.get(name)
        # A replica without a topic id is put aside under another name.
        if log is not None:
            for mode, row in rows.items():
                if not (old and _told_of_old(name, log.end, row.suspect or "")):
                    yield from _of_a_log(f"{name} {mode}", log, row, rows)


def _told_of_old(where: str, end: int, suspect: str) -> bool:
    """Return whether a suspicion tells where brokers before 4.0 let the log end, or, of a log of
    format 0, is of a gap before the last batch, which stands in place of that."""
    told = f"before 4.0 let the log end at {end}" in suspect
    return told or (_of_format_0(where) and _A_GAP in suspect)


def _of_the_broker(kafka: KafkaStart, ours: OurStart) -> Iterator[str]:
    if (kafka.ends is None) != (ours.ends is None) and not _ends_over_compressed(kafka, ours):
        yield f"Kafka ends: {kafka.ends}; ours: {ours.ends}"
    if kafka.ends is None and kafka.offline != ours.offline:
        yield f"Kafka offline: {sorted(kafka.offline)}; ours: {ours.starts}"


def _of_a_log(
    where: str, kafka: KafkaLog, row: ReplicaLog, rows: Mapping[ScanMode, ReplicaLog]
) -> Iterator[str]:
    if row.problem is not None:
        if kafka.end < kafka.start:
            # Such a log has an end to us only as a problem.
            return
        if row.scanned is None or row.scanned.mode is not ScanMode.FAST:
            yield f"{where}: {kafka.start}..{kafka.end}, ours: {row.problem}"
        return
    if (row.log_start_offset, row.log_end_offset) != (kafka.start, kafka.end):
        if not _unseen_by_a_fast_scan(row, rows) and not _within_compressed(where, row):
            yield (
                f"{where}: {kafka.start}..{kafka.end}, ours: {row.log_start_offset}.."
                f"{row.log_end_offset} (suspect: {row.suspect})"
            )
        return
    ends = [*(start for _, start in kafka.epochs[1:]), kafka.end]
    theirs = [
        [epoch, max(start, kafka.start)]
        for (epoch, start), end in zip(kafka.epochs, ends, strict=False)
        if max(start, kafka.start) < min(end, kafka.end)
    ]
    # A broker whose checkpoint is empty reads epochs out of the segments that it recovers, and a
    # deep scan out of all.
    known = theirs[0][1] if theirs else 0
    spans = [
        [span.epoch, max(span.start_offset, known)]
        for span in row.epochs or ()
        if span.end_offset > known
    ]
    if _unseen_by_a_fast_scan(row, rows):
        return
    # Those that are in no segment that was recovered.
    if rows[ScanMode.RECOVER].epochs is None:
        spans = [span for span in spans if span in theirs]
    if row.suspect is None and row.epochs is not None and theirs and spans != theirs:
        yield f"{where}: epochs {theirs}, ours: {spans}"


def _within_compressed(where: str, row: ReplicaLog) -> bool:
    """Return whether what decides are offsets within compressed messages of format 0, which are not
    read: they may differ from what the message says that holds them, where that is in doubt."""
    clean = row.scanned is not None and row.scanned.stopped_clean is True
    found = row.suspect is not None and (clean or Reason.ORDER in row.suspect)
    return found and _of_format_0(where)


def _of_format_0(where: str) -> bool:
    return any(f"/{topic}-0" in f"/{where}" for topic in FORMAT_0)


def _ends_over_compressed(kafka: KafkaStart, ours: OurStart) -> bool:
    """Return whether the broker ends over compressed messages of format 0, which we don't read."""
    return kafka.ends is not None and any(
        f"/{name}/" in kafka.ends and _within_compressed(name, rows[ScanMode.RECOVER])
        for name, rows in ours.rows.items()
    )


def _unseen_by_a_fast_scan(row: ReplicaLog, rows: Mapping[ScanMode, ReplicaLog]) -> bool:
    """Return whether a fast scan can't know: what ends the log, or makes it suspect, lies in
    batches that it does not read."""
    if row.scanned is None or row.scanned.mode is not ScanMode.FAST:
        return False
    full = rows[ScanMode.RECOVER]
    damage = None if full.scanned is None else full.scanned.damage
    return (full.problem or full.suspect or damage) is not None
