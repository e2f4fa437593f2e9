"""A watch sees how many tasks of a Spark job are done, and can have the job cancelled."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, Protocol, TypeVar

from pyspark.sql import SparkSession

from kafka_unclean_recovery.log_dir.watching import Progress, Stopped
from kafka_unclean_recovery.spark.failures import pythons_without, sentence, whole, without_host
from kafka_unclean_recovery.spark.shipping import is_connect

T = TypeVar("T")

_EVERY_SECONDS = 0.2
# Spark kills a Python worker that goes on for 2 s after the job was cancelled.
_CANCELLING_SECONDS = 8.0
# This number is assumed where Spark does not tell the cores, as over Spark Connect.
_UNKNOWN_CORES = 8
TASKS_A_CORE = 4


class JobFailed(Exception):
    """Spark gave up; the message is what it said, on one line. whole: all that it said."""

    def __init__(self, sentence: str, whole: str) -> None:
        super().__init__(sentence)
        self.whole = whole


class Watch(Protocol):
    """An observer of a job, who is told a few times a second, and may stop the job."""

    def tasks(self, what: str, done: int, count: int) -> None:
        """Take how many tasks are done. what: a word or two on the job."""
        ...

    def progress(self, so_far: Progress) -> None:
        """Take how far the reading of replicas is, by the share of the tasks that are done."""
        ...

    @property
    def stopped(self) -> bool: ...


class Unwatched:
    """A watch that takes everything in silence, and never stops a job."""

    stopped = False

    def tasks(self, what: str, done: int, count: int) -> None: ...

    def progress(self, so_far: Progress) -> None: ...


def run_watched(
    spark: SparkSession,
    job: Callable[[], T],
    count: int,
    tell: Callable[[int], None],
    stopped: Callable[[], bool],
) -> T:
    """Run `job`, whose last stage has `count` tasks, and return its result; `tell` is told how many
    are done.

    Raises Stopped, JobFailed.
    """
    tag = f"kafka-unclean-recovery-{uuid.uuid4().hex}"
    running = _Running(spark, tag, job)
    with _status(spark) as stages:
        running.start()
        done = 0
        tell(done)
        while running.goes_on(_EVERY_SECONDS):
            done = max([done, *(ended for of, ended in stages() if of == count)])
            tell(done)
            if stopped():
                _cancel(spark, tag)
                running.goes_on(_CANCELLING_SECONDS)
                raise Stopped
    result = running.result()
    tell(count)
    if stopped():
        raise Stopped
    return result


class _Running(Generic[T]):
    """A job in a thread of its own, because the main thread has to hear signals."""

    def __init__(self, spark: SparkSession, tag: str, job: Callable[[], T]) -> None:
        self._spark = spark
        self._tag = tag
        self._job = job
        self._results: list[T] = []
        self._error: Exception | None = None
        self._said = ""
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def goes_on(self, seconds: float) -> bool:
        """Wait up to `seconds` for the job's end, and return whether the job still runs."""
        self._thread.join(seconds)
        return self._thread.is_alive()

    def result(self) -> T:
        if self._error is not None:
            said = self._said or type(self._error).__name__
            raise JobFailed(said, whole(self._error)) from self._error
        return self._results[0]

    def _run(self) -> None:
        try:
            _tag(self._spark, self._tag)
            self._results.append(self._job())
        except Exception as error:  # noqa: BLE001 - it is raised where the job is waited for
            self._error = error
            # Here, as tasks are asked once more, and the main thread has to hear signals.
            text = without_host(str(error)) if on_one_machine(self._spark) else str(error)
            self._said = sentence(
                text, lambda name: pythons_without(self._spark, name, cores_of(self._spark))
            )


def _tag(spark: SparkSession, tag: str) -> None:
    """Tag the jobs of this thread, which ends with them."""
    if not is_connect(spark):
        # In a classic session, interruptTag in another thread does not know a tag of the session.
        spark.sparkContext.addJobTag(tag)
    else:
        spark.addTag(tag)


def _cancel(spark: SparkSession, tag: str) -> None:
    if not is_connect(spark):
        spark.sparkContext.cancelJobsWithTag(tag)
    else:
        spark.interruptTag(tag)


@contextmanager
def _status(spark: SparkSession) -> Iterator[Callable[[], Iterable[tuple[int, int]]]]:
    """Yield a function that returns (tasks, tasks done) of each running stage."""
    if not is_connect(spark):
        yield _classic_status(spark)
        return
    latest: list[tuple[int, int]] = []

    def handle(*, stages: Iterable[Any] | None, **_: object) -> None:
        latest[:] = [(stage.num_tasks, stage.num_completed_tasks) for stage in stages or ()]

    handler: Any = handle
    spark.registerProgressHandler(handler)
    try:
        yield lambda: list(latest)
    finally:
        spark.removeProgressHandler(handler)


def _classic_status(spark: SparkSession) -> Callable[[], Iterable[tuple[int, int]]]:
    tracker = spark.sparkContext.statusTracker()

    def stages() -> Iterable[tuple[int, int]]:
        known = (tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds())
        return [(info.numTasks, info.numCompletedTasks) for info in known if info is not None]

    return stages


def on_one_machine(spark: SparkSession) -> bool:
    """Return whether all tasks run in the driver's machine, which sees what it sees."""
    if is_connect(spark):
        return False
    return str(spark.sparkContext.master).partition("[")[0] == "local"


def cores_of(spark: SparkSession) -> int:
    """Return how many tasks run at a time, as far as that can be told."""
    if not is_connect(spark):
        return int(spark.sparkContext.defaultParallelism)
    return int(spark.conf.get("spark.default.parallelism", None) or _UNKNOWN_CORES)
