"""The result of --resume is printed as JSON (schemas/resume-1.schema.json)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kafka_unclean_recovery.documents.journal_lines import Reordered
from kafka_unclean_recovery.documents.reading.codec import json_line


def resumed_json(cluster_id: str, journal: Path, done: Sequence[Reordered]) -> str:
    """Return one JSON object. done: the replica orders that were put back."""
    # Imported for this line alone: most recoveries resume nothing.
    from kafka_unclean_recovery.documents.printed import PutBackJson, ResumeJson

    put_back = tuple(PutBackJson(*each.topic_partition) for each in done)
    return json_line(ResumeJson(cluster_id=cluster_id, journal=str(journal), put_back=put_back))
