"""Scans of log directories that nothing in memory holds, on the disk that the checkout is on.

Deep and recover: 16 KiB batches, by the command with as many workers as cores, against `cat` of the
same bytes. Fast: against `find -type f` and one read of each replica. Before each run the system is
told to forget every file (posix_fadvise, which needs no rights); it keeps names and directories.
`cat` of what it does hold is told beside, so that a machine which forgets nothing is seen.

    python -m benchmarks.cold_scan [RUNS] [SEGMENT_MIB] [PARTITIONS]
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.compared import at_most
from benchmarks.installed import told_of_processes
from benchmarks.measure import run
from benchmarks.scan import (
    KIB,
    MIB,
    command,
    one_pread_each,
    small_logs,
    timed,
    unread,
    write_large,
)
from kafka_unclean_recovery.mechanisms import ScanMode
from tests.log_dir.replica_directories import file_name, write_log_directory
from tests.real.cache import CACHE

RUNS = 5
# Four such segments are one deep log directory.
SEGMENT_MIB = 256
PARTITIONS = 1000
BROKERS = 3
WORKERS = 2
DEEP_AIM, FAST_AIM = 1.15, 4


def main(arguments: list[str]) -> None:
    given = dict(enumerate(map(int, arguments)))
    runs, mib = given.get(0, RUNS), given.get(1, SEGMENT_MIB)
    CACHE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
        print(json.dumps(_deep(Path(scratch), mib * MIB, runs)), flush=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
        print(json.dumps(_fast(Path(scratch), given.get(2, PARTITIONS), runs)), flush=True)


def _deep(root: Path, segment: int, runs: int) -> dict[str, object]:
    files = list(write_large(root / "disk", 16 * KIB, segment))
    size = sum(file.stat().st_size for file in files)
    cat = unread(["cat", *map(str, files)])
    modes = (ScanMode.DEEP, ScanMode.RECOVER)
    scans = {str(mode): command(root / "disk", mode, WORKERS) for mode in modes}
    works: dict[str, Callable[[], float]] = {
        name: partial(_wall, line) for name, line in {"cat": cat, **scans}.items()
    }
    found = _cold_in_turn(root, works, runs)
    work = f"scan of {size / (1 << 30):.2g} GiB, cold disk"
    return {
        "benchmark": "scan-cold",
        **told_of_processes(),
        "bytes": size,
        "wall_s": found,
        "cat_warm_s": _wall(cat),
        "compared": [
            at_most(DEEP_AIM, f"{mode} {work}", "`cat` of it", found[mode], found["cat"])
            for mode in modes
        ],
    }


def _fast(root: Path, partitions: int, runs: int) -> dict[str, object]:
    for broker in range(1, BROKERS + 1):
        write_log_directory(root / f"broker-{broker}", broker, small_logs(partitions))
    segments = sorted(root.glob(f"*/*/{file_name(0, 'log')}"))
    works: dict[str, Callable[[], float]] = {
        "find": partial(_wall, unread(["find", str(root), "-type", "f"])),
        "one read a replica": partial(timed, partial(one_pread_each, segments)),
        "fast": partial(_wall, command(root, ScanMode.FAST, WORKERS)),
    }
    found = _cold_in_turn(root, works, runs)
    floor = found["find"] + found["one read a replica"]
    work = f"fast scan of {len(segments):,} replicas, cold disk"
    rival = "`find` and one read a replica"
    return {
        "benchmark": "scan-cold-fast",
        **told_of_processes(),
        "replicas": len(segments),
        "wall_s": found,
        "compared": [at_most(FAST_AIM, work, rival, found["fast"], floor)],
    }


def _wall(line: list[str]) -> float:
    cost = run(line)
    if cost.code:
        raise RuntimeError(f"{line[0]} failed")
    return cost.wall_s


def _cold_in_turn(root: Path, works: dict[str, Callable[[], float]], runs: int) -> dict[str, float]:
    """Return the median seconds of each, taken in turn, so that a slow moment falls on all."""
    found: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(runs):
        for name, work in works.items():
            _forget(root)
            found[name].append(work())
    return {name: round(median(seconds), 3) for name, seconds in found.items()}


def _forget(root: Path) -> None:
    for file in filter(Path.is_file, root.rglob("*")):
        descriptor = os.open(file, os.O_RDONLY)
        # What is not on the disk yet can't be forgotten.
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


if __name__ == "__main__":
    main(sys.argv[1:])
