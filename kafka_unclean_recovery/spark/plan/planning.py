"""One plan over any number of partitions is made and asked here, job by job.

No function here holds a row for each partition on the driver.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from kafka_unclean_recovery.model import PartitionReport, TopicPartition
from kafka_unclean_recovery.spark.plan.merged_rows import merged_infos
from kafka_unclean_recovery.spark.plan.merging import Scans, merge_settings, sorted_rows
from kafka_unclean_recovery.spark.plan.plan_rows import PLANNED, planned_reports
from kafka_unclean_recovery.spark.plan.plan_texts import TEXTS, TOTALS, unpacked
from kafka_unclean_recovery.spark.plan.totals import Totals, totals_of
from kafka_unclean_recovery.spark.shipping import on_executors
from kafka_unclean_recovery.spark.tables import spark_schema

_HERE = "kafka_unclean_recovery.spark.plan"


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan: what it is made of. rows: those of merging.sorted_rows. settings: of the functions
    for executors."""

    scans: Scans
    excluded: frozenset[int]
    settings: dict[str, object]
    rows: DataFrame

    @property
    def plans(self) -> DataFrame:
        """Return rows as plan_rows.PLANNED, which each action plans anew."""
        work = on_executors(f"{_HERE}.plan_rows:plan_rows", self.settings)
        return self.rows.mapInArrow(work, spark_schema(PLANNED))


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of a plan's files, and its totals, from one pass through all partitions."""

    rows: DataFrame
    totals: Totals

    def lines(self, kind: str) -> Generator[tuple[str, str]]:
        """Yield (text, canonical) of plan_texts, many lines at a time, by topic and partition. Who
        takes not all closes it while there is a session: else the JVM has nobody to write to."""
        found = self.rows.where(F.col("kind") == kind).select("text", "canonical")
        for row in found.toLocalIterator():
            yield unpacked(row.text), unpacked(row.canonical)


def plan(spark: SparkSession, scans: Scans, excluded: frozenset[int]) -> Planned:
    """Have the pure planner choose the designated leader of each partition."""
    merged = scans.merged
    settings = {
        **merge_settings(spark, scans),
        "brokers": list(merged.brokers),
        "excluded": sorted(excluded),
        "metadata_epoch": merged.metadata_epoch,
        "metadata_end_offset": merged.metadata_end_offset,
    }
    return Planned(scans, excluded, settings, sorted_rows(spark, scans))


def texts(planned: Planned, *, rich: bool, worst: int = 0) -> Texts:
    """Make the texts of the files. rich: those of the rich plan, too. worst: how many of the
    partitions that lose most are to be known."""
    settings = {**planned.settings, "rich": rich, "worst": worst}
    work = on_executors(f"{_HERE}.plan_texts:plan_texts", settings)
    # In memory they would take that of the driver, which has to hold what it takes from a task.
    rows = planned.rows.mapInArrow(work, TEXTS).persist(StorageLevel.DISK_ONLY)
    totals = Totals()
    for row in rows.where(F.col("kind") == TOTALS).select("text").collect():
        totals.join(totals_of(json.loads(unpacked(row.text))), worst)
    return Texts(rows, totals)


def strangers(planned: Planned, totals: Totals) -> tuple[list[int], list[int]]:
    """Return (excluded brokers that were found nowhere, all brokers that were found), sorted."""
    known = totals.brokers.union(planned.scans.merged.brokers)
    return sorted(planned.excluded - known), sorted(known)


def reports_of(planned: Planned, names: Sequence[TopicPartition]) -> list[PartitionReport]:
    """Return the plans of a few partitions, in the order of their names."""
    if not names:
        return []
    wanted = reduce(Column.__or__, map(_is, names))
    batches = iter(planned.rows.where(wanted).toArrow().to_batches())
    found = {
        report.topic_partition: report
        for infos in merged_infos(planned.settings, batches)
        for report in planned_reports(planned.settings, infos)
    }
    return [found[name] for name in names]


def _is(name: TopicPartition) -> Column:
    return (F.col("topic") == name.topic) & (F.col("partition") == name.partition)
