"""A bulk scan by Spark against the process pool on the same tree, and both against one CRC pass.

Deep, local[2] against two workers, in one session: starting it, and the first job in Python, are
told apart. Then how it grows with bytes and with replicas, each run once, after one to warm up. All
in memory, where there is room.

    python -m benchmarks.spark_scan [GIB] [REPLICAS] [RUNS]
"""

from __future__ import annotations

import json
import os
import shutil
import struct
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import cycle
from pathlib import Path
from statistics import median
from typing import Any

from crc32c import crc32c
from pyspark.sql import SparkSession

from benchmarks.compared import at_most
from benchmarks.installed import told_of_this_process
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.scan import scan_log_directories
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.spark.scan.job import Home, ScanOptions
from kafka_unclean_recovery.spark.scan.scan_disks import scan
from kafka_unclean_recovery.spark.session import session
from kafka_unclean_recovery.spark.tasks import numbers, run_tasks, told
from tests.log_dir.replica_directories import Log, Segment, file_name, write_log_directory
from tests.log_dir.segments import checkpoint, v2
from tests.real.cache import CACHE, quick_scratch

GIB = 4
REPLICAS = 9000
RUNS = 1
BROKERS = 3
KIB, MIB = 1 << 10, 1 << 20
BATCH = 16 * KIB
SEGMENT = 64 * MIB
# The processor must not learn them by heart.
DIFFERENT_BATCHES = 256
POOL_AIM, START_UP_AIM = 1.15, 15.0
CONF = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.driver.memory": "1g",
}


