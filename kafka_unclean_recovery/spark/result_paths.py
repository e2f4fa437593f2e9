"""Results lie in a directory that driver and executors have under one path, or in a store, which
all of them reach."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
from pyspark.sql import DataFrame, SparkSession

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.files.private_files import make_private_directory
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.spark.places import location_of, spark_path
from kafka_unclean_recovery.spark.shipping import on_executors
from kafka_unclean_recovery.spark.tables import spark_schema
from kafka_unclean_recovery.spark.tasks import numbers
from kafka_unclean_recovery.stores.location import StoreLocation
from kafka_unclean_recovery.stores.store_path import StorePath

_arrow: Any = pyarrow
_parquet: Any = pyarrow.parquet

ResultPath = Path | StorePath
_ROWS_AT_A_TIME = 10_000
_MOST_FOOTERS = 64 << 10


def result_path(text: str, store: Mapping[str, str]) -> ResultPath:
    """Return a path of this machine, as absolute, or of a store. store: endpoint and region, where
    given. Raises InputError."""
    place = location_of(text, store)
    if isinstance(place, StoreLocation):
        if "/" not in place.uri.partition("://")[2]:
            raise InputError(f"{place}: name a path in the bucket, such as {place}/scan-1")
        return StorePath(place.uri, place.options)
    assert isinstance(place, LocalLocation)
    return place.path.absolute()


def for_tasks(path: ResultPath) -> list[Any]:
    """Return what `in_task` makes the same path of, as JSON has it."""
    if isinstance(path, Path):
        return [str(path), {}]
    told = {"endpoint": path.options.endpoint, "region": path.options.region}
    return [path.uri, {key: value for key, value in told.items() if value is not None}]


def in_task(told: Sequence[Any]) -> ResultPath:
    text, store = told
    return result_path(text, store) if "://" in text else Path(text)


def make_directory(path: ResultPath) -> None:
    """Make a directory that only its owner may read; a store has none. Raises OSError."""
    if isinstance(path, Path):
        make_private_directory(path)


def names_in(path: ResultPath) -> list[str]:
    """Return the names in a directory, none where it is not there. Raises OSError."""
    if isinstance(path, StorePath):
        return path.names()
    try:
        return [entry.name for entry in path.iterdir()]
    except FileNotFoundError:
        return []


def remove_tree(path: ResultPath) -> None:
    """Remove a directory, if it is there. Raises OSError."""
    if isinstance(path, StorePath):
        path.remove_tree()
    elif path.exists():
        shutil.rmtree(path)


def claimed(claims: ResultPath, name: str) -> bool:
    """Return whether this call was the first for the name, of all processes that share `claims`. In
    a store two at once may both be: what is done twice is the same."""
    if isinstance(claims, StorePath):
        return _claimed_in_store(claims / name)
    try:
        (claims / name).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _claimed_in_store(claim: StorePath) -> bool:
    if claim.exists():
        return False
    claim.write(Path("/dev/null"))
    return True


def parquet_source(path: ResultPath) -> Any:
    """Return what pyarrow reads a file of Parquet from. Raises OSError."""
    return path if isinstance(path, Path) else _arrow.BufferReader(path.read_bytes())


def parquet_metadata(path: ResultPath) -> Any:
    """Return pyarrow's metadata of a file of Parquet, of which only the end is read. Raises
    OSError, ArrowException."""
    if isinstance(path, Path):
        return _parquet.read_metadata(path)
    end = path.read_end(_MOST_FOOTERS)
    # The last four bytes are a mark, those before them the length of the footer.
    needed = int.from_bytes(end[-8:-4], "little") + 8
    end = end if needed <= len(end) else path.read_end(needed)
    return _parquet.read_metadata(_arrow.BufferReader(end))


def read_batches(path: ResultPath, columns: Sequence[str] | None = None) -> Iterator[Any]:
    """Yield the record batches of a file of Parquet. Raises OSError."""
    with _parquet.ParquetFile(parquet_source(path)) as file:
        # pyarrow 18 fails over a file without a row.
        found = file.iter_batches(_ROWS_AT_A_TIME, columns=columns)
        yield from found if file.num_row_groups else ()


def table_files(directory: ResultPath) -> list[ResultPath]:
    """Return the files of a table, as Spark finds them. Raises OSError."""
    if isinstance(directory, StorePath):
        names: Iterable[str] = directory.names(recursive=True)
    else:
        names = (str(p.relative_to(directory)) for p in directory.rglob("*") if p.is_file())
    return [directory / name for name in sorted(names) if not _hidden(name)]


def _hidden(name: str) -> bool:
    return any(part.startswith((".", "_")) for part in name.split("/"))


def read_table(spark: SparkSession, path: ResultPath, schema: Any) -> DataFrame:
    """Return the rows of a file, or of the files of a directory. Spark itself reads a store by
    connectors that it may not have, so that tasks read what is there."""
    if isinstance(path, Path):
        return spark.read.schema(spark_schema(schema)).parquet(spark_path(path.absolute()))
    files = [path] if path.name.endswith(".parquet") else table_files(path)
    settings = {"files": [for_tasks(file) for file in files]}
    given = spark.range(0, len(files), 1, numPartitions=max(1, len(files)))
    work = on_executors("kafka_unclean_recovery.spark.result_paths:read_files", settings)
    return given.mapInArrow(work, spark_schema(schema))


def read_files(settings: Mapping[str, Any], batches: Iterable[Any]) -> Iterator[Any]:
    """Yield what the files whose numbers are the rows hold; for DataFrame.mapInArrow."""
    for number in numbers(batches):
        yield from read_batches(in_task(settings["files"][number]))
