"""Work items are made into tasks of about the same size, on the driver, which unpacks no rows but
those of replicas in pieces."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil
from typing import Any

import pyarrow
import pyarrow.compute
import pyarrow.parquet

from kafka_unclean_recovery.spark.new_files import whole_file, write_rows
from kafka_unclean_recovery.spark.result_paths import ResultPath, parquet_source
from kafka_unclean_recovery.spark.scan.job import Home
from kafka_unclean_recovery.spark.scan.listing import STRAYS, Root, items_of, strays_below
from kafka_unclean_recovery.spark.scan.work_items import ITEMS, REPLICA_COST, bundled

_arrow: Any = pyarrow
_compute: Any = pyarrow.compute
_parquet: Any = pyarrow.parquet

# Each row is a replica in pieces, as ITEMS has it whole, and the bundles that have pieces of it.
JOINS: Any = ITEMS.append(_arrow.field("bundles", _arrow.list_(_arrow.int32())))

# This takes five to ten seconds of a core that reads a disk.
_TASK_COST = 1 << 30
_TASKS_A_CORE = 2


@dataclass(frozen=True, slots=True)
class Bundles:
    """The numbers of bundles, and of replicas in pieces; the bytes to be read and the replicas in
    all bundles."""

    count: int
    joins: int
    size: int
    replicas: int


def make_bundles(
    home: Home, roots: Iterable[Root], places: Container[int], apart: Container[int], cores: int
) -> Bundles:
    """Make bundles of the items of log directories at these places. apart: those that not all
    executors have, which share no bundle with another. Raises OSError."""
    tables = [_kept(items_of(home, root), ITEMS, places) for root in roots]
    items = _arrow.concat_tables([ITEMS.empty_table(), *tables])
    lengths = _compute.list_value_length(items["replicas"])
    whole = _compute.is_null(items["pieces"])
    sizes = items["size"].to_pylist()
    costs = [
        size + REPLICA_COST * length
        for size, length in zip(sizes, lengths.to_pylist(), strict=True)
    ]
    alone = [place if place in apart else None for place in items["place"].to_pylist()]
    bundles = [
        part for bundle in bundled(costs, _how_many(costs, cores)) for part in _cut(bundle, alone)
    ]
    for number, bundle in enumerate(bundles):
        _write(bundle_file(home, number), items.slice(bundle.start, len(bundle)))
    joins = _joins(bundles, items)
    for number, join in enumerate(joins):
        write_rows(join_file(home, number), [join], JOINS)
    replicas = _compute.sum(lengths.filter(whole)).as_py() or 0
    return Bundles(len(bundles), len(joins), sum(sizes), replicas + len(joins))


def _joins(bundles: Sequence[range], items: Any) -> list[dict[str, Any]]:
    """Return a row of JOINS for each replica that is in pieces."""
    in_pieces = _compute.is_valid(items["pieces"]).to_pylist()
    joins: dict[tuple[int, str], dict[str, Any]] = {}
    for number, bundle in enumerate(bundles):
        for place in bundle:
            if in_pieces[place]:
                (row,) = items.slice(place, 1).to_pylist()
                of = row["place"], row["replicas"][0]["name"]
                join = joins.setdefault(of, {**row, "pieces": None, "size": 0, "bundles": []})
                join["size"] += row["size"]
                if number not in join["bundles"]:
                    join["bundles"].append(number)
    return list(joins.values())


def _cut(bundle: range, alone: Sequence[int | None]) -> Iterator[range]:
    """Yield the parts of a bundle whose items are all of one place in `alone`, or all of others."""
    for _, part in groupby(bundle, lambda number: alone[number]):
        first, *rest = part
        yield range(first, first + 1 + len(rest))


def gather_strays(home: Home, roots: Iterable[Root], places: Container[int]) -> None:
    """Gather the strays of log directories at these places in one file. Raises OSError."""
    tables = [_kept(strays_below(home, root), STRAYS, places) for root in roots]
    _write(strays_file(home), _arrow.concat_tables([STRAYS.empty_table(), *tables]))


def bundle_file(home: Home, number: int) -> ResultPath:
    return home.work / "bundles" / f"{number}.parquet"


def join_file(home: Home, number: int) -> ResultPath:
    return home.work / "joins" / f"{number}.parquet"


def strays_file(home: Home) -> ResultPath:
    return home.work / "strays.parquet"


def _how_many(costs: Sequence[int], cores: int) -> int:
    return max(ceil(sum(costs) / _TASK_COST), min(len(costs), cores * _TASKS_A_CORE))


def _kept(path: ResultPath, schema: Any, places: Container[int]) -> Any:
    table = _parquet.read_table(parquet_source(path), schema=schema, partitioning=None)
    return table.filter(_arrow.array([p in places for p in table["place"].to_pylist()], "bool"))


def _write(path: ResultPath, table: Any) -> None:
    with whole_file(path) as temporary:
        _parquet.write_table(table, temporary)
