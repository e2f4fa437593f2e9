"""The journal records, for the post-mortem, what a run left to do."""

from __future__ import annotations

from dataclasses import replace

from kafka_unclean_recovery.aftercare.report import care_entry
from kafka_unclean_recovery.aftercare.result import Aftercare, PartitionCare
from kafka_unclean_recovery.documents.reading.codec import to_json
from kafka_unclean_recovery.documents.writing import Json
from kafka_unclean_recovery.files.journal import Journal


def note_aftercare(journal: Journal, found: Aftercare) -> None:
    """Write what is left to do after the run; partitions with nothing left to do are left out."""
    journal.note(
        "aftercare",
        cluster_id=found.cluster_id,
        over=found.over,
        unknown=list(found.unknown),
        looked_at=len(found.partitions),
        partitions=[_left(row) for row in found.partitions if not row.over],
    )


def _left(row: PartitionCare) -> Json:
    """Return the partition's row without its producers, of which there may be very many."""
    entry: Json = to_json(care_entry(replace(row, producers=None)))
    del entry["producers"]
    return entry
