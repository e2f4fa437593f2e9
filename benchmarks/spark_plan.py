"""Planning many partitions by Spark: seconds and memory, against a query that only ranks.

First the whole command as users run it, for so few partitions that nothing but its fixed cost is
seen. Then everything that `spark plan` makes of the tables without `--plan-output-file`: losses by
topic, and the leaders' file. Against one window query over the same Parquet in the same session,
which numbers the replicas of each partition and keeps nothing. A round at the smallest number warms
the JVM up and is told apart; after it one round of each number counts. Memory: the largest that the
system saw of the JVM and of this process, which are driver and executor here, since their start;
Python workers are not in it.

    python -m benchmarks.spark_plan [PARTITIONS ...]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from benchmarks.compared import at_most
from benchmarks.installed import (
    EXTRAS,
    plain_environ,
    python,
    told_of_processes,
    told_of_this_process,
)
from benchmarks.spark_summaries import COPIES, write_many
from kafka_unclean_recovery.documents.writing import partitions_by_chunk
from kafka_unclean_recovery.spark import summaries
from kafka_unclean_recovery.spark.plan import planning
from kafka_unclean_recovery.spark.plan.merging import read_scans
from kafka_unclean_recovery.spark.session import session
from kafka_unclean_recovery.spark.tables import KEY, REPLICAS, spark_schema
from tests.real.cache import CACHE, quick_scratch

PARTITIONS = (20_000, 100_000)
RUNS = 1
CONF = {
    "spark.driver.memory": "4g",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "16",
}
RANKING_AIM, WHOLE_AIM = 3.0, 12.0
FEW = 400
_TIMEOUT = 300.0


def main(arguments: list[str]) -> None:
    counts = [int(word) for word in arguments] or list(PARTITIONS)
    with quick_scratch(CACHE) as scratch:
        print(json.dumps(_whole(scratch)), flush=True)
        begun = time.perf_counter()
        with session("local[2]", CONF) as spark:
            started = time.perf_counter() - begun
            for count in sorted(counts):
                figures = _measured(spark, scratch, count, smallest=count == min(counts))
                print(json.dumps({**figures, "session_s": round(started, 1)}), flush=True)


def _whole(scratch: Path) -> dict[str, object]:
    directory = write_many(scratch / "few", FEW)
    leaders = scratch / "leaders.json"
    module = ("-P", "-m", "kafka_unclean_recovery", "spark", "plan", "--summaries", str(directory))
    words = (*module, "--manual-recovery-output-file", str(leaders))
    settings = (word for key, value in CONF.items() for word in ("--conf", f"{key}={value}"))
    command = python(*words, *settings, kind=EXTRAS)
    environ = plain_environ()

    def run() -> None:
        subprocess.run(command, env=environ, capture_output=True, check=True, timeout=_TIMEOUT)

    work, seconds = f"`spark plan` of {FEW} partitions, the whole command", _timed(run)
    compared = at_most(1.0, work, f"{WHOLE_AIM:g} s", seconds, WHOLE_AIM)
    return {"benchmark": "spark-plan", **told_of_processes(), "compared": [compared]}


def _measured(
    spark: SparkSession, scratch: Path, count: int, *, smallest: bool
) -> dict[str, object]:
    """Measure a plan. smallest: a round warms up."""
    directory = write_many(scratch / f"scan-{count}", count)
    output = scratch / "leaders.json"
    plans: list[float] = []
    ranks: list[float] = []
    # In turn, so that a slow moment of the machine falls on both.
    for _ in range(RUNS + smallest):
        ranks.append(_timed(lambda: _unread(_only_ranked(spark, directory))))
        plans.append(_timed(lambda: _plan(spark, directory, output)))
    first = {"plan": plans.pop(0), "only_ranking": ranks.pop(0)} if smallest else {}
    leaders = _lines(output)
    if not count * 0.99 < leaders <= count:
        raise RuntimeError(f"{leaders} leaders of {count} partitions")
    return {
        "benchmark": "spark-plan",
        **told_of_this_process(),
        "partitions": count,
        "replicas": count * COPIES,
        "runs": RUNS,
        "plan_s": _summary(plans),
        "only_ranking_s": _summary(ranks),
        "first_s": {name: round(seconds, 2) for name, seconds in first.items()},
        "peak_mib": {
            "driver JVM": _peak_mib(_child_called("java")),
            "driver Python": _peak_mib(os.getpid()),
        },
        "leaders": leaders,
        "compared": _compared(count, plans, ranks),
    }


def _compared(count: int, plans: list[float], ranks: list[float]) -> list[dict[str, object]]:
    work, mine = f"`spark plan` of {count:,} partitions", median(plans)
    return [at_most(RANKING_AIM, work, "the bare ranking query", mine, median(ranks))]


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


def _told(planned: planning.Planned, output: Path) -> None:
    texts = planning.texts(planned, rich=False)
    lines = (text for text, _ in texts.lines("leaders"))
    with output.open("w") as file:
        file.writelines(partitions_by_chunk({}, lines, dict))
    if not texts.totals.losses():
        raise RuntimeError("no losses by topic")
    texts.rows.unpersist(blocking=True)


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
