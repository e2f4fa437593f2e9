"""A directory of summaries has `replicas` and `partitions` as Parquet, and `scan.json`, written
last.

scan.json follows schemas/spark-scan-1.schema.json. Where it is missing the scan did not end: run it
again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from msgspec import structs

from kafka_unclean_recovery.documents.reading.codec import decode_newer, to_json, to_model
from kafka_unclean_recovery.documents.reading.json_text import Place, load_object
from kafka_unclean_recovery.documents.reading.json_values import each_once
from kafka_unclean_recovery.documents.replica_info import (
    MetadataJson,
    SparkScanJson,
    TableRowsJson,
    WholeDiskJson,
)
from kafka_unclean_recovery.documents.values import ABSENT
from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.files.plain_files import read_plain
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import WholeDisk
from kafka_unclean_recovery.spark.result_paths import ResultPath

SCAN = "scan.json"
REPLICAS = "replicas"
PARTITIONS = "partitions"
_LARGEST = 64 << 20


@dataclass(frozen=True, slots=True)
class ScanHead:
    """A ReplicaInfo without its partitions. scanned_at: ISO 8601 with its offset from UTC.
    metadata_epoch and metadata_end_offset (exclusive): of the metadata log that the states are
    from. whole: as ReplicaInfo has it. rows: None where an older version wrote scan.json."""

    cluster_id: str | None
    scanned_at: str
    mode: ScanMode
    brokers: tuple[int, ...]
    metadata_epoch: int | None
    metadata_end_offset: int | None
    problems: tuple[str, ...] = ()
    whole: tuple[WholeDisk, ...] = ()
    rows: TableRowsJson | None = None


def head_json(head: ScanHead) -> str:
    metadata = None
    if head.metadata_epoch is not None and head.metadata_end_offset is not None:
        metadata = MetadataJson(head.metadata_epoch, head.metadata_end_offset)
    document = SparkScanJson(
        cluster_id=head.cluster_id,
        scanned_at=head.scanned_at,
        mode=head.mode,
        brokers=head.brokers,
        metadata=metadata,
        problems=head.problems,
        whole=tuple(WholeDiskJson(*structs.astuple(disk)) for disk in head.whole),
        rows=head.rows or ABSENT,
    )
    return json.dumps(to_json(document), indent=1) + "\n"


def read_head(directory: ResultPath) -> ScanHead:
    """Read scan.json. Raises InputError for a directory that is no ended scan."""
    path = directory / SCAN
    try:
        data = read_plain(path, _LARGEST) if isinstance(path, Path) else path.read_bytes()
        text = data.decode()
    except FileNotFoundError:
        raise InputError(
            f"{directory}: no {SCAN} here: it is no output of spark scan, or of one that has not"
            " ended; run that again"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    document, place = load_object(text, str(path)), Place(str(path))
    if document.get("kind") != "spark-scan" or document.get("format_version") != 1:
        raise InputError(f"{path}: is not a scan of format version 1; scan again")
    read = decode_newer(document, SparkScanJson, place)
    each_once(read.brokers, place.at("brokers"))
    return ScanHead(
        cluster_id=read.cluster_id,
        scanned_at=read.scanned_at,
        mode=read.mode,
        brokers=read.brokers,
        metadata_epoch=read.metadata.epoch if read.metadata else None,
        metadata_end_offset=read.metadata.end_offset if read.metadata else None,
        problems=read.problems,
        whole=tuple(to_model(disk, WholeDisk) for disk in read.whole),
        rows=read.rows or None,
    )
