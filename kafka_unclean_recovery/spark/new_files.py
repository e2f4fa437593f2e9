"""A new file is there whole or not at all, and a second writer of it writes the same.

Spark may run a task twice, also side by side, so each run writes under a name of its own and
renames the file.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow.parquet

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.files.private_files import make_private_directory, private
from kafka_unclean_recovery.files.sync_directory import sync_directory
from kafka_unclean_recovery.spark.result_paths import (
    ResultPath,
    parquet_metadata,
    read_batches,
    table_files,
)
from kafka_unclean_recovery.spark.tables import Row, batch
from kafka_unclean_recovery.stores.store_path import StorePath

_parquet: Any = pyarrow.parquet
# This many rows are held in memory until they are written.
_ROWS_AT_A_TIME = 10_000


def write_text(path: ResultPath, text: str) -> None:
    """Write a text in place of what is there. Raises OSError."""
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_rows(path: ResultPath, rows: Iterable[Row], schema: Any) -> None:
    """Write rows as Parquet, in place of what is there. Raises OSError."""
    with whole_file(path) as temporary, parquet_rows(temporary, schema) as add:
        for row in rows:
            add(row)


@contextmanager
def whole_rows(path: ResultPath, schema: Any) -> Iterator[Callable[[Row], None]]:
    """Yield a function that writes one row to a file like `write_rows` does; nothing is there when
    the block raises."""
    with whole_file(path) as temporary, parquet_rows(temporary, schema) as add:
        yield add


@contextmanager
def parquet_rows(path: Path, schema: Any) -> Iterator[Callable[[Row], None]]:
    """Yield a function that writes one row as Parquet. Raises OSError."""
    with _parquet.ParquetWriter(path, schema) as writer:
        kept: list[Row] = []

        def add(row: Row) -> None:
            kept.append(row)
            if len(kept) >= _ROWS_AT_A_TIME:
                writer.write_batch(batch(kept, schema))
                kept.clear()

        yield add
        if kept:
            writer.write_batch(batch(kept, schema))


def read_rows(path: ResultPath) -> Iterator[dict[str, Any]]:
    """Yield the rows of a Parquet file. Raises OSError."""
    for found in read_batches(path):
        yield from found.to_pylist()


def count_rows(directory: ResultPath) -> int:
    """Return the number of rows of a table, of whose files only the ends are read. Raises
    InputError."""
    try:
        files = table_files(directory)
    except OSError as error:
        raise InputError(f"{directory}: can't be listed: {error.strerror}") from None
    return sum(map(_rows_of, files))


def _rows_of(path: ResultPath) -> int:
    try:
        return int(parquet_metadata(path).num_rows)
    except (OSError, pyarrow.ArrowException) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: can't be read as Parquet: {why}; scan again") from None


@contextmanager
def whole_file(path: ResultPath) -> Iterator[Path]:
    """Yield a local path to write to; its file takes the place of `path`, unless the block
    raises."""
    with _uploaded(path) if isinstance(path, StorePath) else _renamed(path) as temporary:
        yield temporary


@contextmanager
def _uploaded(path: StorePath) -> Iterator[Path]:
    with TemporaryDirectory() as directory:
        temporary = Path(directory) / path.name
        yield temporary
        path.write(temporary)


@contextmanager
def _renamed(path: Path) -> Iterator[Path]:
    make_private_directory(path.parent)
    # Spark and we pass over names that begin with a dot.
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        # The file exists, with private rights, before it is written to by name.
        open(temporary, "x", opener=private).close()
        yield temporary
        descriptor = os.open(temporary, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        temporary.rename(path)
        sync_directory(path.parent)
    finally:
        temporary.unlink(missing_ok=True)
