"""Planning by Spark has a row for each partition that says what the pure planner decided."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from math import ceil
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from msgspec import structs
from msgspec.structs import replace
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from kafka_unclean_recovery.documents.manual_recovery import leader_line
from kafka_unclean_recovery.documents.plan import plan_line
from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.model import (
    PartitionInfo,
    PartitionReport,
    ReplicaInfo,
    ReplicaLog,
    TopicPartition,
)
from kafka_unclean_recovery.planning.merged_scans import merge_infos
from kafka_unclean_recovery.planning.offline_plan import plan_from_disks
from kafka_unclean_recovery.spark.new_files import count_rows
from kafka_unclean_recovery.spark.plan import merging, plan_rows, plan_texts, planning
from kafka_unclean_recovery.spark.plan.merged_rows import merged_infos
from kafka_unclean_recovery.spark.plan.merging import read_scans
from kafka_unclean_recovery.spark.plan.plan_rows import DELETED, WHY
from kafka_unclean_recovery.spark.plan.totals import Totals, totals_of
from kafka_unclean_recovery.spark.tables import (
    LOG,
    PARTITIONS,
    REPLICAS,
    STATE,
    batch,
    partition_row,
    replica_row,
)
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
    rows: list[dict[str, Any]] = planned.plans.toArrow().to_pylist()
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


def test_the_more_was_found_the_less_the_driver_takes_at_a_time(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes the texts of one task at a time."""
    monkeypatch.setattr(merging, "_ROWS_OF_A_TASK", 200)
    info = random_info(1, 600)
    rows = sum(1 + len(part.replica_logs) for part in info.partitions)
    scans = read_scans([write_summaries(tmp_path / "many", info)])
    made = planning.texts(planning.plan(spark, scans, EXCLUDED), rich=True)
    told = made.rows.where(F.col("kind") == plan_texts.TOTALS).count()
    assert told == ceil(rows / 200) > 8
    by_task = made.rows.where(F.col("kind") == plan_texts.PLAN).groupBy(F.spark_partition_id())
    sizes = sorted(row.size for row in by_task.agg(F.sum(F.length("text")).alias("size")).collect())
    assert len(sizes) == told
    assert sizes[-1] < sum(sizes) / 5


def test_a_table_that_was_cut_short_is_named(tmp_path: Path) -> None:
    directory = write_summaries(tmp_path / "few", random_info(1, 20))
    (table,) = (directory / "replicas").glob("*.parquet")
    table.write_bytes(table.read_bytes()[:-3])
    with pytest.raises(InputError, match=f"{table}: can't be read as Parquet: .*; scan again"):
        count_rows(directory / "replicas")


@pytest.mark.parametrize(
    ("table", "rows"), [("replicas", "0 rows, where the scan wrote "), ("partitions", "0 rows")]
)
def test_a_table_that_lacks_a_file_is_refused(tmp_path: Path, table: str, rows: str) -> None:
    directory = write_summaries(tmp_path / "few", random_info(1, 20))
    (part,) = (directory / table).glob("*.parquet")
    part.rename(part.with_name("_hidden"))
    with pytest.raises(InputError, match=f"{directory / table}: {rows}.*; copy the directory anew"):
        read_scans([directory])


def test_a_file_more_than_the_scan_wrote_is_refused_wherever_spark_sees_it(tmp_path: Path) -> None:
    directory = write_summaries(tmp_path / "few", random_info(1, 20))
    (part,) = (directory / "replicas").glob("*.parquet")
    below = directory / "replicas" / "older" / "part"
    below.parent.mkdir()
    below.write_bytes(part.read_bytes())
    with pytest.raises(InputError, match=f"{directory / 'replicas'}: .*not of this scan"):
        read_scans([directory])


SORTED = pyarrow.schema(
    [
        ("topic", pyarrow.string()),
        ("partition", pyarrow.int32()),
        ("scan", pyarrow.int32()),
        ("kind", pyarrow.int32()),
        ("state", pyarrow.struct(list(PARTITIONS))),
        ("log", pyarrow.struct(list(REPLICAS))),
    ]
)


