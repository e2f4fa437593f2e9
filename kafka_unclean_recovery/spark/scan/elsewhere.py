"""The jobs of a scan. Executors may not all have the same mounts: what is missing where a task ran
is tried wherever Spark has a core, and in the end read as if it were there, which says what is
wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from typing import Any

from pyspark.sql import SparkSession

from kafka_unclean_recovery.spark.result_paths import for_tasks
from kafka_unclean_recovery.spark.running import (
    TASKS_A_CORE,
    Watch,
    cores_of,
    on_one_machine,
    run_watched,
)
from kafka_unclean_recovery.spark.scan.job import Home
from kafka_unclean_recovery.spark.tasks import run_tasks
from kafka_unclean_recovery.spark.turns import TRIES, new_claims

_HERE = "kafka_unclean_recovery.spark.scan"
# Where there are very many roots, metadata logs or replicas in pieces, a task gets this many.
_NUMBERS_OF_A_TASK = 32
_OF_TURNS = ("took", "away")


@dataclass(slots=True)
class Jobs:
    """Jobs of one session for one home. elsewhere: the hosts on which a place was missing that was
    read on another; nowhere: those of a place that was missing on all that were tried."""

    spark: SparkSession
    home: Home
    watch: Watch
    elsewhere: dict[str, set[str]] = field(default_factory=dict)
    nowhere: dict[str, set[str]] = field(default_factory=dict)

    def run(self, entry: str, settings: Mapping[str, Any], count: int) -> list[dict[str, Any]]:
        """Run `entry`, a function of this package, in tasks for the numbers below `count`, and
        return what they told."""
        cores = cores_of(self.spark)
        tasks = min(count, max(cores * TASKS_A_CORE, ceil(count / _NUMBERS_OF_A_TASK)))
        return self.run_in(entry, settings, count, tasks, self._teller(entry, tasks))

    def run_in(
        self,
        entry: str,
        settings: Mapping[str, Any],
        count: int,
        tasks: int,
        tell: Callable[[int], None],
    ) -> list[dict[str, Any]]:
        """Do as `run` in so many tasks; `tell` is told how many are done."""
        if count == 0:
            return []
        if on_one_machine(self.spark):
            told = self._job(entry, {**settings, "anyhow": True}, count, tasks, tell)
            return list(_results(told))
        told = self._job(entry, settings, count, tasks, tell)
        for _ in range(TRIES):
            if left := _left(told):
                told += self._again(entry, settings, left)
        left = _left(told)
        self._note(told, left)
        if left:
            told += self._again(entry, {**settings, "anyhow": True}, left)
        return list(_results(told))

    def each_core(self, entry: str, settings: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Run `entry` in more tasks than there are cores, all of which so have one."""
        tasks = cores_of(self.spark) * TASKS_A_CORE
        claimed = {**settings, "claims": for_tasks(new_claims(self.home.work))}
        return self._job(entry, claimed, tasks, tasks, self._teller(entry, tasks))

    def _again(
        self, entry: str, settings: Mapping[str, Any], left: Sequence[int]
    ) -> list[dict[str, Any]]:
        return self.each_core(entry, {**settings, "again": list(left)})

    def _job(
        self,
        entry: str,
        settings: Mapping[str, Any],
        count: int,
        tasks: int,
        tell: Callable[[int], None],
    ) -> list[dict[str, Any]]:
        job = run_tasks(self.spark, f"{_HERE}.{entry}", settings, count, tasks)
        return run_watched(self.spark, job, tasks, tell, lambda: self.watch.stopped)

    def _teller(self, entry: str, tasks: int) -> Callable[[int], None]:
        return partial(self.watch.tasks, entry.partition(":")[0], count=tasks)

    def _note(self, told: Iterable[Mapping[str, Any]], still: Sequence[int]) -> None:
        for row in told:
            if "away" in row:
                hosts = self.nowhere if row["away"] in still else self.elsewhere
                hosts.setdefault(row["place"], set()).add(row["host"])


def _left(told: Iterable[Mapping[str, Any]]) -> list[int]:
    """Return the numbers that no task took."""
    rows = list(told)
    took = {row["took"] for row in rows if "took" in row}
    return sorted({row["away"] for row in rows if "away" in row} - took)


def _results(told: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    return (row for row in told if not any(key in row for key in _OF_TURNS))
