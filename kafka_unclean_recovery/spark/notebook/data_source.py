"""The data source `kafka_log_dirs` reads log directories as a DataFrame, for exploring:

    from kafka_unclean_recovery.spark.notebook.data_source import register

    register(spark)
    replicas = spark.read.format("kafka_log_dirs").load("/mnt/disks").where("topic = 'orders'")

Each replica has a row, with the columns of tables.REPLICAS. A row is as the replica's own disk has
it: no replica is checked against the others or against the metadata log, as `spark scan` does, so
nothing is to be planned from these rows. A topic counts as compacted where the log cleaner has
worked on it on any of the disks.

Options: mode (fast, recover, deep; fast unless said), endpoint and region of an object store, and
ignoreProblems, without which a log directory that can't be read ends the query. Several paths are
given as load([...]), or as the option paths, a JSON array. Every executor must see local paths.
Filters on topic, partition and broker decide which replicas are opened. Each action reads anew.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pyspark import cloudpickle
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from kafka_unclean_recovery.spark.session import PUSHDOWN, is_elsewhere
from kafka_unclean_recovery.spark.shipping import reaching, ship

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.datasource import Filter
    from pyspark.sql.types import StructType

FORMAT = "kafka_log_dirs"

# The classes here are pickled whole, together with this function, and import our modules only once
# it has been called.
_reach = reaching()


def register(spark: SparkSession) -> None:
    """Register the data source, once a session; executors that may lack our package get it."""
    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]
    # Without this setting Spark refuses a reader that takes filters.
    spark.conf.set(PUSHDOWN, "true")
    if is_elsewhere(spark):
        # The modules that a data source needs must be there before it is registered.
        ship(spark)
    spark.dataSource.register(KafkaLogDirs)


class KafkaLogDirs(DataSource):
    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> StructType:
        _reach()
        from kafka_unclean_recovery.spark.tables import REPLICAS, spark_schema

        return spark_schema(REPLICAS)

    def reader(self, schema: StructType) -> DataSourceReader:
        return KafkaLogDirsReader(dict(self.options))


class KafkaLogDirsReader(DataSourceReader):
    """The reader that Spark asks for filters and partitions on the driver's side, then for rows on
    executors."""

    def __init__(self, options: dict[str, str]) -> None:
        self._options = options
        self._criteria: list[tuple[str, str, Any, bool]] = []

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802 - Spark's name
        _reach()
        from kafka_unclean_recovery.spark.notebook.pushed_filters import criterion

        for pushed in filters:
            taken = criterion(pushed)
            if taken is None:
                yield pushed
            else:
                self._criteria.append(taken)

    def partitions(self) -> Sequence[InputPartition]:
        _reach()
        from kafka_unclean_recovery.spark.notebook.exploring import explored, jobs_to_read

        jobs = jobs_to_read(explored(self._options), self._criteria)
        return [InputPartition(job) for job in jobs]

    def read(self, partition: InputPartition | None) -> Iterator[Any]:
        # Where there is nothing to read Spark still asks once, with no job; Spark 4.0 with less.
        if partition is None or partition.value is None:
            return
        _reach()
        from kafka_unclean_recovery.spark.notebook.exploring import rows_of

        yield from rows_of(partition.value)
