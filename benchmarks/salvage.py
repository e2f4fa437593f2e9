"""Salvage of one replica whose whole log is beyond the leader's, against kafka-dump-log.sh.

Logs of 16 records of 1 KiB a batch, plain and by zstd: the command with Parquet and with
--raw-only, and kafka-dump-log.sh --print-data-log on the same files, its output dropped. All in
memory, where there is room; MB/s are of the log's bytes on disk, start-up included. Half of each
value is random, which zstd can't take out.

    python -m benchmarks.salvage [RUNS] [MIB]
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.compared import at_least
from benchmarks.installed import EXTRAS, told_of_processes
from benchmarks.measure import Cost, jvm_script, ours, run, summary
from kafka_unclean_recovery.model import EpochSpan
from tests.real.cache import CACHE, quick_scratch
from tests.salvage.batches import Fields, batch, numbered, placed
from tests.salvage.disks import disk, plan_text

VERSION = "4.3.1"
RUNS, MIB = 3, 256
RECORDS, RECORD = 16, 1 << 10
SEGMENT = 128 << 20
# The processor must not learn them by heart.
DIFFERENT_BATCHES = 256
CODECS = ("none", "zstd")


def main(arguments: list[str]) -> None:
    given = dict(enumerate(map(int, arguments)))
    for codec in CODECS:
        row = _measured(codec, given.get(1, MIB) << 20, given.get(0, RUNS))
        print(json.dumps(row), flush=True)


def _measured(codec: str, size: int, runs: int) -> dict[str, object]:
    with quick_scratch(CACHE, needed=6 * size) as scratch:
        directory = disk(scratch / "disk", dict(_segments(codec, size)))
        (scratch / "plan.json").write_text(plan_text((EpochSpan(0, 0, 1),), log_end=1))
        files = sorted(directory.glob("*.log"))
        total = sum(file.stat().st_size for file in files)
        names = ",".join(map(str, files))
        dump = jvm_script(VERSION, "kafka-dump-log", "--print-data-log", "--files", names)
        measured = {
            "Parquet and segments": partial(_salvage, scratch),
            "segments alone": partial(_salvage, scratch, "--raw-only"),
            "kafka-dump-log.sh": partial(run, ["sh", "-c", '"$@" > /dev/null', "sh", *dump]),
        }
        costs: dict[str, list[Cost]] = {name: [] for name in measured}
        for _ in range(runs):
            for name, what in measured.items():
                costs[name].append(what())
    figures = {name: summary(found) for name, found in costs.items()}
    wall = {name: figure["wall_s"] for name, figure in figures.items()}
    return {
        "benchmark": "salvage",
        **told_of_processes(),
        "codec": codec,
        "bytes": total,
        "commands": figures,
        "MB/s": {name: round(total / seconds / 1e6) for name, seconds in wall.items()},
        "compared": [
            at_least(
                1.0,
                f"salvage of {total >> 20} MiB, {codec}: {name}",
                "kafka-dump-log.sh",
                wall[name],
                wall["kafka-dump-log.sh"],
            )
            for name in ("Parquet and segments", "segments alone")
        ],
    }


def _salvage(scratch: Path, *flags: str) -> Cost:
    places = ("--log-dirs", "disk", "--plan", "plan.json", "--output", "saved")
    words = [word if word.startswith("--") else str(scratch / word) for word in places]
    cost = run(ours("kafka-unclean-recovery", "salvage", *words, *flags, kind=EXTRAS))
    shutil.rmtree(scratch / "saved")
    return cost


def _segments(codec: str, size: int) -> Iterator[tuple[int, bytes]]:
    """Yield (first offset, bytes) of each segment; the leader has the first record, too."""
    built = [batch(0, list(_records()), codec=codec) for _ in range(DIFFERENT_BATCHES)]
    start, offset, written = 0, 1, 0
    parts = [numbered(0, 1)]
    while written < size:
        length = 0
        while length < min(SEGMENT, size):
            parts.append(placed(built[offset // RECORDS % DIFFERENT_BATCHES], offset, 0))
            length += len(parts[-1])
            offset += RECORDS
        yield start, b"".join(parts)
        written, start, parts = written + length, offset, []


def _records() -> Iterator[Fields]:
    for number in range(RECORDS):
        value = os.urandom(RECORD // 2) + b"x" * (RECORD // 2)
        yield 1_700_000_000_000 + number, b"key %d" % number, value, ()


if __name__ == "__main__":
    main(sys.argv[1:])
