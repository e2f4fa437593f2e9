"""The driver gives numbers of files to its tasks, and gets next to nothing back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pyarrow
from pyspark.sql import SparkSession

from kafka_unclean_recovery.spark.shipping import on_executors

_arrow: Any = pyarrow
TOLD = "told string"
"""The schema of what tasks tell."""


def numbers(batches: Iterable[Any]) -> Iterator[int]:
    """Yield the numbers that `run_tasks` gave the task."""
    for batch in batches:
        yield from batch.column(0).to_pylist()


def told(*documents: Mapping[str, Any]) -> Any:
    """Return what a task yields; each document is JSON."""
    texts = [json.dumps(document) for document in documents]
    return _arrow.RecordBatch.from_pydict({"told": _arrow.array(texts, _arrow.string())})


def run_tasks(
    spark: SparkSession, entry: str, settings: Mapping[str, Any], count: int, tasks: int
) -> Callable[[], list[dict[str, Any]]]:
    """Return a function that runs `entry`, as shipping.on_executors has it, in `tasks` tasks, which
    share the numbers below `count`. The function returns what the tasks told."""

    def run() -> list[dict[str, Any]]:
        given = spark.range(0, count, 1, numPartitions=tasks)
        return collected(given.mapInArrow(on_executors(entry, settings), TOLD))

    return run


def collected(told_by_tasks: Any) -> list[dict[str, Any]]:
    return [json.loads(row.told) for row in told_by_tasks.collect()]
