"""An emulated cluster of 100 brokers loses a rack, and one run of the command recovers it.

The rows say what each part takes of the seconds, and the emulator of the memory, that it may all
take at most.

    python -m benchmarks.rack_outage [PARTITIONS]
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.compared import at_most
from benchmarks.installed import plain_environ, script, told_of_processes
from benchmarks.measure import Cost, ours, run, summary
from tests.real.cache import CACHE, quick_scratch
from tests.real.metadata import cluster_view

BROKERS = 100
PARTITIONS = 20_000
LIMIT_S = 90
LIMIT_MIB = 512
MEMORY_NEEDED = 4 << 30


def main(arguments: list[str]) -> None:
    partitions = int(arguments[0]) if arguments else PARTITIONS
    with (
        quick_scratch(CACHE, MEMORY_NEEDED) as scratch,
        _cluster(scratch / "cluster", BROKERS, partitions) as process,
    ):
        up, lost = (json.loads(_line(process)) for _ in range(2))
        servers = _line(process).strip()
        flags = ("--all-offline-partitions", "--automated-recovery", "--yes")
        recovered = run(ours("kafka-unclean-recovery", "--bootstrap-server", servers, *flags))
        left = _offline(servers)
    if recovered.code or left:
        raise RuntimeError(f"exit code {recovered.code}, {left} partitions are offline still")
    told: dict[str, object] = {
        "benchmark": "rack-outage",
        "brokers": BROKERS,
        "partitions": partitions,
    }
    told |= told_of_processes()
    figures = {"up": up, "lost": lost, "recovered": summary([recovered])}
    print(json.dumps(told | figures | {"compared": list(_rows(partitions, up, lost, recovered))}))


def _rows(
    partitions: int, up: dict[str, Any], lost: dict[str, Any], recovered: Cost
) -> Iterator[dict[str, object]]:
    work = f"emulator, {BROKERS} brokers, {partitions:,} partitions of 3 replicas"
    seconds = {
        "up": up["brokers_up_s"] + up["topics_s"],
        "one rack lost": lost["lost_s"],
        f"{lost['offline']:,} offline recovered in one run": recovered.wall_s,
    }
    for name, each in seconds.items():
        yield at_most(None, f"{work}: {name}", f"{LIMIT_S} s for all", each, LIMIT_S)
    yield at_most(1.0, f"{work}: all", f"{LIMIT_S} s", sum(seconds.values()), LIMIT_S)
    peak = lost["peak_mib"]
    yield at_most(1.0, f"{work}: memory", f"{LIMIT_MIB} MiB", peak, LIMIT_MIB, "MiB")


@contextmanager
def _cluster(directory: Path, brokers: int, partitions: int) -> Iterator[subprocess.Popen[str]]:
    """Yield a cluster that is killed, for a stop in order would move leaders many times."""
    process = subprocess.Popen(
        script("rack_process", str(directory), str(brokers), str(partitions)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=plain_environ(),
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@contextmanager
def rack_lost(brokers: int, partitions: int) -> Iterator[tuple[str, Path]]:
    """Give the bootstrap servers of a cluster that has lost a rack, and room for files."""
    with (
        quick_scratch(CACHE, MEMORY_NEEDED) as scratch,
        _cluster(scratch / "cluster", brokers, partitions) as process,
    ):
        _, _, servers = (_line(process) for _ in range(3))
        yield servers.strip(), scratch


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def _offline(servers: str) -> int:
    topics = cluster_view({"bootstrap.servers": servers}, 60.0).topics
    if not topics:
        raise RuntimeError("no broker tells of any topic")
    return sum(partition.offline for topic in topics.values() for partition in topic.values())


if __name__ == "__main__":
    main(sys.argv[1:])
