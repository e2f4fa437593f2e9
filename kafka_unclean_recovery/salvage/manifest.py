"""manifest.json: what was salvaged, from where, and what could not be (salvage-1.schema.json)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kafka_unclean_recovery.documents.reading.codec import to_json, to_model
from kafka_unclean_recovery.documents.salvage import (
    GapJson,
    LogJson,
    ReplicaJson,
    SalvageJson,
    SegmentJson,
    SpanJson,
    TransactionJson,
    TransactionsJson,
)
from kafka_unclean_recovery.documents.writing import Json
from kafka_unclean_recovery.files.journal import Journal
from kafka_unclean_recovery.model import EpochLineage, EpochSpan, ReplicaLog
from kafka_unclean_recovery.salvage.layout import ReplicaPlace
from kafka_unclean_recovery.salvage.ranges import NO_EPOCH
from kafka_unclean_recovery.salvage.raw_segments import RawSegment
from kafka_unclean_recovery.salvage.replica import Salvaged
from kafka_unclean_recovery.salvage.transactions import Ending


@dataclass(frozen=True, slots=True)
class Manifest:
    """salvaged_at: ISO 8601 with its offset from UTC. problems: of the directories as a whole."""

    cluster_id: str
    salvaged_at: str
    replicas: Sequence[Salvaged]
    problems: Sequence[str] = ()

    @property
    def complete(self) -> bool:
        """Return True when nothing is in doubt."""
        return not self.problems and not any(row.problems for row in self.replicas)


def manifest_json(manifest: Manifest) -> str:
    """Return the manifest as one JSON object with a line for each replica."""
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
    """Yield the manifest's JSON part by part, so that the replicas need not all be in memory."""
    document = SalvageJson(
        cluster_id=cluster_id, salvaged_at=salvaged_at, problems=tuple(problems), replicas=()
    )
    head = to_json(document)
    del head["replicas"]
    before = "".join(f"{json.dumps(key)}: {json.dumps(value)},\n" for key, value in head.items())
    yield f'{{{before}"replicas": ['
    separator = "\n"
    for line in lines:
        yield separator + line
        separator = ",\n"
    yield "]}\n" if separator == "\n" else "\n]}\n"


def note_salvage(journal: Journal, directory: Path, manifest: Manifest) -> None:
    """Write into the journal what each replica held beyond the designated leader's log, and how
    much of it was saved."""
    rows = [_noted(row) for row in manifest.replicas if row.designated.log is not None]
    journal.note("salvaged", directory=str(directory.absolute()), partitions=rows)


def _noted(row: Salvaged) -> Json:
    beyond = None if row.lost is None else sum(map(_length, row.lost.spans))
    partition = row.replica.topic_partition._asdict()
    return {
        **partition,
        "broker": row.replica.broker,
        "beyond": row.saved if row.replica.compacted and not row.problems else beyond,
        "at_least": row.may_hold_more,
        "saved": row.saved,
    }


def _length(span: EpochSpan) -> int:
    return span.end_offset - span.start_offset


def replica_line(row: Salvaged) -> str:
    return json.dumps(to_json(_entry(row)))


def _entry(row: Salvaged) -> ReplicaJson:
    replica, lost, designated, place = row.replica, row.lost, row.designated, row.place
    return ReplicaJson(
        topic=replica.topic_partition.topic,
        partition=replica.topic_partition.partition,
        topic_id=designated.topic_id,
        broker=replica.broker,
        directory=replica.directory,
        directory_id=replica.directory_id,
        designated_leader=designated.log.broker if designated.log else None,
        designated_log=_log(designated.log),
        log=_log(row.log),
        suspect=row.log.suspect if row.log else None,
        lost=_spans(lost.spans) if lost else None,
        below_log_start=_spans(lost.below_log_start) if lost else None,
        segments=tuple(_segment(place, each) for each in row.segments) if place else (),
        records_file=place.records if place and row.records is not None else None,
        records=row.records,
        markers=row.markers,
        missing=tuple(GapJson(*gap) for gap in row.missing),
        transactions=_transactions(row),
        scanned_at=row.scanned_at,
        problems=tuple(row.problems),
    )


def _log(log: ReplicaLog | None) -> LogJson | None:
    if log is None:
        return None
    epochs = None if log.epochs is None else _spans(log.epochs)
    return LogJson(log.log_start_offset, log.log_end_offset, epochs)


def _spans(spans: EpochLineage) -> tuple[SpanJson, ...]:
    return tuple(
        SpanJson(None if span.epoch == NO_EPOCH else span.epoch, span.start_offset, span.end_offset)
        for span in spans
    )


def _segment(place: ReplicaPlace, segment: RawSegment) -> SegmentJson:
    return SegmentJson(
        f"{place.segments}/{segment.file}",
        segment.first_offset,
        segment.end_offset,
        segment.batches,
        segment.size,
        segment.sha256,
        None if segment.salvaged is None else _spans(segment.salvaged),
    )


def _transactions(row: Salvaged) -> TransactionsJson:
    counts = row.transactions
    return TransactionsJson(
        counts.get(Ending.COMMITTED, 0),
        counts.get(Ending.ABORTED, 0),
        counts.get(Ending.OPEN, 0),
        to_model(row.crossing, tuple[TransactionJson, ...]),
        to_model(row.open, tuple[TransactionJson, ...]),
    )
