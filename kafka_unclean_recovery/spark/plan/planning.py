"""One plan over any number of partitions is made and asked here, job by job.

No function here holds a row for each partition on the driver.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from kafka_unclean_recovery.model import PartitionReport, ReplicaInfo
from kafka_unclean_recovery.report.loss_by_topic import RecordCount, TopicLoss
from kafka_unclean_recovery.spark.plan.merging import Scans, group, read_merged, tasks_of
from kafka_unclean_recovery.spark.plan.plan_rows import DELETED, PLANNED, TEXT, planned_reports
from kafka_unclean_recovery.spark.shipping import on_executors
from kafka_unclean_recovery.spark.tables import KEY, spark_schema

_ROWS = "kafka_unclean_recovery.spark.plan.plan_rows"


@dataclass(frozen=True, slots=True)
class Counted:
    """The number of cases, and the first of them by topic and partition as a sentence."""

    count: int
    first: str


@dataclass(frozen=True, slots=True)
class PlanSummary:
    """The totals of a plan. losses: by topic; topics whose partitions were all deleted are left
    out. without: partitions that have no designated leader, the first with its reason. deleted:
    partitions that are on disks only."""

    losses: tuple[TopicLoss, ...]
    without: Counted
    deleted: Counted


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan. replicas and partitions: of all scans, merged. plans: rows as plan_rows.PLANNED, kept
    while the session lasts."""

    scans: Scans
    excluded: frozenset[int]
    replicas: DataFrame
    partitions: DataFrame
    plans: DataFrame

    @property
    def settings(self) -> dict[str, object]:
        """Return the settings of plan_rows."""
        return _settings(self.scans.merged, self.excluded)


def plan(spark: SparkSession, scans: Scans, excluded: frozenset[int]) -> Planned:
    """Have the pure planner choose the designated leader of each partition."""
    replicas, partitions = read_merged(spark, scans)
    work = on_executors(f"{_ROWS}:plan_rows", _settings(scans.merged, excluded))
    plans = group(replicas, partitions).mapInArrow(work, spark_schema(PLANNED))
    # The plans are asked for several times.
    return Planned(scans, excluded, replicas, partitions, plans.persist())


def strangers(planned: Planned) -> tuple[list[int], list[int]]:
    """Return (excluded brokers that were found nowhere, all brokers that were found), sorted."""
    known = set(planned.scans.merged.brokers)
    if planned.excluded - known:
        assigned = planned.partitions.select(F.explode("replicas").alias("broker"))
        found = planned.replicas.select("broker").union(assigned).distinct()
        known.update(row.broker for row in found.collect())
    return sorted(planned.excluded - known), sorted(known)


def leader_lines(planned: Planned) -> Iterator[tuple[str, str]]:
    """Return leader lines of the KIP's file, many at a time, by topic and partition."""
    rows = planned.plans.where(F.col("designated_leader").isNotNull())
    ordered = rows.select(*KEY, "designated_leader").orderBy(*KEY)
    return _texts(ordered.mapInArrow(on_executors(f"{_ROWS}:leader_lines"), TEXT))


def plan_lines(planned: Planned) -> Iterator[tuple[str, str]]:
    """Return lines of the rich plan as `plan_line` does, many at a time, by topic and partition."""
    grouped = group(planned.replicas, planned.partitions)
    tasks = tasks_of(planned.plans.sparkSession)
    ordered = grouped.repartitionByRange(tasks, *KEY).sortWithinPartitions(*KEY)
    work = on_executors(f"{_ROWS}:plan_lines", planned.settings)
    return _texts(ordered.mapInArrow(work, TEXT))


def _settings(merged: ReplicaInfo, excluded: frozenset[int]) -> dict[str, object]:
    return {
        "brokers": list(merged.brokers),
        "excluded": sorted(excluded),
        "metadata_epoch": merged.metadata_epoch,
        "metadata_end_offset": merged.metadata_end_offset,
        "whole": [astuple(disk) for disk in merged.whole],
    }


def _texts(rows: DataFrame) -> Iterator[tuple[str, str]]:
    return ((row.text, row.canonical) for row in rows.toLocalIterator(prefetchPartitions=True))


