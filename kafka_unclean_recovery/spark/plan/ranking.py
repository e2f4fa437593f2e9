"""DataFrame operations tell which replicas could lead, in what order, and what each keeps.

Together with partition_plans.py they equal plan.plan_partition after offline_plan.plan_from_disks,
row for row. `replicas` and `partitions` are as tables.py has them, of one scan or merged.

One partitioning by `hash` serves the join, the window and the aggregation, when
spark.sql.requireAllClusterKeysForCoPartition is false; otherwise Spark partitions more often. The
hash comes first in every sort too: names of topics begin alike, and comparing them takes long.
"""

from __future__ import annotations

from collections.abc import Collection

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from kafka_unclean_recovery.model import ReplicaInfo
from kafka_unclean_recovery.planning.offline_plan import NOT_SCANNED
from kafka_unclean_recovery.planning.started_replica import GONE, NO_DIRECTORY
from kafka_unclean_recovery.spark.plan.lineages import kept, newest_shared, records_beyond

KEY = ("topic", "partition")
GROUP = ("hash", *KEY)
_FAST = "fast"


def plan_replicas(
    replicas: DataFrame, partitions: DataFrame, scanned: ReplicaInfo, excluded: Collection[int]
) -> DataFrame:
    """Return a row for each assigned replica of each partition whose state is known.

    scanned: what was scanned, without its partitions. excluded: brokers that will not start, or are
    not to lead.

    hash: of topic and partition; topic, partition, broker; place: in the assignment, from 0; live:
    its broker is taken as one that will start; problem: why its log can't be used; suspect: it may
    be corrupt; the columns of `replicas` from log_start_offset to high_watermark; sure: enough is
    known to count losses by; can_lead; ranked: its place among the candidates, from 1, null if it
    can't lead; ordered: its place in the order in which the replica set is to be written, from 1;
    best: the first of the ranking, null without one; level: it reaches as far as the best, and
    neither is suspect; kept: the exclusive end of what it keeps under the best, null where that is
    not for sure; lost: the records that it truncates then; reassigning: whether the partition is
    being reassigned; tiered: whether a part of its log may lie in remote storage.
    """
    # Rows with lineages are too large to be broadcast, whatever their files' size says.
    found = _together(replicas).hint("merge")
    rows = _assigned(partitions).join(found, [*GROUP, "broker"], "left")
    return _parted(_ranked(_judged(rows, scanned, excluded)))


def _together(rows: DataFrame) -> DataFrame:
    return rows.withColumn("hash", F.xxhash64(*KEY)).repartition("hash")


def _assigned(partitions: DataFrame) -> DataFrame:
    known = _together(partitions.where(F.col("topic_id").isNotNull()))
    exploded = known.select(
        *GROUP,
        "isr",
        "elr",
        "last_known_elr",
        "adding_replicas",
        F.col("tiered").isNotNull().alias("tiered"),
        ((F.size("adding_replicas") > 0) | (F.size("removing_replicas") > 0)).alias("reassigning"),
        F.posexplode_outer("replicas").alias("place", "broker"),
    )
    broker = F.col("broker")
    eligible = F.array_contains("isr", broker) | F.array_contains("elr", broker)
    return exploded.select(
        *GROUP,
        "broker",
        "place",
        "reassigning",
        "tiered",
        eligible.alias("eligible"),
        F.array_contains("last_known_elr", broker).alias("last_known"),
        F.array_contains("adding_replicas", broker).alias("adding"),
    )


def _judged(rows: DataFrame, scanned: ReplicaInfo, excluded: Collection[int]) -> DataFrame:
    found, broker = F.col("trust").isNotNull(), F.col("broker")
    gone = broker.isin(*(disk.broker for disk in scanned.whole))
    missing = F.when(gone, GONE)
    missing = missing.when(broker.isin(*scanned.brokers), NO_DIRECTORY).otherwise(NOT_SCANNED)
    judged = rows.select(
        *GROUP,
        "broker",
        "place",
        "reassigning",
        "tiered",
        "eligible",
        "last_known",
        "adding",
        ((found | gone) & ~broker.isin(*excluded)).alias("live"),
        (found & (F.col("trust") != "unusable")).alias("usable"),
        F.when(~found, missing)
        .when(F.col("trust") == "unusable", F.col("reason"))
        .alias("problem"),
        F.coalesce(F.col("trust") == "suspect", F.lit(False)).alias("suspect"),
        F.coalesce((F.col("trust") == "trusted") & (F.col("mode") != _FAST), F.lit(False)).alias(
            "sure"
        ),
        "log_start_offset",
        "log_end_offset",
        "last_written_leader_epoch",
        "epochs",
        "high_watermark",
        F.coalesce(F.col("log_start_offset") == F.col("log_end_offset"), F.lit(False)).alias(
            "empty"
        ),
    )
    epoch_known = F.col("last_written_leader_epoch").isNotNull()
    return judged.withColumn(
        "can_lead",
        F.col("live")
        & F.col("usable")
        & ~F.col("adding")
        & F.col("log_end_offset").isNotNull()
        & (epoch_known | F.col("empty")),
    )


def _written_epoch() -> Column:
    return F.coalesce(F.col("last_written_leader_epoch"), F.lit(-1))


def _forgotten() -> Column:
    """Return reach.forgotten as a column."""
    emptied = F.col("empty") & (F.col("log_end_offset") != 0)
    return emptied & F.col("last_written_leader_epoch").isNull()


def _ranked(rows: DataFrame) -> DataFrame:
    """Order candidates by plan._rank, then other live replicas, then dead ones, by place."""
    can_lead = F.col("can_lead")
    window = Window.partitionBy(*GROUP).orderBy(
        ~can_lead,
        F.when(can_lead, F.col("suspect")).otherwise(~F.col("live")),
        F.when(can_lead, -_written_epoch().cast("bigint")).otherwise(F.col("place")),
        F.when(can_lead, -F.col("log_end_offset")),
        ~F.col("eligible"),
        ~F.col("last_known"),
        "broker",
    )
    window = window.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    best = F.struct(
        F.col("broker"),
        F.col("suspect"),
        F.col("sure"),
        F.col("empty"),
        _forgotten().alias("forgotten"),
        _written_epoch().alias("written_epoch"),
        F.col("log_end_offset"),
        F.col("epochs"),
    )
    return rows.select(
        "*",
        F.row_number().over(window).alias("ordered"),
        F.first(F.when(can_lead, best)).over(window).alias("best"),
    )


def _parted(rows: DataFrame) -> DataFrame:
    """Add where each replica parts from the best."""
    best = F.col("best")
    told = F.col("sure") & best["sure"] & F.col("log_end_offset").isNotNull()
    told &= F.col("epochs").isNotNull() & best["epochs"].isNotNull()
    shared = F.when(told, newest_shared(F.col("epochs"), best["epochs"]))
    ends = F.col("epochs"), F.col("log_end_offset"), best["epochs"], best["log_end_offset"]
    at = F.when(told, kept(*ends, F.col("shared")))
    reaches_as_far = (_written_epoch() == best["written_epoch"]) & (
        F.col("log_end_offset") == best["log_end_offset"]
    )
    level = F.col("can_lead") & ~F.col("suspect") & ~best["suspect"] & reaches_as_far
    return (
        rows.withColumn("shared", shared)
        .withColumn("kept", at)
        .select(
            "*",
            F.when(F.col("can_lead"), F.col("ordered")).alias("ranked"),
            records_beyond(F.col("epochs"), F.col("kept")).alias("lost"),
            F.coalesce(level, F.lit(False)).alias("level"),
        )
    )
