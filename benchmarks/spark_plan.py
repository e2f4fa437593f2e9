"""Planning a million partitions by Spark: seconds and memory, against a query that only ranks.

Everything that `spark plan` makes of the tables without `--plan-output-file`: losses by topic, and
the leaders' file. Against one window query over the same Parquet in the same session, which numbers
the replicas of each partition and keeps nothing; and against the pure planner, which executors run
for each partition: the planner in DataFrame operations stays only while it is three times as fast
(8.7 times at a million; only the smallest number of partitions is planned by both, and once: it
takes minutes). A round at the smallest number warms the JVM up and is told apart; after it one
round of each number counts. Memory: the largest that the system saw of the JVM and of this process,
which are driver and executor here, since their start; Python workers are not in it.

    python -m benchmarks.spark_plan [PARTITIONS ...]
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from benchmarks.compared import at_least, at_most
from benchmarks.installed import told_of_this_process
from benchmarks.spark_summaries import COPIES, write_many
from kafka_unclean_recovery.documents.writing import partitions_by_chunk
from kafka_unclean_recovery.model import PartitionReport
from kafka_unclean_recovery.spark import summaries
from kafka_unclean_recovery.spark.plan import planning
from kafka_unclean_recovery.spark.plan.merging import group, read_merged, read_scans
from kafka_unclean_recovery.spark.plan.plan_rows import planned_reports
from kafka_unclean_recovery.spark.plan.ranking import KEY
from kafka_unclean_recovery.spark.session import session
from kafka_unclean_recovery.spark.tables import REPLICAS, spark_schema
from tests.real.cache import CACHE, quick_scratch

PARTITIONS = (100_000, 1_000_000)
RUNS = 1
CONF = {
    "spark.driver.memory": "4g",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "16",
}
RANKING_AIM, PURE_AIM = 3.0, 3.0

_arrow: Any = pyarrow
PLANS = _arrow.schema(
    {
        "topic": _arrow.string(),
        "partition": _arrow.int32(),
        "designated_leader": _arrow.int32(),
        "why": _arrow.string(),
        "reason": _arrow.string(),
        "certain_loss": _arrow.int64(),
        "possible_loss": _arrow.int64(),
    }
)


def main(arguments: list[str]) -> None:
    counts = [int(word) for word in arguments] or list(PARTITIONS)
    begun = time.perf_counter()
    with session("local[2]", CONF) as spark, quick_scratch(CACHE) as scratch:
        started = time.perf_counter() - begun
        for count in sorted(counts):
            figures = _measured(spark, scratch, count, smallest=count == min(counts))
            print(json.dumps({**figures, "session_s": round(started, 1)}), flush=True)


def _measured(
    spark: SparkSession, scratch: Path, count: int, *, smallest: bool
) -> dict[str, object]:
    """Measure a plan. smallest: a round warms up, and the pure planner plans, too."""
    directory = write_many(scratch / f"scan-{count}", count)
    by_spark, by_python = scratch / "leaders.json", scratch / "leaders-by-the-pure-planner.json"
    plans: list[float] = []
    ranks: list[float] = []
    # In turn, so that a slow moment of the machine falls on both.
    for _ in range(RUNS + smallest):
        ranks.append(_timed(lambda: _unread(_only_ranked(spark, directory))))
        plans.append(_timed(lambda: _plan(spark, directory, by_spark)))
    first = {"plan": plans.pop(0), "only_ranking": ranks.pop(0)} if smallest else {}
    pure = _timed(lambda: _plan_purely(spark, directory, by_python)) if smallest else None
    leaders = _lines(by_spark)
    if not count * 0.99 < leaders <= count:
        raise RuntimeError(f"{leaders} leaders of {count} partitions")
    if smallest and by_spark.read_bytes() != by_python.read_bytes():
        raise RuntimeError("the two planners choose other leaders")
    return {
        "benchmark": "spark-plan",
        **told_of_this_process(),
        "partitions": count,
        "replicas": count * COPIES,
        "runs": RUNS,
        "plan_s": _summary(plans),
        "only_ranking_s": _summary(ranks),
        "first_s": {name: round(seconds, 2) for name, seconds in first.items()},
        **({} if pure is None else {"pure_planner_s": round(pure, 2)}),
        "peak_mib": {
            "driver JVM": _peak_mib(_child_called("java")),
            "driver Python": _peak_mib(os.getpid()),
        },
        "leaders": leaders,
        "compared": _compared(count, plans, ranks, pure),
    }


def _compared(
    count: int, plans: list[float], ranks: list[float], pure: float | None
) -> list[dict[str, object]]:
    work, mine = f"`spark plan` of {count:,} partitions", median(plans)
    rows = [at_most(RANKING_AIM, work, "the bare ranking query", mine, median(ranks))]
    if pure is not None:
        rows.append(at_least(PURE_AIM, work, "the pure planner", mine, pure))
    return rows


def _timed(what: Callable[[], None]) -> float:
    begun = time.perf_counter()
    what()
    return time.perf_counter() - begun


def _summary(seconds: list[float]) -> dict[str, float]:
    return {
        "median": round(median(seconds), 2),
        "least": round(min(seconds), 2),
        "most": round(max(seconds), 2),
    }


def _only_ranked(spark: SparkSession, directory: Path) -> DataFrame:
    path = str(directory / summaries.REPLICAS)
    replicas = spark.read.schema(spark_schema(REPLICAS)).parquet(path)
    window = Window.partitionBy(*KEY).orderBy(
        F.col("trust") == "suspect",
        F.desc("last_written_leader_epoch"),
        F.desc("log_end_offset"),
        "broker",
    )
    return replicas.select(*KEY, "broker", F.row_number().over(window).alias("rank"))


def _unread(rows: DataFrame) -> None:
    rows.write.format("noop").mode("overwrite").save()


def _plan(spark: SparkSession, directory: Path, output: Path) -> None:
    _told(planning.plan(spark, read_scans([directory]), frozenset()), output)


def _plan_purely(spark: SparkSession, directory: Path, output: Path) -> None:
    scans = read_scans([directory])
    replicas, partitions = read_merged(spark, scans)
    merged = scans.merged
    settings = {
        "brokers": list(merged.brokers),
        "excluded": [],
        "metadata_epoch": merged.metadata_epoch,
        "metadata_end_offset": merged.metadata_end_offset,
        "whole": [],
    }

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        for rows in batches:
            reports = planned_reports(settings, rows)
            yield _arrow.RecordBatch.from_pydict(_columns(reports), PLANS)

    plans = group(replicas, partitions).mapInArrow(work, spark_schema(PLANS)).persist()
    _told(planning.Planned(scans, frozenset(), replicas, partitions, plans), output)


def _columns(reports: Sequence[PartitionReport]) -> dict[str, list[Any]]:
    plans = [(report.topic_partition, report.plan) for report in reports]
    losses = [plan.ranking[0].loss if plan and plan.ranking else None for _, plan in plans]
    return {
        "topic": [tp.topic for tp, _ in plans],
        "partition": [tp.partition for tp, _ in plans],
        "designated_leader": [plan and plan.designated_leader for _, plan in plans],
        # The sentence stands for the code too: a plan has no code.
        "why": [None if plan and plan.designated_leader is not None else "-" for _, plan in plans],
        "reason": [plan and plan.refusal for _, plan in plans],
        "certain_loss": [loss and loss.certain for loss in losses],
        "possible_loss": [loss and loss.possible for loss in losses],
    }


def _told(planned: planning.Planned, output: Path) -> None:
    summary = planning.summarize(planned)
    texts = (text for text, _ in planning.leader_lines(planned))
    with output.open("w") as file:
        file.writelines(partitions_by_chunk({}, texts, dict))
    if not summary.losses:
        raise RuntimeError("no losses by topic")
    planned.plans.unpersist(blocking=True)


def _lines(path: Path) -> int:
    with path.open() as file:
        return sum(line.startswith('{"topic"') for line in file)


def _child_called(name: str) -> int:
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return next(int(c) for c in children if Path(f"/proc/{c}/comm").read_text().strip() == name)


def _peak_mib(process: int) -> float:
    """Return the most memory that the process had since its start."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return round(int(line.split()[1]) / 1024)
    raise RuntimeError("the system tells no peak")


if __name__ == "__main__":
    main(sys.argv[1:])
