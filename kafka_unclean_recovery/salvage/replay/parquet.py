"""Salvaged records are read from Parquet by pyarrow (the extra [salvage])."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow
import pyarrow.parquet

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.salvage.parquet import SCHEMA
from kafka_unclean_recovery.salvage.replay.records import SavedRecord, in_order
from kafka_unclean_recovery.salvage.replay.saved import SavedFile
from kafka_unclean_recovery.salvage.transactions import Ending

_ROWS = 1000
_arrow: Any = pyarrow
_parquet: Any = pyarrow.parquet


def read_records(file: SavedFile) -> Iterator[SavedRecord]:
    """Yield the records of a file, with one row group in memory. Raises InputError."""
    return in_order(_records(file), str(file.path))


def _records(saved: SavedFile) -> Iterator[SavedRecord]:
    path = saved.path
    try:
        with saved.open() as plain, _parquet.ParquetFile(plain) as file:
            if not file.schema_arrow.equals(SCHEMA):
                raise InputError(f"{path}: not as salvage wrote it; salvage again")
            # pyarrow 18 fails over a file without a row.
            for batch in file.iter_batches(_ROWS) if file.num_row_groups else ():
                for row in batch.to_pylist():
                    yield _record(row, saved.suspect)
    except (OSError, _arrow.ArrowException) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: can't be read as Parquet: {why}; salvage again") from None


def _record(row: dict[str, Any], suspect: bool) -> SavedRecord:
    ending = row["transaction"]
    return SavedRecord(
        row["broker"],
        row["offset"],
        row["leader_epoch"],
        row["timestamp"],
        row["key"],
        row["value"],
        tuple((header["key"], header["value"]) for header in row["headers"]),
        None if ending is None else Ending(ending),
        row["control"] is not None,
        suspect,
    )
