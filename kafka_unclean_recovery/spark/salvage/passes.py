"""Executors may not all have the same mounts: a replica whose disk is missing where its task ran is
tried wherever Spark has a core, and in the end as if it were there, which says what is wrong."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from kafka_unclean_recovery.spark.places import spark_path
from kafka_unclean_recovery.spark.running import (
    TASKS_A_CORE,
    Watch,
    cores_of,
    on_one_machine,
    run_watched,
)
from kafka_unclean_recovery.spark.salvage.tasks import SALVAGED
from kafka_unclean_recovery.spark.shipping import on_executors
from kafka_unclean_recovery.spark.tables import KEY, spark_schema
from kafka_unclean_recovery.spark.turns import TRIES, new_claims, sentences

_TASKS = "kafka_unclean_recovery.spark.salvage.tasks"
# Most replicas of a task hold nothing beyond the leader, and one may hold a terabyte.
_REPLICAS_A_TASK = 50
_MOST_TASKS = 20_000
_REPLICA = (*KEY, "broker")


@dataclass(slots=True)
class Passes:
    """The salvage of `items`, which are as tasks.salvage takes them.

    settings: its settings, but for `anyhow`. scratch: a directory that driver and executors share,
    for rows and claims. nowhere: log directories that were missing wherever they were tried.
    """

    spark: SparkSession
    items: DataFrame
    settings: Mapping[str, Any]
    scratch: Path
    watch: Watch
    nowhere: set[str] = field(default_factory=set)

    def run(self) -> DataFrame:
        """Return rows of SALVAGED, by partition and broker, once all their files are there. Raises
        Stopped, JobFailed."""
        alone = on_one_machine(self.spark)
        self._spread(self.items, anyhow=alone)
        if not alone:
            for salvage_left in (*[self._everywhere] * TRIES, self._anyhow):
                left = self._left()
                if left.isEmpty():
                    break
                salvage_left(left)
        return self._done().orderBy(*_REPLICA)

    def differing(self) -> Iterator[str]:
        """Yield sentences on what was missing on some hosts, and was read on others."""
        away = self._rows().where("away is not null").select("away", "host").distinct()
        missing: dict[str, set[str]] = {}
        for row in away.toLocalIterator():
            if row.away not in self.nowhere:
                missing.setdefault(row.away, set()).add(row.host)
        return (f"{said}; it is read where it can be" for said in sentences(missing))

    def _spread(self, items: DataFrame, *, anyhow: bool) -> None:
        tasks = min(1 + items.count() // _REPLICAS_A_TASK, _MOST_TASKS)
        work = on_executors(f"{_TASKS}:salvage", {**self.settings, "anyhow": anyhow})
        spread = items.repartition(tasks, *_REPLICA).sortWithinPartitions("log_directory")
        self._write(spread.mapInArrow(work, spark_schema(SALVAGED)), tasks)

    def _everywhere(self, left: DataFrame) -> None:
        """Run more tasks than there are cores, each of which claims of all that is left what it can
        read."""
        tasks = cores_of(self.spark) * TASKS_A_CORE
        listed = self.scratch / "left" / uuid.uuid4().hex
        left.orderBy("log_directory").write.parquet(f"file:{listed}")
        settings = {
            **self.settings,
            "left": str(listed),
            "claims": str(new_claims(self.scratch)),
        }
        work = on_executors(f"{_TASKS}:salvage_left", settings)
        turns = self.spark.range(0, tasks, 1, numPartitions=tasks)
        self._write(turns.mapInArrow(work, spark_schema(SALVAGED)), tasks)

    def _anyhow(self, left: DataFrame) -> None:
        self.nowhere.update(row[0] for row in left.select("log_directory").distinct().collect())
        self._spread(left, anyhow=True)

    def _write(self, rows: DataFrame, tasks: int) -> None:
        """Write the rows, because asking for them a second time would salvage everything again."""
        written = self.scratch / "rows" / uuid.uuid4().hex
        tell = partial(self.watch.tasks, "salvage", count=tasks)
        run_watched(
            self.spark,
            lambda: rows.write.parquet(f"file:{written}"),
            tasks,
            tell,
            lambda: self.watch.stopped,
        )

    def _rows(self) -> DataFrame:
        reader = self.spark.read.schema(spark_schema(SALVAGED))
        return reader.parquet(f"{spark_path(self.scratch / 'rows')}/*")

    def _done(self) -> DataFrame:
        return self._rows().where(F.col("away").isNull())

    def _left(self) -> DataFrame:
        """Return the items that no task salvaged."""
        return self.items.join(self._done().select(*_REPLICA), [*_REPLICA], "left_anti")
