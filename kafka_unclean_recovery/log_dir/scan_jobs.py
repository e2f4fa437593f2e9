"""Read many replicas, in this process or side by side in several.

A job is a handful of replicas of one log directory. A process of ours that is killed (by the
kernel, short of memory) costs only the rows that were not read yet.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import wait as wait_for_end
from typing import Any

from kafka_unclean_recovery.log_dir.replica_scan import Replica, scan_replica, unreadable
from kafka_unclean_recovery.log_dir.tree import Folder, Location, Unreadable
from kafka_unclean_recovery.log_dir.watching import Meter, Progress, Stopped, Watch, WatchedMeter
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import ReplicaLog
from kafka_unclean_recovery.signals import OF_A_TERMINAL

KILLED = "a process of the scan was killed before it had read this; use fewer --workers"
_EVERY_SECONDS = 0.2
# This many bytes are counted in a process before it adds them to the count of all processes.
_TELL_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Job:
    """Some replicas of one log directory, by the names of their directories; `size` is
    planned_bytes of all of them."""

    log_directory: Location
    replicas: tuple[tuple[str, Replica], ...]
    size: int


Row = tuple[Replica, ReplicaLog]


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows that were read; `interrupted` when the watch stopped the scan before all were."""

    rows: list[Row]
    interrupted: bool


def run_jobs(jobs: Sequence[Job], mode: ScanMode, workers: int, watch: Watch) -> Rows:
    """Run the jobs and return their rows. `workers` is at least 1."""
    bytes_total = sum(job.size for job in jobs)
    replicas_total = sum(len(job.replicas) for job in jobs)
    pool = None
    if min(workers, len(jobs)) > 1:
        # The values that processes share take a file: without room for one, a single process must
        # do.
        with suppress(OSError):
            pool = _Pool(mode, min(workers, len(jobs)), watch, bytes_total, replicas_total)
    if pool is None:
        done = _run_here(jobs, mode, WatchedMeter(watch, bytes_total, replicas_total))
    else:
        done = pool.run(sorted(jobs, key=lambda job: -job.size))
    return Rows(done, interrupted=len(done) < replicas_total)


def _run_here(jobs: Sequence[Job], mode: ScanMode, meter: WatchedMeter) -> list[Row]:
    done: list[Row] = []
    with suppress(Stopped):
        for job in jobs:
            for row in scan_job(job, mode, meter):
                done.append(row)
                meter.replicas += 1
        meter.tell()
    return done


def scan_job(job: Job, mode: ScanMode, meter: Meter) -> Iterator[Row]:
    """Yield a row for each of the job's replicas, whatever happens. Raises Stopped."""
    try:
        with job.log_directory.open() as log_directory:
            for name, replica in job.replicas:
                yield replica, _scan_one(log_directory, name, replica, mode, meter)
    except Unreadable as error:
        for _, replica in job.replicas:
            yield replica, unreadable(replica, mode, str(error))


def _scan_one(
    log_directory: Folder, name: str, replica: Replica, mode: ScanMode, meter: Meter
) -> ReplicaLog:
    try:
        with log_directory.folder(name) as folder:
            return scan_replica(folder, replica, mode, meter)
    except Unreadable as error:
        return unreadable(replica, mode, str(error))


class _Pool:
    def __init__(
        self, mode: ScanMode, workers: int, watch: Watch, bytes_total: int, replicas_total: int
    ) -> None:
        # Forking is safe as this process has no threads yet, and a new interpreter for each worker
        # would take as long as a fast scan.
        self._context = multiprocessing.get_context("fork")
        self._stop = self._context.RawValue("b", 0)
        self._read = self._context.Value("Q", 0)
        self._mode = mode
        self._workers = workers
        self._watch = watch
        self._totals = bytes_total, replicas_total

    def run(self, jobs: Sequence[Job]) -> list[Row]:
        done: list[Row] = []
        with ProcessPoolExecutor(
            self._workers, self._context, initializer=_begin, initargs=(self._stop, self._read)
        ) as pool:
            pending = {pool.submit(_scan_in_pool, job, self._mode): job for job in jobs}
            while pending:
                ended, _ = wait(pending, _EVERY_SECONDS, FIRST_COMPLETED)
                for future in ended:
                    done += self._rows(future, pending.pop(future))
                self._tell(len(done))
                if self._watch.stopped and not self._stop.value:
                    self._stop.value = 1
                    pending = {f: job for f, job in pending.items() if not f.cancel()}
        return done

    def _rows(self, future: Future[list[Row]], job: Job) -> list[Row]:
        try:
            return future.result()
        except BrokenProcessPool:
            return [(r, unreadable(r, self._mode, KILLED)) for _, r in job.replicas]

    def _tell(self, replicas: int) -> None:
        bytes_total, replicas_total = self._totals
        # The lock is not taken: a process that was killed while it held the lock never gives it
        # back.
        read = self._read.get_obj().value
        self._watch.progress(Progress(read, bytes_total, replicas, replicas_total))


class _SharedMeter:
    """The meter of a process of the pool: it adds to the common count, and hears when to stop."""

    def __init__(self, stop: Any, read: Any) -> None:
        self._stop = stop
        self._read = read
        self._untold = 0

    def add(self, count: int) -> None:
        self._untold += count
        if self._untold >= _TELL_BYTES:
            self.tell()
        if self._stop.value:
            raise Stopped

    def tell(self) -> None:
        with self._read.get_lock():
            self._read.value += self._untold
        self._untold = 0


_meter: _SharedMeter


def _begin(stop: Any, read: Any) -> None:
    """Prepare a process of the pool. Ctrl-C and a hangup reach all processes of a terminal, but
    only the parent acts on them."""
    global _meter
    _meter = _SharedMeter(stop, read)
    for number in OF_A_TERMINAL:
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait_for_end([parent.sentinel])
    os._exit(1)


def _scan_in_pool(job: Job, mode: ScanMode) -> list[Row]:
    """Return the rows of a job; rows that were read before a stop count."""
    rows: list[Row] = []
    with suppress(Stopped):
        for row in scan_job(job, mode, _meter):
            rows.append(row)  # noqa: PERF402 - those before a stop are kept
    _meter.tell()
    return rows
