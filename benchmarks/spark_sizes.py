"""Scans and plans of whole clusters by Spark and by one process: seconds, and memory by process.

    python -m benchmarks.spark_sizes [BROKERS ...]

Each broker has 300 small replicas, and a copy of the metadata log. Commands run as they are
installed; Spark has two executors of one core and 1 GiB, as processes of their own. 3,000 brokers
take half an hour and 10 GB of disk, so `make bench` has none of it; docs/spark.md has the table.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks.installed import EXTRAS, plain_environ, told_of_processes
from benchmarks.measure import ours
from benchmarks.whole_cluster import COPIES, REPLICAS, write_cluster
from tests.real.cache import CACHE, scratch_directory
from tests.spark.cluster import below

BROKERS = (100, 1000)
CONF = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.executor.memory": "1g",
    "spark.ui.enabled": "false",
}
TOOL, MASTER = "kafka-unclean-recovery", "local-cluster[2,1,1024]"
_POLL_S, _TIMEOUT_S = 0.2, 7200.0
# What the words of a process hold, by what it is; the first that is found counts.
_KINDS = {
    "CoarseGrainedExecutorBackend": "executor JVM",
    "SparkSubmit": "driver JVM",
    "pyspark.daemon": "executor Python",
}


def main(arguments: list[str]) -> None:
    for brokers in [int(word) for word in arguments] or BROKERS:
        with scratch_directory(CACHE) as scratch:
            print(json.dumps(_measured(scratch, brokers)), flush=True)


def _measured(scratch: Path, brokers: int) -> dict[str, object]:
    roots = write_cluster(scratch / "disks", brokers)
    table = scratch / "disks.csv"
    table.write_text("".join(f"{line}\n" for line in ("root", *map(str, roots))))
    found = {
        name: _run(ours(TOOL, *words, kind=EXTRAS)) for name, words in _commands(scratch).items()
    }
    leaders, by_spark = (_leaders(scratch / f"{name}.json") for name in ("leaders", "by-spark"))
    if leaders != by_spark or len(leaders) != brokers * REPLICAS // COPIES:
        raise RuntimeError(f"{len(leaders)} and {len(by_spark)} leaders, which are not the same")
    return {
        "benchmark": "spark-sizes",
        **told_of_processes(),
        "brokers": brokers,
        "replicas": brokers * REPLICAS,
        "partitions": len(leaders),
        "wall_s": {name: round(run.wall_s, 1) for name, run in found.items()},
        "peak_mib": {name: run.peak_mib for name, run in found.items()},
    }


def _commands(scratch: Path) -> dict[str, tuple[str, ...]]:
    """Return the words of each command, in their order."""
    settings = (word for key, value in CONF.items() for word in ("--conf", f"{key}={value}"))
    spark = ("--master", MASTER, *settings)
    scanned, tables, leaders = (str(scratch / name) for name in ("scan.json", "scan", "leaders"))
    chosen = "--manual-recovery-output-file"
    return {
        "scan-log-dirs": ("scan-log-dirs", str(scratch / "disks"), "--output", scanned),
        "plan": ("plan", "--replica-info-file", scanned, chosen, f"{leaders}.json"),
        "spark scan": (
            *("spark", "scan", "--roots-table", str(scratch / "disks.csv")),
            *("--output", tables, *spark),
        ),
        "spark plan": (
            *("spark", "plan", "--summaries", tables),
            *(chosen, str(scratch / "by-spark.json"), *spark),
        ),
    }


@dataclass(frozen=True, slots=True)
class Run:
    """Seconds, and the most memory that a process of each kind had, in MiB."""

    wall_s: float
    peak_mib: Mapping[str, int]


def _run(command: Sequence[str]) -> Run:
    local = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_PUBLIC_DNS": "127.0.0.1"}
    environ = {**plain_environ(), **local, "PYSPARK_PYTHON": sys.executable}
    peaks: dict[str, int] = {}
    begun = time.perf_counter()
    with (
        tempfile.TemporaryFile("w+") as said,
        subprocess.Popen(
            command, env=environ, stdin=subprocess.DEVNULL, stdout=said, stderr=said
        ) as process,
    ):
        while process.poll() is None:
            for kind, peak in _peaks(process.pid):
                peaks[kind] = max(peaks.get(kind, 0), peak)
            time.sleep(_POLL_S)
            if (wall := time.perf_counter() - begun) > _TIMEOUT_S:
                process.kill()
        if process.returncode:
            said.seek(0)
            raise RuntimeError(
                f"{' '.join(command[:3])}: {process.returncode}: {said.read()[-2000:]}"
            )
    return Run(wall, peaks)


def _peaks(pid: int) -> Iterator[tuple[str, int]]:
    """Yield the kind and the peak memory, in MiB, of a process and of all that it started."""
    for each in (pid, *below(pid)):
        with suppress(OSError, StopIteration):
            words = Path(f"/proc/{each}/cmdline").read_text()
            status = Path(f"/proc/{each}/status").read_text().splitlines()
            peak = next(line for line in status if line.startswith("VmHWM"))
            kind = next((kind for word, kind in _KINDS.items() if word in words), "command")
            yield kind, int(peak.split()[1]) >> 10


def _leaders(path: Path) -> dict[tuple[str, int], int]:
    told = json.loads(path.read_text())["partitions"]
    return {(row["topic"], row["partition"]): row["designatedLeader"] for row in told}


if __name__ == "__main__":
    main(sys.argv[1:])