def sorted_batches(infos: Collection[ReplicaInfo], size: int) -> Iterator[Any]:
    """Yield what merging.sorted_rows has of scans, in batches of so many rows."""
    rows = [
        {**_key(part), "scan": scan, "kind": kind, **row}
        for scan, info in enumerate(infos)
        for part in info.partitions
        for kind, row in [
            (STATE, {"state": partition_row(part)}),
            *((LOG, {"log": row_of_log(part, log, f"/of/{scan}")}) for log in part.replica_logs),
        ]
    ]
    rows.sort(key=lambda row: (row["topic"], row["partition"], row["kind"], row["scan"]))
    for begin in range(0, len(rows), size):
        yield batch(rows[begin : begin + size], SORTED)


def row_of_log(part: PartitionInfo, log: ReplicaLog, place: str) -> dict[str, Any]:
    compacted = part.compacted
    return replica_row(part.topic_partition, log, compacted=compacted, log_directory=place)


def _key(part: PartitionInfo) -> dict[str, Any]:
    return {"topic": part.topic_partition.topic, "partition": part.topic_partition.partition}


def settings_of(found: Collection[tuple[Path, ReplicaInfo]], killed: Collection[int] = ()) -> Any:
    whole = merged(*found)
    return {
        "scans": [
            [str(name), info.scanned_at, info.metadata_epoch, info.metadata_end_offset]
            for name, info in found
        ],
        "killed": list(killed),
        "brokers": list(whole.brokers),
        "excluded": sorted(EXCLUDED),
        "metadata_epoch": whole.metadata_epoch,
        "metadata_end_offset": whole.metadata_end_offset,
        "whole": [structs.astuple(disk) for disk in whole.whole],
        "rich": True,
        "worst": 10,
    }


SCANS = (
    (Path("newer"), random_info(4, 400, scanned_at="2026-01-02T04:04:05+00:00")),
    (Path("older"), random_info(3, 600, metadata_epoch=2)),
)


@pytest.mark.parametrize("found", [SCANS, SCANS[:1]], ids=["two scans", "one"])
@pytest.mark.parametrize("size", [7, 10_000])
def test_tasks_plan_what_one_process_plans_wherever_batches_end(
    found: Sequence[tuple[Path, ReplicaInfo]], size: int
) -> None:
    reports = plan_from_disks(merged(*found), EXCLUDED)
    batches = sorted_batches([info for _, info in found], size)
    rows = [row for b in plan_rows.plan_rows(settings_of(found), batches) for row in b.to_pylist()]
    check(rows, reports)


