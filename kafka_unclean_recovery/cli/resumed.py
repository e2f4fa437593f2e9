"""The result of --resume is printed as JSON (schemas/resume-1.schema.json)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from kafka_unclean_recovery.files.journal import Reordered


def resumed_json(cluster_id: str, journal: Path, done: Sequence[Reordered]) -> str:
    """Return one JSON object. done: the replica orders that were put back."""
    rows = [
        {"topic": each.topic_partition.topic, "partition": each.topic_partition.partition}
        for each in done
    ]
    head = {"format_version": 1, "kind": "resume", "cluster_id": cluster_id}
    return json.dumps({**head, "journal": str(journal), "put_back": rows}) + "\n"
