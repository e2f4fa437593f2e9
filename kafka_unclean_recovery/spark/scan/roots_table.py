"""A table of roots has one row for each disk of a broker."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any

import pyarrow
import pyarrow.parquet

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.spark.result_paths import ResultPath

_parquet: Any = pyarrow.parquet
_COLUMN = "root"
_PARQUET = b"PAR1"


def roots_of(data: bytes, name: str) -> list[str]:
    """Return the column `root` of a CSV file with a header, or of a Parquet file. name: for errors.

    Raises InputError.
    """
    found = _from_parquet(data, name) if data[:4] == _PARQUET else _from_csv(data, name)
    roots = []
    for row, root in enumerate(found, 1):
        if not isinstance(root, str) or not root.strip():
            raise InputError(f"{name}: row {row} has no {_COLUMN}; fill it in, or remove the row")
        roots.append(root.strip())
    return roots


def roots_csv(roots: Iterable[str]) -> str:
    """Return a CSV file with the column `root`."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([_COLUMN])
    writer.writerows([root] for root in roots)
    return text.getvalue()


def roots_in(path: ResultPath) -> tuple[str, ...]:
    """Return the roots of a file that `roots_csv` made; none where it is not there. Raises OSError,
    InputError."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return ()
    return tuple(roots_of(data, str(path)))


def _from_parquet(data: bytes, name: str) -> list[object]:
    try:
        table = _parquet.read_table(io.BytesIO(data))
    except (OSError, ValueError, pyarrow.ArrowException) as error:
        raise InputError(f"{name}: no whole Parquet file: {error}") from None
    if _COLUMN not in table.column_names:
        raise _no_column(name, table.column_names)
    values: list[object] = table[_COLUMN].to_pylist()
    return values


def _from_csv(data: bytes, name: str) -> list[object]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{name}: neither Parquet nor UTF-8 text") from None
    rows = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        if _COLUMN not in (rows.fieldnames or ()):
            raise _no_column(name, rows.fieldnames or ())
        return [row[_COLUMN] for row in rows]
    except csv.Error as error:
        raise InputError(f"{name}: line {rows.line_num}: {error}") from None


def _no_column(name: str, columns: Any) -> InputError:
    has = ", ".join(columns) or "none"
    return InputError(f"{name}: no column {_COLUMN} (it has {has}); name the one with the roots so")
