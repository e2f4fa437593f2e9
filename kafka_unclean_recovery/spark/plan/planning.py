"""One plan over any number of partitions is made and asked here, job by job.

No function here holds a row for each partition on the driver.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from kafka_unclean_recovery.model import PartitionReport, TopicPartition
from kafka_unclean_recovery.spark.plan.merged_rows import merged_infos
from kafka_unclean_recovery.spark.plan.merging import Scans, merge_settings, sorted_rows
from kafka_unclean_recovery.spark.plan.plan_rows import PLANNED, planned_reports
from kafka_unclean_recovery.spark.plan.plan_texts import TEXTS, TOTALS
from kafka_unclean_recovery.spark.plan.totals import Totals, totals_of
from kafka_unclean_recovery.spark.shipping import on_executors
from kafka_unclean_recovery.spark.tables import spark_schema

_HERE = "kafka_unclean_recovery.spark.plan"


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan. plans: rows as plan_rows.PLANNED, kept while the session lasts once they are asked
    for. settings: of the functions for executors."""

    spark: SparkSession
    scans: Scans
    excluded: frozenset[int]
    settings: dict[str, object]
    plans: DataFrame


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of a plan's files, and its totals, from one pass through all partitions."""

    rows: DataFrame
    totals: Totals

    def lines(self, kind: str) -> Iterator[tuple[str, str]]:
        """Yield (text, canonical) of plan_texts, many lines at a time, by topic and partition."""
        found = self.rows.where(F.col("kind") == kind).select("text", "canonical")
        for row in found.toLocalIterator(prefetchPartitions=True):
            yield row.text, row.canonical


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
    work = on_executors(f"{_HERE}.plan_rows:plan_rows", settings)
    plans = sorted_rows(spark, scans).mapInArrow(work, spark_schema(PLANNED))
    return Planned(spark, scans, excluded, settings, plans.persist())


def texts(planned: Planned, *, rich: bool, worst: int = 0) -> Texts:
    """Make the texts of the files. rich: those of the rich plan, too. worst: how many of the
    partitions that lose most are to be known."""
    settings = {**planned.settings, "rich": rich, "worst": worst}
    work = on_executors(f"{_HERE}.plan_texts:plan_texts", settings)
    rows = sorted_rows(planned.spark, planned.scans).mapInArrow(work, TEXTS).persist()
    totals = Totals()
    for row in rows.where(F.col("kind") == TOTALS).select("text").collect():
        totals.join(totals_of(json.loads(row.text)), worst)
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
    rows = sorted_rows(planned.spark, planned.scans, wanted).toArrow()
    batches = iter(rows.to_batches())
    found = {
        report.topic_partition: report
        for infos in merged_infos(planned.settings, batches)
        for report in planned_reports(planned.settings, infos)
    }
    return [found[name] for name in names]


def _is(name: TopicPartition) -> Column:
    return (F.col("topic") == name.topic) & (F.col("partition") == name.partition)