def summarize(planned: Planned) -> PlanSummary:
    """Count partitions by topic and by why there is no leader, in one job."""
    designated = F.col("designated_leader").isNotNull()
    # Spark sums numbers up by hash. For a least struct it would sort every partition, so that comes
    # second, where few rows are left.
    by_reason = planned.plans.groupBy("topic", "why", "reason").agg(
        F.count("*").alias("partitions"),
        F.min("partition").alias("partition"),
        *_sums("certain", designated),
        *_sums("possible", designated),
    )
    totals = ("partitions", "certain", "certain_unknown", "possible", "possible_unknown")
    rows = by_reason.groupBy("topic", "why").agg(
        F.min_by(F.struct("partition", "reason"), "partition").alias("first"),
        *(F.sum(name).alias(name) for name in totals),
    )
    found = sorted(rows.collect(), key=lambda row: (row.topic, row.first.partition))
    by_topic = defaultdict(list)
    for row in found:
        if row.why != DELETED:
            by_topic[row.topic].append(row)
    return PlanSummary(
        tuple(_topic_loss(topic, its) for topic, its in by_topic.items()),
        _counted(row for row in found if row.why not in (None, DELETED)),
        _counted(row for row in found if row.why == DELETED),
    )


def _topic_loss(topic: str, rows: Sequence[Any]) -> TopicLoss:
    certain, possible = (
        RecordCount(
            sum(row[name] or 0 for row in rows), sum(row[f"{name}_unknown"] for row in rows)
        )
        for name in ("certain", "possible")
    )
    return TopicLoss(
        topic,
        sum(row.partitions for row in rows),
        sum(row.partitions for row in rows if row.why is None),
        {row.why: row.partitions for row in rows if row.why is not None},
        certain,
        possible,
    )


def _sums(name: str, designated: Column) -> Iterator[Column]:
    loss = F.col(f"{name}_loss")
    yield F.sum(F.when(designated, loss)).alias(name)
    yield F.count_if(designated & loss.isNull()).alias(f"{name}_unknown")


def _counted(rows: Iterable[Any]) -> Counted:
    """Add up groups, which come by topic and first partition."""
    found = list(rows)
    if not found:
        return Counted(0, "")
    first = found[0]
    name = f"{first.topic}-{first.first.partition}"
    reason = f": {first.first.reason}" if first.first.reason else ""
    return Counted(sum(row.partitions for row in found), f"{name}{reason}")


def doubtful(planned: Planned) -> tuple[Counted, Counted]:
    """Return (replicas that can't be used, replicas that may be corrupt)."""
    name = F.struct(*KEY, "broker")
    rows = planned.replicas.where(F.col("trust") != "trusted").groupBy("trust")
    first = F.min_by(F.struct(*KEY, "broker", "reason"), name).alias("first")
    found = {row.trust: row for row in rows.agg(F.count("*").alias("count"), first).collect()}
    return _doubt(found.get("unusable")), _doubt(found.get("suspect"))


def _doubt(row: Any) -> Counted:
    if row is None:
        return Counted(0, "")
    first = row["first"]
    told = f"{first.topic}-{first.partition} of broker {first.broker}: {first.reason}"
    return Counted(row["count"], told)


def worst(planned: Planned, count: int) -> list[PartitionReport]:
    """Return plans of the partitions that lose most, the worst first: by the records known to be
    lost, then partitions whose loss is not known."""
    known = F.coalesce("certain_loss", F.lit(0)) + F.coalesce("possible_loss", F.lit(0))
    unknown = F.col("certain_loss").isNull() | F.col("possible_loss").isNull()
    rows = planned.plans.where(F.col("designated_leader").isNotNull()).where(unknown | (known > 0))
    names = rows.orderBy(known.desc(), unknown.desc(), *KEY).limit(count).select(*KEY).collect()
    if not names:
        return []
    chosen = reduce(Column.__or__, (_is(row.topic, row.partition) for row in names))
    few = group(planned.replicas.where(chosen), planned.partitions.where(chosen))
    reports = planned_reports(planned.settings, few.toArrow())
    place = {(row.topic, row.partition): number for number, row in enumerate(names)}
    return sorted(
        reports, key=lambda r: place[r.topic_partition.topic, r.topic_partition.partition]
    )


def _is(topic: str, partition: int) -> Column:
    return (F.col("topic") == topic) & (F.col("partition") == partition)
