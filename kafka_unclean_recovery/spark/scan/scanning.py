"""Tasks read replicas by bundles of work items, and the rows of each bundle go to a file of its
own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import pyarrow

from kafka_unclean_recovery.log_dir.pieces import PieceResult, scan_from_pieces, scan_piece
from kafka_unclean_recovery.log_dir.replica_scan import Replica, unreadable
from kafka_unclean_recovery.log_dir.scan_jobs import Job, Row, scan_job
from kafka_unclean_recovery.log_dir.tree import Location, Unreadable
from kafka_unclean_recovery.log_dir.watching import Unmetered
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import ReplicaLog
from kafka_unclean_recovery.spark.new_files import read_rows, whole_rows, write_rows
from kafka_unclean_recovery.spark.places import location_of
from kafka_unclean_recovery.spark.result_paths import ResultPath
from kafka_unclean_recovery.spark.scan.bundles import bundle_file, join_file
from kafka_unclean_recovery.spark.scan.job import Home, ScanOptions, asked_there
from kafka_unclean_recovery.spark.scan.piece_rows import piece_of, result_of, result_text
from kafka_unclean_recovery.spark.scan.work_items import job_of
from kafka_unclean_recovery.spark.tables import REPLICAS, replica_row
from kafka_unclean_recovery.spark.tasks import told
from kafka_unclean_recovery.spark.turns import Turns

_arrow: Any = pyarrow

# log: the replica as its own disk has it, not checked against others yet.
DONE: Any = _arrow.schema([("place", _arrow.int64()), ("log", _arrow.struct(list(REPLICAS)))])


# name: the replica's directory. result: text as piece_rows has it.
PIECES: Any = _arrow.schema(
    [("place", _arrow.int64()), ("name", _arrow.string()), ("result", _arrow.string())]
)


def scan_bundles(settings: Mapping[str, Any], batches: Iterable[Any]) -> Iterator[Any]:
    """Read the bundles whose numbers are the rows; for DataFrame.mapInArrow. A bundle that is done
    is not read again."""
    home, asked = asked_there(dict(settings))
    compacted = compacted_there(home)
    turns = Turns(settings)

    def places(number: int) -> list[Location]:
        if done_file(home, str(number)).exists():
            return []
        return _places(read_rows(bundle_file(home, number)), asked)

    for number in turns.of(batches, places):
        path = done_file(home, str(number))
        if not path.exists():
            with (
                whole_rows(path, DONE) as add,
                whole_rows(_pieces_file(home, number), PIECES) as add_piece,
            ):
                for item in read_rows(bundle_file(home, number)):
                    job = job_of(item, compacted, dict(asked.store))
                    if item["pieces"] is None:
                        for replica, log in scan_job(job, asked.mode, Unmetered()):
                            add(_done_row(item["place"], replica, log, job))
                    else:
                        for row in _piece_rows(item, job):
                            add_piece(row)
    yield told(*turns.said)


def join_pieces(settings: Mapping[str, Any], batches: Iterable[Any]) -> Iterator[Any]:
    """Join the replicas in pieces whose numbers are the rows; for DataFrame.mapInArrow. All their
    pieces are done."""
    home, asked = asked_there(dict(settings))
    compacted = compacted_there(home)
    turns = Turns(settings)
    for number in turns.of(batches, lambda n: _places(read_rows(join_file(home, n)), asked)):
        path = done_file(home, f"j{number}")
        if not path.exists():
            (join,) = read_rows(join_file(home, number))
            job = job_of(join, compacted, dict(asked.store))
            results = _results(home, join["place"], job.replicas[0][0], join["bundles"])
            replica, log = _joined(job, asked.mode, results)
            write_rows(path, [_done_row(join["place"], replica, log, job)], DONE)
    yield told(*turns.said)


def _places(rows: Iterable[Mapping[str, Any]], asked: ScanOptions) -> list[Location]:
    """Return the log directories that items are in."""
    addresses = dict.fromkeys(row["location"] for row in rows)
    return [location_of(address, dict(asked.store)) for address in addresses]


def done_directory(home: Home) -> ResultPath:
    return home.work / "done"


def done_file(home: Home, name: str) -> ResultPath:
    return done_directory(home) / f"{name}.parquet"


def compacted_there(home: Home) -> frozenset[str]:
    """Return the topics in which gaps say nothing, from the plan."""
    return frozenset(json.loads(home.plan.read_text(encoding="utf-8"))["compacted"])


def _pieces_file(home: Home, bundle: int) -> ResultPath:
    return home.work / "pieces" / f"{bundle}.parquet"


def _piece_rows(item: Mapping[str, Any], job: Job) -> Iterator[dict[str, Any]]:
    """Yield the results of an item's pieces. A piece that can't be read is left out: joining the
    pieces reads it again and says why."""
    ((name, replica),) = job.replicas
    for text in item["pieces"]:
        with (
            suppress(Unreadable),
            job.log_directory.open() as log_directory,
            log_directory.folder(name) as folder,
        ):
            result = scan_piece(folder, piece_of(text), replica.compacted, Unmetered())
            yield {"place": item["place"], "name": name, "result": result_text(result)}


def _results(home: Home, place: int, name: str, bundles: Iterable[int]) -> Iterator[PieceResult]:
    for bundle in bundles:
        for row in read_rows(_pieces_file(home, bundle)):
            if (row["place"], row["name"]) == (place, name):
                yield result_of(row["result"])


def _joined(job: Job, mode: ScanMode, results: Iterable[PieceResult]) -> Row:
    ((name, replica),) = job.replicas
    try:
        with job.log_directory.open() as log_directory, log_directory.folder(name) as folder:
            return replica, scan_from_pieces(folder, replica, mode, results, Unmetered())
    except Unreadable as error:
        return replica, unreadable(replica, mode, str(error))


def _done_row(place: int, replica: Replica, log: ReplicaLog, job: Job) -> dict[str, Any]:
    row = replica_row(
        replica.topic_partition,
        log,
        compacted=replica.compacted,
        log_directory=str(job.log_directory),
    )
    return {"place": place, "log": row}
