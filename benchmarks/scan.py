"""Reading log directories offline: deep and fast scans, each against the least that could be done.

Deep: logs of 1 KiB and of 16 KiB batches, by the command, with one worker and with two, against two
kafka-dump-log.sh at once, each with half of the same files; and inside this process, where no
start-up blurs it, against one CRC-32C pass over the same bytes. Fast: three brokers' log
directories, against `find -type f` and one pread a replica. All in memory, where there is room.
Peaks are of the largest process.

    python -m benchmarks.scan [RUNS] [SEGMENT_MIB] [PARTITIONS]
"""

from __future__ import annotations

import json
import mmap
import os
import shlex
import struct
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import cycle
from pathlib import Path
from statistics import median
from typing import TypeVar

from crc32c import crc32c

from benchmarks.compared import at_least, at_most
from benchmarks.installed import told_of_processes
from benchmarks.measure import jvm_script, ours, run, summary
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.scan import scan_log_directories
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import ReplicaInfo
from tests.log_dir.replica_directories import Log, Segment, file_name, write_log_directory
from tests.log_dir.segments import checkpoint, v2
from tests.real.cache import CACHE, quick_scratch

T = TypeVar("T")

VERSION = "4.3.1"
RUNS = 2
SEGMENT_MIB = 256
# Of a replica, of which a worker reads one at a time.
SEGMENTS = 2
REPLICAS = 2
PARTITIONS = 3000
BROKERS = 3
KIB, MIB = 1 << 10, 1 << 20
BATCH_KIB = (1, 16)
# The processor must not learn them by heart.
DIFFERENT_BATCHES = 256
# At once, each with its share of the files: as many as our workers.
DUMP_LOGS = 2
# How many times as fast as kafka-dump-log, by KiB of a batch.
DEEP_AIMS = {1: 5, 16: 4}
FAST_AIM = 4


def main(arguments: list[str]) -> None:
    given = dict(enumerate(map(int, arguments)))
    runs, mib = given.get(0, RUNS), given.get(1, SEGMENT_MIB)
    for size in BATCH_KIB:
        print(json.dumps(_deep(size * KIB, mib * MIB, runs)), flush=True)
    print(json.dumps(_fast(given.get(2, PARTITIONS), runs)), flush=True)


def _deep(batch: int, segment: int, runs: int) -> dict[str, object]:
    total = segment * SEGMENTS * REPLICAS
    with quick_scratch(CACHE, needed=2 * total) as scratch:
        files = list(write_large(scratch / "disk", batch, segment))
        size = sum(file.stat().st_size for file in files)
        shares = [files[number::DUMP_LOGS] for number in range(DUMP_LOGS)]
        commands = {
            "one worker": command(scratch / "disk", ScanMode.DEEP, 1),
            "two workers": command(scratch / "disk", ScanMode.DEEP, 2),
            "kafka-dump-log.sh, two": _at_once(map(_dump_log, shares)),
        }
        costs = _in_turn({name: partial(run, line) for name, line in commands.items()}, runs)
        seconds = _deep_seconds(scratch / "disk", files, runs)
    commands_figures = {name: summary(found) for name, found in costs.items()}
    within = {name: median(found) for name, found in seconds.items()}
    speeds = {name: round(size / median(found) / 1e9, 2) for name, found in seconds.items()}
    theirs = commands_figures["kafka-dump-log.sh, two"]["wall_s"]
    return {
        "benchmark": "scan-deep",
        **told_of_processes(),
        "batch_kib": batch // KIB,
        "segment_mib": segment // MIB,
        "bytes": size,
        "commands": commands_figures,
        "over kafka-dump-log": {
            name: round(theirs / commands_figures[name]["wall_s"], 1)
            for name in ("one worker", "two workers")
        },
        "in one process, GB/s": speeds,
        "over one CRC pass": {
            name: round(speeds["scan"] / speeds[name], 2)
            for name in ("crc by pread", "crc by mmap")
        },
        "compared": _deep_compared(
            batch // KIB, commands_figures["two workers"]["wall_s"], theirs, within
        ),
    }


def _deep_compared(
    kib: int, mine: float, dump_log: float, within: dict[str, float]
) -> list[dict[str, object]]:
    work = f"deep scan, batches of {kib} KiB, warm"
    rival = f"kafka-dump-log.sh, {DUMP_LOGS} processes"
    return [
        at_least(DEEP_AIMS[kib], f"{work}, two cores", rival, mine, dump_log),
        at_most(None, work, "one CRC-32C pass", within["scan"], within["crc by pread"]),
    ]


def _fast(partitions: int, runs: int) -> dict[str, object]:
    with quick_scratch(CACHE) as scratch:
        for broker in range(1, BROKERS + 1):
            write_log_directory(scratch / f"broker-{broker}", broker, small_logs(partitions))
        segments = sorted(scratch.glob(f"*/*/{file_name(0, 'log')}"))
        costs = _in_turn(
            {
                "fast, one worker": partial(run, command(scratch, ScanMode.FAST, 1)),
                "fast, two workers": partial(run, command(scratch, ScanMode.FAST, 2)),
                "find -type f": partial(run, unread(["find", str(scratch), "-type", "f"])),
            },
            runs,
        )
        seconds = _fast_seconds(scratch, segments, runs)
    figures = {name: summary(found) for name, found in costs.items()}
    inside = {name: round(median(found), 3) for name, found in seconds.items()}
    floor = figures["find -type f"]["wall_s"] + inside["one pread a replica"]
    return {
        "benchmark": "scan-fast",
        **told_of_processes(),
        "replicas": len(segments),
        "commands": figures,
        "in one process, s": inside,
        "replicas_per_s": {
            "fast, one worker": round(len(segments) / figures["fast, one worker"]["wall_s"]),
            "fast, two workers": round(len(segments) / figures["fast, two workers"]["wall_s"]),
            "fast, in one process": round(len(segments) / inside["fast"]),
        },
        "floor_s": round(floor, 3),
        "compared": [
            at_most(
                FAST_AIM,
                f"fast scan of {len(segments):,} replicas, warm",
                "`find` and one read a replica",
                inside["fast"],
                floor,
            )
        ],
    }


