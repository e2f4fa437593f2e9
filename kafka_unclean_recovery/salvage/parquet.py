"""Salvaged records are written as Parquet by pyarrow (the extra [salvage]), one row for each
record.

The directory's name tells the topic (`layout`): a column of that name in the file would have
another type than the one that readers give to the directory's name.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow
import pyarrow.parquet

from kafka_unclean_recovery.files.private_files import open_private
from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.salvage.records import Record

SCHEMA_VERSION = 1

# A row group ends with the record that reaches one of these bounds.
_ROWS = 50_000
_BYTES = 32 << 20

_arrow: Any = pyarrow
_parquet: Any = pyarrow.parquet

_HEADERS = _arrow.list_(
    _arrow.struct([_arrow.field("key", _arrow.string(), False), ("value", _arrow.binary())])
)
# Null means that the record has no such value. timestamp: ms since 1970, of the type that
# timestamp_type tells. transaction: "committed", "aborted" or "open" by this replica's markers; a
# marker has its own ending, and a record outside of transactions has null. control: "commit" or
# "abort" for a marker, "control N" for any other control record, null for records that consumers
# see.
SCHEMA = _arrow.schema(
    [
        _arrow.field("partition", _arrow.int32(), False),
        _arrow.field("broker", _arrow.int32(), False),
        _arrow.field("offset", _arrow.int64(), False),
        ("leader_epoch", _arrow.int32()),
        ("timestamp", _arrow.int64()),
        ("timestamp_type", _arrow.string()),
        ("key", _arrow.binary()),
        ("value", _arrow.binary()),
        _arrow.field("headers", _HEADERS, False),
        ("producer_id", _arrow.int64()),
        ("producer_epoch", _arrow.int16()),
        ("sequence", _arrow.int32()),
        _arrow.field("transactional", _arrow.bool_(), False),
        ("transaction", _arrow.string()),
        ("control", _arrow.string()),
    ],
    metadata={"kafka_unclean_recovery.salvage": str(SCHEMA_VERSION)},
)

Row = tuple[Record, str | None]
"""A record, and the ending of the transaction that wrote it."""


@dataclass(slots=True)
class RecordsFile:
    """The Parquet file of one replica. Add the records, then close it. It keeps one row group in
    memory."""

    path: Path
    topic_partition: TopicPartition
    broker: int
    rows: int = 0
    _waiting: list[dict[str, object]] = field(default_factory=list)
    _size: int = 0
    _file: BinaryIO = field(init=False)
    _writer: Any = field(init=False)

    def __post_init__(self) -> None:
        self._file = open_private(self.path, "xb")
        self._writer = _parquet.ParquetWriter(self._file, SCHEMA, compression="zstd")

    def add(self, rows: Iterable[Row]) -> None:
        """Write the rows. Raises OSError."""
        for record, transaction in rows:
            self._waiting.append(self._row(record, transaction))
            self._size += _size(record)
            if len(self._waiting) >= _ROWS or self._size >= _BYTES:
                self._flush()

    def close(self) -> None:
        """Write the last row group and fsync the file."""
        with self._file:
            self._flush()
            self._writer.close()
            self._file.flush()
            os.fsync(self._file.fileno())

    def _flush(self) -> None:
        if self._waiting:
            self._writer.write_table(_arrow.Table.from_pylist(self._waiting, SCHEMA))
        self.rows += len(self._waiting)
        self._waiting, self._size = [], 0

    def _row(self, record: Record, transaction: str | None) -> dict[str, object]:
        kind = record.timestamp_type
        return {
            "partition": self.topic_partition.partition,
            "broker": self.broker,
            "offset": record.offset,
            "leader_epoch": record.leader_epoch,
            "timestamp": record.timestamp,
            "timestamp_type": None if kind is None else kind.value,
            "key": record.key,
            "value": record.value,
            "headers": [{"key": key, "value": value} for key, value in record.headers],
            "producer_id": record.producer_id,
            "producer_epoch": record.producer_epoch,
            "sequence": record.sequence,
            "transactional": record.transactional,
            "transaction": transaction,
            "control": record.control,
        }


def _size(record: Record) -> int:
    headers = sum(len(key) + len(value or b"") for key, value in record.headers)
    return len(record.key or b"") + len(record.value or b"") + headers
