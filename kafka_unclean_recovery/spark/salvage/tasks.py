"""An executor salvages one replica after the other for `spark salvage`.

A task may run more than once, even at the same time. Each run writes below a name of its own and
then moves whole files where they belong, so that the last run wins with the same bytes.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow

from kafka_unclean_recovery.log_dir.directory_names import DirectoryKind
from kafka_unclean_recovery.log_dir.log_directory import LogDirectory, read_log_directory
from kafka_unclean_recovery.log_dir.replica_scan import Replica
from kafka_unclean_recovery.log_dir.scan import replica_of
from kafka_unclean_recovery.log_dir.tree import Unreadable
from kafka_unclean_recovery.log_dir.watching import Unmetered
from kafka_unclean_recovery.model import ReplicaLog, TopicPartition
from kafka_unclean_recovery.salvage.designated import parse_designated
from kafka_unclean_recovery.salvage.layout import ReplicaPlace
from kafka_unclean_recovery.salvage.manifest import replica_line
from kafka_unclean_recovery.salvage.output_directory import move_into
from kafka_unclean_recovery.salvage.parquet import RecordsFile
from kafka_unclean_recovery.salvage.replica import (
    Output,
    Salvaged,
    nothing_lost,
    salvage_replica,
)
from kafka_unclean_recovery.spark.new_files import read_rows
from kafka_unclean_recovery.spark.places import location_of
from kafka_unclean_recovery.spark.result_paths import claimed
from kafka_unclean_recovery.spark.tables import Row, batch, replica_log
from kafka_unclean_recovery.spark.tasks import numbers

ATTEMPTS = "attempts"

_arrow: Any = pyarrow

# line: the row of the manifest. size: the bytes of the segment files. records: their number without
# markers. first_problem: the first of `problems`, null when there is none. away: the log directory
# that is missing on the host, where nothing was done; null elsewhere.
SALVAGED: Any = _arrow.schema(
    [
        _arrow.field("topic", _arrow.string(), nullable=False),
        _arrow.field("partition", _arrow.int32(), nullable=False),
        _arrow.field("broker", _arrow.int32(), nullable=False),
        _arrow.field("line", _arrow.string(), nullable=False),
        _arrow.field("size", _arrow.int64(), nullable=False),
        ("records", _arrow.int64()),
        _arrow.field("problems", _arrow.int32(), nullable=False),
        ("first_problem", _arrow.string()),
        ("away", _arrow.string()),
        ("host", _arrow.string()),
    ]
)


def salvage(settings: Mapping[str, Any], batches: Iterator[Any]) -> Iterator[Any]:
    """Salvage the replicas of `batches`, and yield rows of SALVAGED.

    settings: root, the directory that is built; cluster_id; scanned_at, of the summaries; store and
    raw_only, of salvage_replicas.How; anyhow: a missing disk keeps nothing from being tried. The
    rows of `batches` are those of `replicas` with two more columns: `designated`, as
    designated_json has it, and `unsure`: there may be more than the scan found.
    """
    task = _Task(settings)
    for rows in batches:
        for row in rows.to_pylist():
            found, log = _found(row)
            nothing = None if row["unsure"] else nothing_lost(found.designated, log)
            if nothing is not None:
                found.log, found.lost, found.scanned_at = log, nothing, settings["scanned_at"]
            elif not settings["anyhow"] and (away := task.missing(row)):
                yield batch([_away(row, away)], SALVAGED)
                continue
            else:
                task.salvage(row, found)
            yield batch([_row(found)], SALVAGED)


def salvage_left(settings: Mapping[str, Any], batches: Iterator[Any]) -> Iterator[Any]:
    """Salvage of the replicas that were left what is here and no other task has claimed, and yield
    rows of SALVAGED.

    settings: as `salvage` has them; `left`, a directory of Parquet files with the rows; `claims`.
    """
    task, claims = _Task(settings), Path(settings["claims"])
    paths = sorted(Path(settings["left"]).glob("[!.]*.parquet"))
    for number in numbers(batches):
        # Each task begins elsewhere, so that they share the work.
        first = number % len(paths)
        for path in (*paths[first:], *paths[:first]):
            for place, row in enumerate(read_rows(path)):
                if not task.missing(row) and claimed(claims, f"{path.stem}-{place}"):
                    found, _ = _found(row)
                    task.salvage(row, found)
                    yield batch([_row(found)], SALVAGED)


def _found(row: Row) -> tuple[Salvaged, ReplicaLog]:
    replica = Replica(
        row["broker"],
        TopicPartition(row["topic"], row["partition"]),
        row["directory"],
        row["directory_id"],
        compacted=row["compacted"],
    )
    return Salvaged(replica, parse_designated(row["designated"])), replica_log(row)


@dataclass(slots=True)
class _Task:
    settings: Mapping[str, Any]
    _read: dict[str, LogDirectory] = field(default_factory=dict)

    def missing(self, row: Row) -> str | None:
        """Return the log directory that can't be read here, None where it can, or is not known."""
        where: str | None = row["log_directory"]
        try:
            self._log_directory(where)
        except Unreadable:
            return where
        return None

    def salvage(self, row: Row, found: Salvaged) -> None:
        """Salvage one replica and fill in `found`. Raises OSError for the output."""
        partition = found.replica.topic_partition
        root = Path(self.settings["root"])
        attempt = root / ATTEMPTS / uuid.uuid4().hex
        output = Output(attempt, None if self.settings["raw_only"] else RecordsFile)
        place = ReplicaPlace(partition, found.replica.broker)
        try:
            directory = self._log_directory(row["log_directory"])
            name = self._name_in(directory, found.replica)
            found.replica = replica_of(directory, name, partition, _compacted(found.replica))
            with directory.location.open() as log_directory, log_directory.folder(name) as folder:
                salvage_replica(folder, found, output, place, Unmetered())
        except Unreadable as error:
            found.problem(str(error))
        move_into(attempt, root)

    def _log_directory(self, where: str | None) -> LogDirectory:
        """Return the log directory; rows come sorted by it, so one is kept. Raises Unreadable."""
        if where is None:
            raise Unreadable("the scan does not say which log directory it lies in; scan again")
        if where not in self._read:
            try:
                self._read = {where: read_log_directory(location_of(where, self.settings["store"]))}
            except Unreadable as error:
                raise Unreadable(f"on {os.uname().nodename}: {error}") from None
        return self._read[where]

    def _name_in(self, directory: LogDirectory, replica: Replica) -> str:
        """Return the replica's directory name. Raises Unreadable when it is not as scanned."""
        meta = directory.meta
        ours = self.settings["cluster_id"]
        if meta.node_id != replica.broker or meta.cluster_id not in (ours, None):
            raise Unreadable(
                f"{directory.location}: it belongs to node {meta.node_id} of cluster"
                f" {meta.cluster_id} now; scan again"
            )
        for name, found in directory.replicas.items():
            live = found.kind is DirectoryKind.LIVE
            if live and found.topic_partition == replica.topic_partition:
                return name
        raise Unreadable(f"{replica.directory}: it is not there any more; scan again")


def _compacted(replica: Replica) -> tuple[str, ...]:
    return (replica.topic_partition.topic,) if replica.compacted else ()


def _row(found: Salvaged) -> dict[str, Any]:
    partition = found.replica.topic_partition
    return {
        "topic": partition.topic,
        "partition": partition.partition,
        "broker": found.replica.broker,
        "line": replica_line(found),
        "size": sum(segment.size for segment in found.segments),
        "records": found.records,
        "problems": len(found.problems),
        "first_problem": found.problems[0] if found.problems else None,
    }


def _away(row: Row, where: str) -> dict[str, Any]:
    """Return a row that leaves the replica to others."""
    key = {name: row[name] for name in ("topic", "partition", "broker")}
    nothing = {"line": "", "size": 0, "problems": 0}
    return {**key, **nothing, "away": where, "host": os.uname().nodename}