def _deep_seconds(root: Path, files: list[Path], runs: int) -> dict[str, list[float]]:
    measured: dict[str, Callable[[], object]] = {
        "scan": partial(_scan, root, ScanMode.DEEP),
        "crc by pread": partial(_crc_by_pread, files),
        "crc by mmap": partial(_crc_by_mmap, files),
    }
    return _in_turn({name: partial(timed, what) for name, what in measured.items()}, runs)


def _fast_seconds(root: Path, segments: list[Path], runs: int) -> dict[str, list[float]]:
    measured: dict[str, Callable[[], object]] = {
        "fast": partial(_scan, root, ScanMode.FAST),
        "one pread a replica": partial(one_pread_each, segments),
    }
    return _in_turn({name: partial(timed, what) for name, what in measured.items()}, runs)


def _in_turn(measure: dict[str, Callable[[], T]], runs: int) -> dict[str, list[T]]:
    """Measure each in turn, so that a slow moment falls on all; the first round warms up."""
    found: dict[str, list[T]] = {name: [] for name in measure}
    for number in range(runs + 1):
        for name, once in measure.items():
            figure = once()
            if number:
                found[name].append(figure)
    return found


def timed(what: Callable[[], object]) -> float:
    begun = time.perf_counter()
    what()
    return time.perf_counter() - begun


def command(root: Path, mode: ScanMode, workers: int) -> list[str]:
    flags = ("--mode", mode, "--workers", str(workers), "--format", "json")
    return ours("kafka-unclean-recovery", "scan-log-dirs", str(root), *flags)


def _dump_log(files: list[Path]) -> list[str]:
    return jvm_script(VERSION, "kafka-dump-log", "--files", ",".join(map(str, files)))


def unread(command: list[str]) -> list[str]:
    """Return the command with its output dropped, which costs it no disk."""
    return ["sh", "-c", 'exec "$@" > /dev/null', "sh", *command]


def _at_once(commands: Iterable[list[str]]) -> list[str]:
    """Return one command that runs all side by side, silent, and fails where one does."""
    begun = "".join(f'{shlex.join(c)} > /dev/null & all="$all $!"; ' for c in commands)
    return ["sh", "-c", f"{begun}for each in $all; do wait $each || exit; done"]


def _scan(root: Path, mode: ScanMode) -> ReplicaInfo:
    info = scan_log_directories([LocalLocation(root)], mode)
    sound = (
        log.problem is None and log.suspect is None
        for p in info.partitions
        for log in p.replica_logs
    )
    if not all(sound):
        raise RuntimeError("it did not read what was written")
    return info


def _crc_by_pread(files: list[Path]) -> None:
    for file in files:
        descriptor = os.open(file, os.O_RDONLY)
        position = crc = 0
        while piece := os.pread(descriptor, MIB, position):
            crc = crc32c(piece, crc)
            position += len(piece)
        os.close(descriptor)


def _crc_by_mmap(files: list[Path]) -> None:
    for file in files:
        with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ) as whole:
            crc32c(whole)


def one_pread_each(segments: list[Path]) -> None:
    for segment in segments:
        descriptor = os.open(segment, os.O_RDONLY)
        os.pread(descriptor, 4096, 0)
        os.close(descriptor)


def write_large(root: Path, batch: int, segment: int) -> Iterator[Path]:
    """Yield segments of batches of `batch` bytes, of one record as far as headers tell."""
    write_log_directory(root, 1, [])
    templates = [
        v2(0, 1, body=os.urandom(batch - len(v2(0, 1, body=b"")))) for _ in range(DIFFERENT_BATCHES)
    ]
    for number in range(REPLICAS):
        replica = root / f"large-{number}"
        replica.mkdir()
        (replica / "leader-epoch-checkpoint").write_bytes(checkpoint("0 0"))
        for base in range(0, SEGMENTS * (segment // batch), segment // batch):
            path = replica / file_name(base, "log")
            _write_segment(path, templates, base, segment // batch)
            yield path


def _write_segment(path: Path, templates: list[bytes], base: int, batches: int) -> None:
    """Write a segment of these batches, whose base offsets no CRC covers."""
    endless = cycle([template[8:] for template in templates])
    with path.open("wb") as file:
        for offset, rest in zip(range(base, base + batches), endless, strict=False):
            file.write(struct.pack(">q", offset))
            file.write(rest)


def small_logs(count: int) -> Iterator[Log]:
    """Yield logs of a few batches each, with all the files that Kafka keeps beside them."""
    segment = Segment(0, tuple(v2(base, 5, body=bytes(300)) for base in range(0, 50, 5)))
    for number in range(count):
        yield Log(f"topic-{number}", (segment,), ((0, 0),))


if __name__ == "__main__":
    main(sys.argv[1:])
