"""manifest.json: what was salvaged, from where, and what could not be (salvage-1.schema.json)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kafka_unclean_recovery.files.plan_file import Json
from kafka_unclean_recovery.model import EpochLineage, ReplicaLog
from kafka_unclean_recovery.salvage.layout import Place
from kafka_unclean_recovery.salvage.ranges import NO_EPOCH
from kafka_unclean_recovery.salvage.raw_segments import RawSegment
from kafka_unclean_recovery.salvage.replica import Salvaged
from kafka_unclean_recovery.salvage.transactions import Ending, Transaction

FORMAT_VERSION = 1
KIND = "salvage"


@dataclass(frozen=True, slots=True)
class Manifest:
    """salvaged_at: ISO 8601 with its offset from UTC. problems: of the directories as a whole."""

    cluster_id: str
    salvaged_at: str
    replicas: Sequence[Salvaged]
    problems: Sequence[str] = ()

    @property
    def complete(self) -> bool:
        """Nothing is in doubt."""
        return not self.problems and not any(row.problems for row in self.replicas)


def manifest_json(manifest: Manifest) -> str:
    """One object, a line for each replica."""
    return "".join(
        manifest_parts(
            manifest.cluster_id,
            manifest.salvaged_at,
            manifest.problems,
            map(replica_line, manifest.replicas),
        )
    )


def manifest_parts(
    cluster_id: str, salvaged_at: str, problems: Sequence[str], lines: Iterable[str]
) -> Iterator[str]:
    """The same piece by piece, so that the replicas need not all be in memory."""
    head: Json = {
        "format_version": FORMAT_VERSION,
        "kind": KIND,
        "cluster_id": cluster_id,
        "salvaged_at": salvaged_at,
        "problems": list(problems),
    }
    before = "".join(f"{json.dumps(key)}: {json.dumps(value)},\n" for key, value in head.items())
    yield f'{{{before}"replicas": ['
    separator = "\n"
    for line in lines:
        yield separator + line
        separator = ",\n"
    yield "]}\n" if separator == "\n" else "\n]}\n"


def replica_line(row: Salvaged) -> str:
    return json.dumps(_replica(row))


def _replica(row: Salvaged) -> Json:
    replica, lost = row.replica, row.lost
    return {
        "topic": replica.topic_partition.topic,
        "partition": replica.topic_partition.partition,
        "topic_id": row.designated.topic_id,
        "broker": replica.broker,
        "directory": replica.directory,
        "directory_id": replica.directory_id,
        "designated_leader": row.designated.log.broker if row.designated.log else None,
        "designated_log": _log(row.designated.log),
        "log": _log(row.log),
        "suspect": row.log.suspect if row.log else None,
        "lost": _spans(lost.spans) if lost else None,
        "below_log_start": _spans(lost.below_log_start) if lost else None,
        "segments": [_segment(row.place, each) for each in row.segments] if row.place else [],
        "records_file": row.place.records if row.place and row.records is not None else None,
        "records": row.records,
        "markers": row.markers,
        "missing": [{"start_offset": start, "end_offset": end} for start, end in row.missing],
        "transactions": {
            **{ending.value: row.transactions.get(ending, 0) for ending in Ending},
            "ended_beyond_the_cut": [_transaction(ended) for ended in row.crossing],
            "not_ended": [_transaction(begun) for begun in row.open],
        },
        "scanned_at": row.scanned_at,
        "problems": row.problems,
    }


def _log(log: ReplicaLog | None) -> Json | None:
    if log is None:
        return None
    return {
        "log_start_offset": log.log_start_offset,
        "log_end_offset": log.log_end_offset,
        "epochs": None if log.epochs is None else _spans(log.epochs),
    }


def _spans(spans: EpochLineage) -> list[Json]:
    return [
        {
            "epoch": None if span.epoch == NO_EPOCH else span.epoch,
            "start_offset": span.start_offset,
            "end_offset": span.end_offset,
        }
        for span in spans
    ]


def _segment(place: Place, segment: RawSegment) -> Json:
    return {
        "file": f"{place.segments}/{segment.file}",
        "first_offset": segment.first_offset,
        "end_offset": segment.end_offset,
        "batches": segment.batches,
        "size": segment.size,
        "sha256": segment.sha256,
        "salvaged": None if segment.salvaged is None else _spans(segment.salvaged),
    }


def _transaction(transaction: Transaction) -> Json:
    return {
        "producer_id": transaction.producer_id,
        "producer_epoch": transaction.producer_epoch,
        "first_offset": transaction.first_offset,
        "marker_offset": transaction.marker_offset,
        "ending": transaction.ending.value,
    }
