"""Planning by Spark has a row for each partition that says what the pure planner decided."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from kafka_unclean_recovery.model import PartitionReport, ReplicaInfo
from kafka_unclean_recovery.planning.merged_scans import merge_infos
from kafka_unclean_recovery.planning.offline_plan import plan_from_disks
from kafka_unclean_recovery.spark.plan import plan_rows, planning
from kafka_unclean_recovery.spark.plan.merging import read_scans
from kafka_unclean_recovery.spark.plan.plan_rows import DELETED, WHY
from kafka_unclean_recovery.spark.tables import GROUPED, batch
from kafka_unclean_recovery.wording import why_not
from tests.spark.random_partitions import random_info
from tests.spark.summaries_of import write_summaries

EXCLUDED = frozenset({2, 3})


def merged(*infos: tuple[Path, ReplicaInfo]) -> ReplicaInfo:
    return merge_infos([(str(directory), info) for directory, info in infos])


def rows_of(
    spark: SparkSession, directories: Collection[Path], excluded: frozenset[int]
) -> list[dict[str, Any]]:
    planned = planning.plan(spark, read_scans(list(directories)), excluded)
    rows: list[dict[str, Any]] = planned.plans.orderBy("topic", "partition").toArrow().to_pylist()
    planned.plans.unpersist()
    return rows


def expected(report: PartitionReport) -> dict[str, Any]:
    """Return the row but for the code of its reason."""
    where, planned, outcome = report.topic_partition, report.plan, report.outcome
    best = planned.ranking[0].loss if planned and planned.ranking else None
    leader = planned.designated_leader if planned else None
    reason = outcome.reason if outcome else None
    if planned and leader is None:
        reason = why_not(planned)
    return {
        "topic": where.topic,
        "partition": where.partition,
        "designated_leader": leader,
        "reason": reason,
        "certain_loss": best.certain if best else None,
        "possible_loss": best.possible if best else None,
    }


def check(rows: list[dict[str, Any]], reports: tuple[PartitionReport, ...]) -> set[str]:
    """Check the rows, and return their codes."""
    codes = [row.pop("why") for row in rows]
    assert rows == list(map(expected, reports))
    for code, report in zip(codes, reports, strict=True):
        led = report.plan is not None and report.plan.designated_leader is not None
        assert (code is None) == led
        assert (code == DELETED) == (report.plan is None and report.outcome is None)
    return set(codes) - {None}


def test_a_row_says_what_the_planner_decided(spark: SparkSession, tmp_path: Path) -> None:
    info = random_info(1, 2_000)
    directory = write_summaries(tmp_path / "many", info)
    reports = plan_from_disks(merged((directory, info)), EXCLUDED)
    codes = check(rows_of(spark, [directory], EXCLUDED), reports)
    assert codes == set(WHY)


def test_several_scans_are_planned_as_one(spark: SparkSession, tmp_path: Path) -> None:
    older = random_info(3, 1500, metadata_epoch=2)
    newer = random_info(4, 1000, scanned_at="2026-01-02T04:04:05+00:00")
    found = [(tmp_path / "newer", newer), (tmp_path / "older[1]", older)]
    for directory, info in found:
        write_summaries(directory, info)
    codes = check(
        rows_of(spark, [directory for directory, _ in found], EXCLUDED),
        plan_from_disks(merged(*found), EXCLUDED),
    )
    assert "state_unknown" in codes


def test_no_partition_at_all(spark: SparkSession, tmp_path: Path) -> None:
    info = replace(random_info(1, 0), metadata_epoch=None, metadata_end_offset=None)
    directory = write_summaries(tmp_path / "empty", info)
    assert rows_of(spark, [directory], frozenset()) == []


def test_a_refusal_without_a_code_fails_and_loses_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """A task that ended early over one would leave partitions out of the plan."""
    info = random_info(1, 400)
    grouped = batch(map(plan_rows._grouped, info.partitions), GROUPED)
    settings = planning._settings(info, frozenset())
    (rows,) = plan_rows.plan_rows(settings, iter([grouped]))
    assert rows.num_rows == 400
    monkeypatch.setattr(plan_rows, "_BEGINNINGS", {})
    with pytest.raises(ValueError, match="not enough values"):
        list(plan_rows.plan_rows(settings, iter([grouped])))
