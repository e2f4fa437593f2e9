"""A directory of summaries has `replicas` and `partitions` as Parquet, and `scan.json`, written
last.

scan.json follows schemas/spark-scan-1.schema.json. Where it is missing the scan did not end: run it
again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.files.json_fields import Fields
from kafka_unclean_recovery.files.json_text import Place, load_object
from kafka_unclean_recovery.mechanisms import ScanMode

FORMAT_VERSION = 1
KIND = "spark-scan"
SCAN = "scan.json"
REPLICAS = "replicas"
PARTITIONS = "partitions"


@dataclass(frozen=True, slots=True)
class ScanHead:
    """A ReplicaInfo without its partitions. scanned_at: ISO 8601 with its offset from UTC.
    metadata_epoch and metadata_end_offset (exclusive): of the metadata log that the states are
    from."""

    cluster_id: str | None
    scanned_at: str
    mode: ScanMode
    brokers: tuple[int, ...]
    metadata_epoch: int | None
    metadata_end_offset: int | None
    problems: tuple[str, ...] = ()


def head_json(head: ScanHead) -> str:
    metadata = None
    if head.metadata_epoch is not None and head.metadata_end_offset is not None:
        metadata = {"epoch": head.metadata_epoch, "end_offset": head.metadata_end_offset}
    document = {
        "format_version": FORMAT_VERSION,
        "kind": KIND,
        "cluster_id": head.cluster_id,
        "scanned_at": head.scanned_at,
        "mode": head.mode.value,
        "brokers": list(head.brokers),
        "metadata": metadata,
        "problems": list(head.problems),
    }
    return json.dumps(document, indent=1) + "\n"


def read_head(directory: Path) -> ScanHead:
    """Read scan.json. Raises InputError for a directory that is no ended scan."""
    path = directory / SCAN
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(
            f"{directory}: no {SCAN} here: it is no output of spark scan, or of one that has not"
            " ended; run that again"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {error}") from None
    fields = Fields(Place(str(path)), load_object(text, str(path)))
    if fields.values.get("kind") != KIND or fields.values.get("format_version") != FORMAT_VERSION:
        raise InputError(f"{path}: is not a scan of format version {FORMAT_VERSION}; scan again")
    metadata = fields.object_at("metadata") if fields.known("metadata") else None
    return ScanHead(
        cluster_id=fields.text_or_unknown("cluster_id"),
        scanned_at=fields.text("scanned_at"),
        mode=ScanMode(fields.text("mode")),
        brokers=fields.broker_ids("brokers"),
        metadata_epoch=metadata.int32("epoch") if metadata else None,
        metadata_end_offset=metadata.int64("end_offset") if metadata else None,
        problems=fields.texts("problems"),
    )