@pytest.mark.parametrize("worst", [0, 10])
def test_the_texts_of_tasks_and_their_totals_add_up(worst: int) -> None:
    """Two tasks have a half each, of all partitions in their order."""
    reports = plan_from_disks(merged(*SCANS), EXCLUDED)
    infos = [info for _, info in SCANS]
    middle = reports[len(reports) // 2].topic_partition
    halves = [[_half(info, middle, low=low) for info in infos] for low in (True, False)]
    texts: dict[str, list[str]] = {}
    totals = Totals()
    for half in halves:
        settings = settings_of(SCANS) | {"worst": worst}
        for rows in plan_texts.plan_texts(settings, sorted_batches(half, 50)):
            for row in rows.to_pylist():
                texts.setdefault(row["kind"], []).append(plan_texts.unpacked(row["text"]))
    for told in texts.pop(plan_texts.TOTALS):
        totals.join(totals_of(json.loads(told)), worst)
    plans = [report.plan for report in reports if report.plan is not None]
    assert ",\n".join(texts["plan"]).split(",\n") == [plan_line(plan)[0] for plan in plans]
    led = [
        (report.topic_partition, report.plan.designated_leader)
        for report in reports
        if report.plan is not None and report.plan.designated_leader is not None
    ]
    lines = [leader_line(where.topic, where.partition, leader) for where, leader in led]
    assert ",\n".join(texts["leaders"]).split(",\n") == lines
    assert sum(loss.designated for loss in totals.losses()) == len(led)
    assert len(list(totals.worst_of_all())) == worst
    alone = Totals()
    # What is gone from a disk is nothing that was found there.
    for info in merged(*((name, replace(info, whole=())) for name, info in SCANS)).partitions:
        alone.read(info)
    for report in reports:
        alone.planned(plan_rows.planned_row(report), worst)
    assert totals == alone


def _half(info: ReplicaInfo, middle: TopicPartition, *, low: bool) -> ReplicaInfo:
    kept = (part for part in info.partitions if (part.topic_partition < middle) == low)
    return replace(info, partitions=tuple(kept))


def test_a_broker_that_was_killed_by_one_scan_was_killed_by_all() -> None:
    """Its log directories lie in two scans; the flag of a stop in order is in one of them."""
    parts = [info.partitions for _, info in SCANS]
    of_scan = (parts[0][:60], parts[1][40:100])
    kept = [replace(info, partitions=some) for (_, info), some in zip(SCANS, of_scan, strict=True)]
    stopped = [
        replace(info, partitions=tuple(_stopped(part, clean) for part in info.partitions))
        for info, clean in zip(kept, (True, False), strict=True)
    ]
    found = [(name, info) for (name, _), info in zip(SCANS, stopped, strict=True)]
    killed = {log.broker for part in stopped[1].partitions for log in part.replica_logs}
    batches = sorted_batches(stopped, 100)
    made = [info for some in merged_infos(settings_of(found, killed), batches) for info in some]
    # What is gone from a disk is added by who plans.
    without = [(name, replace(info, whole=())) for name, info in found]
    assert made == list(merged(*without).partitions)
    alone = [
        part for part in made if part.topic_partition in _names(stopped[0]) - _names(stopped[1])
    ]
    assert alone
    logs = [log for part in alone for log in part.replica_logs if log.broker in killed]
    assert {log.scanned and log.scanned.stopped_clean for log in logs} == {False}


def _names(info: ReplicaInfo) -> set[TopicPartition]:
    return {part.topic_partition for part in info.partitions}


def _stopped(part: PartitionInfo, clean: bool) -> PartitionInfo:
    logs = (
        replace(log, scanned=log.scanned and replace(log.scanned, stopped_clean=clean))
        for log in part.replica_logs
    )
    return replace(part, replica_logs=tuple(logs))


def test_several_scans_know_of_each_other_who_was_killed(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A broker's log directories lie in two scans, and only one of them tells how it stopped."""
    parts = random_info(5, 200).partitions
    found = [
        (tmp_path / name, replace(random_info(5, 0), partitions=_all_stopped(some, clean)))
        for name, some, clean in (("a", parts[:100], True), ("b", parts[100:], False))
    ]
    for directory, info in found:
        write_summaries(directory, info)
    planned = planning.plan(spark, read_scans([name for name, _ in found]), frozenset())
    texts = planning.texts(planned, rich=True)
    lines = ",\n".join(text for text, _ in texts.lines(plan_texts.PLAN)).split(",\n")
    plans = [report.plan for report in plan_from_disks(merged(*found), ()) if report.plan]
    assert lines == [plan_line(plan)[0] for plan in plans]


def _all_stopped(parts: Sequence[PartitionInfo], clean: bool) -> tuple[PartitionInfo, ...]:
    return tuple(_stopped(part, clean) for part in parts)


def test_no_partition_at_all(spark: SparkSession, tmp_path: Path) -> None:
    info = replace(random_info(1, 0), metadata_epoch=None, metadata_end_offset=None)
    directory = write_summaries(tmp_path / "empty", info)
    assert rows_of(spark, [directory], frozenset()) == []


def test_a_refusal_without_a_code_fails_and_loses_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """A task that ended early over one would leave partitions out of the plan."""
    info = random_info(1, 400)
    settings = {
        "brokers": list(info.brokers),
        "excluded": [],
        "metadata_epoch": info.metadata_epoch,
        "metadata_end_offset": info.metadata_end_offset,
        "whole": [],
    }
    reports = plan_rows.planned_reports(settings, info.partitions)
    assert len(list(map(plan_rows.planned_row, reports))) == 400
    monkeypatch.setattr(plan_rows, "_BEGINNINGS", {})
    with pytest.raises(ValueError, match="not enough values"):
        list(map(plan_rows.planned_row, reports))
