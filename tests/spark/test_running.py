"""A Spark job that is watched: what it tells, how it fails, how it is cancelled."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

from kafka_unclean_recovery.log_dir.watching import Stopped
from kafka_unclean_recovery.spark.running import JobFailed, run_watched
from kafka_unclean_recovery.spark.tasks import numbers, run_tasks, told

HERE = "tests.spark.test_running"
LONG = 600.0


def failing(_: dict[str, Any], batches: Iterable[Any]) -> Iterator[Any]:
    raise RuntimeError(f"task {next(numbers(batches))} fails on purpose")


def sleeping(settings: dict[str, Any], batches: Iterable[Any]) -> Iterator[Any]:
    list(numbers(batches))
    time.sleep(settings["seconds"])
    yield told({"slept": settings["seconds"]})


def unheard(_: int) -> None: ...


def test_what_tasks_told_comes_back_and_their_number_is_told(spark: SparkSession) -> None:
    heard: list[int] = []
    job = run_tasks(spark, f"{HERE}:sleeping", {"seconds": 0.3}, 6, 6)
    rows = run_watched(spark, job, 6, heard.append, lambda: False)
    assert rows == [{"slept": 0.3}] * 6
    assert heard[0] == 0
    assert heard[-1] == 6
    assert heard == sorted(heard)
    assert set(heard) - {0, 6}


def test_a_job_that_fails_says_why_on_one_line(spark: SparkSession) -> None:
    job = run_tasks(spark, f"{HERE}:failing", {}, 1, 1)
    with pytest.raises(JobFailed, match=r"^RuntimeError: task 0 fails on purpose$"):
        run_watched(spark, job, 1, unheard, lambda: False)


def test_a_job_is_cancelled_within_seconds(spark: SparkSession) -> None:
    begun = time.monotonic()
    job = run_tasks(spark, f"{HERE}:sleeping", {"seconds": LONG}, 2, 2)
    with pytest.raises(Stopped):
        run_watched(spark, job, 2, unheard, lambda: time.monotonic() > begun + 1)
    assert time.monotonic() - begun < LONG / 4
    # Its cores are free again.
    after = run_tasks(spark, f"{HERE}:sleeping", {"seconds": 0.0}, 2, 2)
    assert len(run_watched(spark, after, 2, unheard, lambda: False)) == 2