def main(arguments: list[str]) -> None:
    given = dict(enumerate(map(int, arguments)))
    gib, replicas, runs = given.get(0, GIB), given.get(1, REPLICAS), given.get(2, RUNS)
    begun = time.perf_counter()
    with session("local[2]", CONF) as spark:
        started = time.perf_counter() - begun
        begun = time.perf_counter()
        run_tasks(spark, "benchmarks.spark_scan:nothing", {}, 2, 2)()
        first = time.perf_counter() - begun
        start_up = {"session_s": round(started, 1), "first Python job_s": round(first, 1)}
        said = "`spark scan`: session and first job in Python"
        rows = [at_most(1.0, said, f"{START_UP_AIM:g} s", started + first, START_UP_AIM)]
        row = {
            "benchmark": "spark-scan-start-up",
            **told_of_this_process(),
            **start_up,
            "compared": rows,
        }
        print(json.dumps(row), flush=True)
        for size in sorted({max(gib // 4, 1), gib}):
            print(json.dumps(_deep(spark, size << 30, runs)), flush=True)
        for count in sorted({replicas // 10, replicas}):
            print(json.dumps(_fast(spark, count, runs)), flush=True)


def nothing(_: dict[str, Any], batches: Iterable[Any]) -> Iterator[Any]:
    list(numbers(batches))
    yield told()


def _deep(spark: SparkSession, size: int, runs: int) -> dict[str, object]:
    with quick_scratch(CACHE, needed=size + (1 << 30)) as scratch:
        files = list(_write_large(scratch / "disks", size))
        written = sum(file.stat().st_size for file in files)
        roots = sorted((scratch / "disks").iterdir())
        seconds = _in_turn(
            {
                "Spark": partial(_by_spark, spark, roots, ScanMode.DEEP, scratch / "out"),
                "pool": partial(_by_pool, roots, ScanMode.DEEP),
                "one CRC pass": partial(_crc, files),
            },
            runs,
        )
    found = {name: round(median(times), 2) for name, times in seconds.items()}
    return {
        "benchmark": "spark-scan-deep",
        **told_of_this_process(),
        "bytes": written,
        "replicas": len({file.parent for file in files}),
        "runs": runs,
        "wall_s": found,
        "GB/s": {name: round(written / time / 1e9, 2) for name, time in found.items()},
        "over one CRC pass": {
            name: round(found[name] / found["one CRC pass"], 2) for name in ("Spark", "pool")
        },
        "compared": [_over_the_pool(f"deep, {size >> 30} GiB", found, POOL_AIM)],
    }


def _fast(spark: SparkSession, replicas: int, runs: int) -> dict[str, object]:
    with quick_scratch(CACHE) as scratch:
        for broker in range(1, BROKERS + 1):
            logs = _small_logs(replicas // BROKERS)
            write_log_directory(scratch / "disks" / str(broker), broker, logs)
        roots = sorted((scratch / "disks").iterdir())
        seconds = _in_turn(
            {
                "Spark": partial(_by_spark, spark, roots, ScanMode.FAST, scratch / "out"),
                "pool": partial(_by_pool, roots, ScanMode.FAST),
            },
            runs,
        )
    found = {name: round(median(times), 2) for name, times in seconds.items()}
    rows = [_over_the_pool(f"fast, {replicas:,} replicas", found, None)]
    return {
        "benchmark": "spark-scan-fast",
        **told_of_this_process(),
        "replicas": replicas,
        "runs": runs,
        "wall_s": found,
        "compared": rows,
    }


def _over_the_pool(what: str, found: dict[str, float], aim: float | None) -> dict[str, object]:
    work, pool = f"`spark scan`, {what}, session begun", "`scan-log-dirs` on as many cores"
    return at_most(aim, work, pool, found["Spark"], found["pool"])


def _in_turn(measure: dict[str, Callable[[], object]], runs: int) -> dict[str, list[float]]:
    """Measure each in turn, so that a slow moment falls on all; the first round warms up."""
    found: dict[str, list[float]] = {name: [] for name in measure}
    for number in range(runs + 1):
        for name, once in measure.items():
            begun = time.perf_counter()
            once()
            if number:
                found[name].append(time.perf_counter() - begun)
    return found


def _by_spark(spark: SparkSession, roots: list[Path], mode: ScanMode, output: Path) -> None:
    done = scan(spark, ScanOptions(tuple(root.as_uri() for root in roots), mode), Home(output))
    shutil.rmtree(output)
    if done is None or done.summary.doubts.suspect.count or done.summary.doubts.unusable.count:
        raise RuntimeError("it did not read what was written")


def _by_pool(roots: list[Path], mode: ScanMode) -> None:
    scan_log_directories([LocalLocation(root) for root in roots], mode, workers=2)


def _crc(files: list[Path]) -> None:
    for file in files:
        descriptor = os.open(file, os.O_RDONLY)
        position = crc = 0
        while piece := os.pread(descriptor, MIB, position):
            crc = crc32c(piece, crc)
            position += len(piece)
        os.close(descriptor)


def _write_large(root: Path, size: int) -> Iterator[Path]:
    """Yield a segment for each replica; the brokers have as many each."""
    templates = [
        v2(0, 1, body=os.urandom(BATCH - len(v2(0, 1, body=b""))))[8:]
        for _ in range(DIFFERENT_BATCHES)
    ]
    for broker in range(1, BROKERS + 1):
        write_log_directory(root / str(broker), broker, [])
        for number in range(size // BROKERS // SEGMENT):
            replica = root / str(broker) / f"large-{number}"
            replica.mkdir()
            (replica / "leader-epoch-checkpoint").write_bytes(checkpoint("0 0"))
            path = replica / file_name(0, "log")
            with path.open("wb") as file:
                for offset, rest in zip(range(SEGMENT // BATCH), cycle(templates), strict=False):
                    file.write(struct.pack(">q", offset))
                    file.write(rest)
            yield path


def _small_logs(count: int) -> Iterator[Log]:
    """Yield logs of a few batches each, with all the files that Kafka keeps beside them."""
    segment = Segment(0, tuple(v2(base, 5, body=bytes(300)) for base in range(0, 50, 5)))
    for number in range(count):
        yield Log(f"topic-{number}", (segment,), ((0, 0),))


if __name__ == "__main__":
    main(sys.argv[1:])
