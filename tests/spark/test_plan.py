"""Planning by Spark and by the pure planner is the same, row for row."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from kafka_unclean_recovery.model import (
    Candidate,
    EpochLineage,
    EpochSpan,
    PartitionPlan,
    PartitionReport,
    ReplicaInfo,
)
from kafka_unclean_recovery.planning.lineage import count_once, tail_of, truncation_offset
from kafka_unclean_recovery.planning.merged_scans import merge_infos
from kafka_unclean_recovery.planning.offline_plan import plan_from_disks
from kafka_unclean_recovery.planning.reach import kept_under
from kafka_unclean_recovery.spark.plan import lineages
from kafka_unclean_recovery.spark.plan.merging import Scans, read_merged, read_scans
from kafka_unclean_recovery.spark.plan.partition_plans import DELETED, WHY, plan_partitions
from kafka_unclean_recovery.spark.plan.ranking import plan_replicas
from kafka_unclean_recovery.spark.tables import REPLICAS
from kafka_unclean_recovery.wording import why_not
from tests.spark.random_partitions import random_info
from tests.spark.summaries_of import write_summaries

_arrow: Any = pyarrow

EXCLUDED = frozenset({2, 3})


def merged(*infos: tuple[Path, ReplicaInfo]) -> ReplicaInfo:
    return merge_infos([(str(directory), info) for directory, info in infos])


def by_spark(
    spark: SparkSession, scans: Scans, excluded: Collection[int]
) -> tuple[DataFrame, DataFrame]:
    replicas, partitions = read_merged(spark, scans)
    planned = plan_replicas(replicas, partitions, scans.merged, excluded)
    known = scans.merged.metadata_epoch is not None
    return planned, plan_partitions(planned, partitions, metadata_is_known=known)


def expected(report: PartitionReport) -> dict[str, Any]:
    """Return the row as plan_partitions has it."""
    name = report.topic_partition
    row: dict[str, Any] = {"topic": name.topic, "partition": name.partition}
    if report.plan is None:
        outcome = report.outcome
        code = DELETED if outcome is None else "state_unknown"
        return {**row, "why": code, "reason": outcome.reason if outcome else None}
    return {**row, **_planned(report.plan)}


def _planned(plan: PartitionPlan) -> dict[str, Any]:
    best = plan.ranking[0] if plan.ranking else None
    none = plan.designated_leader is None
    return {
        "designated_leader": plan.designated_leader,
        "reason": why_not(plan) if none else None,
        "best": best.log.broker if best else None,
        "certain_loss": best.loss.certain if best else None,
        "possible_loss": best.loss.possible if best else None,
        "ranking": [candidate.log.broker for candidate in plan.ranking],
        "tied": tied(plan),
        "order": list(plan.order),
        "divergences": _cuts(best),
    }


def _cuts(best: Candidate | None) -> list[dict[str, int]]:
    cuts = best.divergences if best else ()
    return [{"broker": c.broker, "offset": c.offset, "records": c.records} for c in cuts]


def tied(plan: PartitionPlan) -> list[int]:
    """Return the brokers that the finding names."""
    (told,) = [f.message for f in plan.findings if f.code == "tie"] or [""]
    named = told.removeprefix("brokers ").partition(" reach")[0]
    return [int(broker) for broker in named.split(", ")] if named else []


def different(rows: DataFrame, reports: tuple[PartitionReport, ...]) -> Iterator[Any]:
    found = rows.orderBy("topic", "partition").toArrow().to_pylist()
    for row, report in zip(found, reports, strict=True):
        wanted = expected(report)
        assert row["why"] in (None, *WHY)
        got = {**row, "tied": sorted(row["tied"] or ())}
        if {key: got[key] for key in wanted} != wanted:
            yield got, wanted


@pytest.mark.parametrize("count", [2_000, 10_000, 100_000])
def test_random_partitions_are_planned_alike(
    spark: SparkSession, tmp_path: Path, count: int
) -> None:
    info = random_info(1, count)
    directory = write_summaries(tmp_path / "many", info)
    _, partitions = by_spark(spark, read_scans([directory]), EXCLUDED)
    reports = plan_from_disks(merged((directory, info)), EXCLUDED)
    assert list(different(partitions, reports))[:3] == []


def test_every_replica_is_judged_alike(spark: SparkSession, tmp_path: Path) -> None:
    info = random_info(2, 2000)
    directory = write_summaries(tmp_path / "replicas", info)
    rows, _ = by_spark(spark, read_scans([directory]), EXCLUDED)
    columns = ("topic", "partition", "broker", "live", "problem", "ranked", "kept", "lost")
    found = rows.orderBy("topic", "partition", "place").select(*columns).toArrow().to_pylist()
    reports = plan_from_disks(merged((directory, info)), EXCLUDED)
    plans = [report.plan for report in reports if report.plan is not None]
    assert found == [row for plan in plans for row in _judged(plan)]


def _judged(plan: PartitionPlan) -> Iterator[dict[str, Any]]:
    ranks = {candidate.log.broker: rank for rank, candidate in enumerate(plan.ranking, 1)}
    for log in plan.replica_logs:
        kept = kept_under(log, plan.ranking[0].log) if plan.ranking else None
        lost = None if kept is None else count_once([tail_of(log.epochs or (), kept)])
        yield {
            "topic": plan.state.topic,
            "partition": plan.state.partition,
            "broker": log.broker,
            "live": log.live,
            "problem": log.problem,
            "ranked": ranks.get(log.broker),
            "kept": kept,
            "lost": lost,
        }


def test_several_scans_are_planned_as_one(spark: SparkSession, tmp_path: Path) -> None:
    older = random_info(3, 1500, metadata_epoch=2)
    newer = random_info(4, 1000, scanned_at="2026-01-02T04:04:05+00:00")
    found = [(tmp_path / "newer", newer), (tmp_path / "older[1]", older)]
    for directory, info in found:
        write_summaries(directory, info)
    scans = read_scans([directory for directory, _ in found])
    _, partitions = by_spark(spark, scans, EXCLUDED)
    assert list(different(partitions, plan_from_disks(merged(*found), EXCLUDED)))[:3] == []


def test_no_partition_at_all(spark: SparkSession, tmp_path: Path) -> None:
    info = replace(random_info(1, 0), metadata_epoch=None, metadata_end_offset=None)
    scans = read_scans([write_summaries(tmp_path / "empty", info)])
    assert [rows.count() for rows in by_spark(spark, scans, ())] == [0, 0]


def test_lineages_part_where_followers_are_told_to_truncate(spark: SparkSession) -> None:
    random = Random(5)
    pairs = [(_lineage(random), _lineage(random)) for _ in range(20_000)]
    kind = REPLICAS.field("epochs").type
    table = _arrow.table(
        {
            "follower": _arrow.array([_rows(follower) for follower, _ in pairs], kind),
            "leader": _arrow.array([_rows(leader) for _, leader in pairs], kind),
            "follower_end": [_end(follower) for follower, _ in pairs],
            "leader_end": [_end(leader) for _, leader in pairs],
            "place": list(range(len(pairs))),
        }
    )
    rows = spark.createDataFrame(table)
    follower, leader = F.col("follower"), F.col("leader")
    ends = F.col("follower_end"), F.col("leader_end")
    shared = rows.withColumn("shared", lineages.newest_shared(follower, leader))
    at = lineages.kept(follower, ends[0], leader, ends[1], F.col("shared"))
    kept = shared.withColumn("kept", at)
    tails = F.array(*(F.struct("kept", F.col(n).alias("epochs")) for n in ("follower", "leader")))
    told = kept.select("kept", lineages.count_once(tails).alias("once"), "place").orderBy("place")
    found = [(row.kept, row.once) for row in told.collect()]
    assert found == [_truncated(*pair) for pair in pairs]


def _truncated(follower: EpochLineage, leader: EpochLineage) -> tuple[int, int]:
    kept = truncation_offset(follower, _end(follower), leader, _end(leader))
    return kept, count_once([tail_of(follower, kept), tail_of(leader, kept)])


def _lineage(random: Random) -> EpochLineage:
    offset, spans = random.randint(0, 10), []
    for epoch in sorted(random.sample(range(8), random.randint(0, 5))):
        end = offset + random.randint(1, 6)
        spans.append(EpochSpan(epoch, offset, end))
        offset = end
    return tuple(spans)


def _end(lineage: EpochLineage) -> int:
    return lineage[-1].end_offset if lineage else 4


def _rows(lineage: EpochLineage) -> list[dict[str, int]]:
    names = ("epoch", "start_offset", "end_offset")
    return [{name: getattr(span, name) for name in names} for span in lineage]
