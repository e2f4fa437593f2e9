"""The salvage of thousands of disks gives each replica to one task, and all files go to one
directory.

The directory must be one that the driver and the executors share.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from kafka_unclean_recovery.salvage.designated import DesignatedLeaders, designated_json
from kafka_unclean_recovery.salvage.earlier import UNSURE
from kafka_unclean_recovery.salvage.manifest import manifest_parts
from kafka_unclean_recovery.salvage.output_directory import write_manifest
from kafka_unclean_recovery.spark.plan.merging import Scans, read_merged
from kafka_unclean_recovery.spark.running import Watch
from kafka_unclean_recovery.spark.salvage.passes import Passes
from kafka_unclean_recovery.spark.salvage.tasks import ATTEMPTS
from kafka_unclean_recovery.spark.tables import KEY

_SCRATCH = "passes"

_arrow: Any = pyarrow


@dataclass(frozen=True, slots=True)
class Totals:
    """The totals of a salvage. with_more: replicas that held records beyond the designated leader's
    log. size: the bytes of their segment files. records: the records in Parquet. in_doubt: the
    replicas in doubt. first_doubt: what is in doubt of the first of them. problems: the problems of
    the scans."""

    replicas: int
    with_more: int
    size: int
    records: int
    in_doubt: int
    first_doubt: str | None
    problems: Sequence[str]


@dataclass(frozen=True, slots=True)
class How:
    """The options of a salvage. store: endpoint and region of object stores, where given. raw_only:
    no Parquet."""

    store: Mapping[str, str] = field(default_factory=dict)
    raw_only: bool = False


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of one or more scans. `replicas` and `partitions` are as tables.py has them.
    scanned_at: when the oldest of the scans was made, ISO 8601. problems: the complaints of the
    scans."""

    replicas: DataFrame
    partitions: DataFrame
    scanned_at: str
    problems: Sequence[str] = ()


def read_tables(spark: SparkSession, scans: Scans) -> Tables:
    replicas, partitions = read_merged(spark, scans)
    return Tables(replicas, partitions, scans.merged.scanned_at, scans.merged.problems)


def salvage(
    spark: SparkSession,
    tables: Tables,
    leaders: DesignatedLeaders,
    building: Path,
    now: str,
    watch: Watch,
    how: How,
) -> tuple[Totals, tuple[str, ...]]:
    """Salvage into `building`, and write its manifest. The replicas of designated leaders, and of
    partitions that the plan does not have, are passed over. now: ISO 8601.

    Return the totals, and sentences on what was missing on some hosts and was read on others.
    Raises Stopped, JobFailed, and OSError when the output can't be written.
    """
    problems = [*tables.problems, *_unsure(tables.partitions, leaders)]
    items = _items(spark, tables, leaders).cache()
    scratch = building.absolute() / _SCRATCH
    settings = {
        "root": str(building.absolute()),
        "cluster_id": leaders.cluster_id,
        "scanned_at": tables.scanned_at,
        **asdict(how),
    }
    passes = Passes(spark, items, settings, scratch, watch)
    rows = passes.run().cache()
    write_manifest(building, manifest_parts(leaders.cluster_id, now, problems, _lines(rows)))
    totals, differing = _totals(rows, problems), tuple(passes.differing())
    rows.unpersist()
    items.unpersist()
    with suppress(FileNotFoundError):
        shutil.rmtree(building / ATTEMPTS)
    shutil.rmtree(scratch)
    return totals, differing


def _items(spark: SparkSession, tables: Tables, leaders: DesignatedLeaders) -> DataFrame:
    planned = leaders.partitions.values()
    designated = spark.createDataFrame(
        _arrow.table(
            {
                "topic": _arrow.array([p.topic_partition.topic for p in planned], _arrow.string()),
                "partition": _arrow.array(
                    [p.topic_partition.partition for p in planned], _arrow.int32()
                ),
                "leader": _arrow.array(
                    [p.log.broker if p.log else None for p in planned], _arrow.int32()
                ),
                "designated": _arrow.array(map(designated_json, planned), _arrow.string()),
            }
        )
    )
    unsure = tables.partitions.select(*KEY, _any_of(UNSURE).alias("unsure"))
    others = F.col("leader").isNull() | (F.col("leader") != F.col("broker"))
    found = tables.replicas.join(designated, [*KEY]).where(others)
    return found.join(unsure, [*KEY], "left").fillna(value=False, subset=["unsure"])


def _any_of(codes: Sequence[str]) -> Any:
    found = F.col("findings")["code"]
    return reduce(lambda a, b: a | b, (F.array_contains(found, code) for code in codes))


def _unsure(partitions: DataFrame, leaders: DesignatedLeaders) -> Iterator[str]:
    """Yield the plan's partitions of which another directory than that counted may hold more."""
    found = partitions.where(_any_of(UNSURE)).orderBy(*KEY)
    planned = {(tp.topic, tp.partition) for tp in leaders.partitions}
    for row in found.toLocalIterator():
        if (row.topic, row.partition) in planned:
            for finding in row.findings:
                if finding.code in UNSURE:
                    yield f"{row.topic}-{row.partition}: {finding.message}"


def _lines(rows: DataFrame) -> Iterator[str]:
    for row in rows.select("line").toLocalIterator():
        yield row.line


def _totals(rows: DataFrame, problems: Sequence[str]) -> Totals:
    none, doubtful = F.lit(0), F.col("problems") > 0
    where = F.format_string("%s-%d of broker %d: %s", *KEY, "broker", "first_problem")
    (told,) = rows.agg(
        F.count("*").alias("replicas"),
        F.count_if(F.col("size") > 0).alias("with_more"),
        F.coalesce(F.sum("size"), none).alias("size"),
        F.coalesce(F.sum("records"), none).alias("records"),
        F.count_if(doubtful).alias("in_doubt"),
        F.min_by(where, F.when(doubtful, F.struct(*KEY, "broker"))).alias("first_doubt"),
    ).collect()
    return Totals(**told.asDict(), problems=problems)
