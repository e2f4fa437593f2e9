"""A bulk scan notes what it was asked for in the directory that it writes, so that a second run can
go on:

    DIR/job.json             what was asked for; only the same may go on
    DIR/work/roots/N.json    what lies below root N; with it, in items/N.parquet, what is to be read
                             of that, and in strays/N.parquet what brokers had put aside; N-M is the
                             log directory M below a root that is not the same for all executors
    DIR/work/census.json     what differs by executor
    DIR/work/plan.json       the log directories that count, and what was made of the items:
    DIR/work/bundles/N.parquet   items for one task; joins/N.parquet: a replica that is in pieces
    DIR/work/states.parquet  the partitions of the newest metadata log
    DIR/work/done/N.parquet  the rows of bundle N; pieces/N.parquet: what its pieces hold
    DIR/work/done/jN.parquet the row of replica N in pieces
    DIR/leave-out.csv        the log directories over which the scan was refused
    DIR/left-out.csv         those that --leave-out names, where the plan was made without any
    DIR/replicas, DIR/partitions         the tables
    DIR/summary.json         how much is in them, and the first of what is in doubt
    DIR/scan.json            written last; then work is removed

Every file appears whole, and a file that is there is not made again.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields, replace
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.files.locking import lock
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.spark.new_files import write_text
from kafka_unclean_recovery.spark.result_paths import (
    ResultPath,
    for_tasks,
    in_task,
    make_directory,
    names_in,
    remove_tree,
)
from kafka_unclean_recovery.spark.scan.roots_table import roots_in
from kafka_unclean_recovery.spark.summaries import PARTITIONS, REPLICAS, SCAN
from kafka_unclean_recovery.stores.store_path import StorePath

JOB = "job.json"
KIND = "spark-scan-job"
SHARE = 128 << 20
"""The bytes of a work item, when not told otherwise."""


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """The options that decide what a scan finds. topics: a regular expression for whole names.
    partitions: (topic, partition). share: bytes; a replica with more to read is read in pieces.
    store: options of object stores."""

    roots: tuple[str, ...]
    mode: ScanMode
    topics: str | None = None
    partitions: tuple[tuple[str, int], ...] | None = None
    share: int = SHARE
    store: tuple[tuple[str, str], ...] = ()
    version: str = ""

    @property
    def everything(self) -> bool:
        return self.topics is None and self.partitions is None

    def wanted(self) -> Callable[[TopicPartition], bool]:
        pattern = None if self.topics is None else re.compile(self.topics)
        named = None if self.partitions is None else set(self.partitions)

        def includes(found: TopicPartition) -> bool:
            if named is not None and (found.topic, found.partition) not in named:
                return False
            return pattern is None or pattern.fullmatch(found.topic) is not None

        return includes


@dataclass(frozen=True, slots=True)
class Home:
    """The directory of a bulk scan, which driver and executors have under the same path, or which
    lies in a store."""

    path: ResultPath

    @property
    def settings(self) -> dict[str, Any]:
        """Return the settings by which asked_there finds it in a task."""
        return {"home": for_tasks(self.path)}

    @property
    def job(self) -> ResultPath:
        return self.path / JOB

    @property
    def work(self) -> ResultPath:
        return self.path / "work"

    @property
    def plan(self) -> ResultPath:
        return self.work / "plan.json"

    @property
    def states(self) -> ResultPath:
        return self.work / "states.parquet"

    @property
    def census(self) -> ResultPath:
        return self.work / "census.json"

    @property
    def tables(self) -> tuple[ResultPath, ResultPath]:
        return self.path / REPLICAS, self.path / PARTITIONS

    @property
    def summary(self) -> ResultPath:
        return self.path / "summary.json"

    @property
    def refused(self) -> ResultPath:
        return self.path / "leave-out.csv"

    @property
    def left_out(self) -> ResultPath:
        return self.path / "left-out.csv"

    @property
    def ended(self) -> bool:
        return (self.path / SCAN).exists()

    def asked(self) -> ScanOptions:
        """Read what the scan was asked for. Raises OSError."""
        return _asked(json.loads(self.job.read_text(encoding="utf-8")))


def asked_there(settings: dict[str, Any]) -> tuple[Home, ScanOptions]:
    """Return the directory and what the scan was asked for, in a task. Raises RuntimeError when the
    task does not see the directory."""
    home = Home(in_task(settings["home"]))
    try:
        return home, home.asked()
    except OSError as error:
        host = os.uname().nodename
        raise RuntimeError(
            f"{home.job} can't be read on {host} ({error.strerror}): --output must be a directory"
            " that the driver and all executors have under the same path"
        ) from None


@contextmanager
def begun(home: Home, asked: ScanOptions, now: str) -> Iterator[str]:
    """Keep the directory for this run alone, and yield when the first run of this scan began. now:
    ISO 8601.

    Raises InputError for a directory that is no scan's, or another scan's, or in use.
    """
    _check_ours(home)
    try:
        file = _opened(home, asked, now)
    except OSError as error:
        raise InputError(f"{home.path}: {error.strerror}") from None
    with file:
        document = json.loads(file.read())
        _check_same(home, _asked(document), asked)
        yield str(document["begun"])


def has_ended(home: Home, asked: ScanOptions, leave_out: tuple[str, ...]) -> bool:
    """Return whether this scan has ended, which needs no Spark. Raises OSError, and InputError as
    `begun` and check_left_out do."""
    if not home.ended:
        return False
    with begun(home, asked, ""):
        check_left_out(home, leave_out)
    return True


def _opened(home: Home, asked: ScanOptions, now: str) -> IO[bytes]:
    """Open job.json, which is made if need be, and lock it until it is closed."""
    make_directory(home.path)
    if not home.job.exists():
        document = {"kind": KIND, "begun": now, **_plain(asked)}
        write_text(home.job, json.dumps(document, indent=1) + "\n")
    if isinstance(home.job, StorePath):
        # A store has no locks.
        return BytesIO(home.job.read_bytes())
    file = home.job.open("rb")
    # When two runs begin at once, the file of the later one stays.
    if not lock(file.fileno()) or os.fstat(file.fileno()).st_ino != home.job.stat().st_ino:
        file.close()
        raise InputError(f"{home.path}: another spark scan is writing there; wait for it")
    return file


def forget(home: Home, asked: ScanOptions) -> None:
    """Remove what earlier runs of this scan left, of whatever version of this package, so that all
    of it is read again. Raises OSError, and InputError as `begun` does."""
    if not home.job.exists():
        return
    _check_ours(home)
    with begun(home, replace(asked, version=home.asked().version), ""):
        # Without it the scan has not ended; while job.json is there, this can be done again.
        (home.path / SCAN).unlink(missing_ok=True)
        for directory in (home.work, *home.tables):
            remove_tree(directory)
        for path in (home.summary, home.refused, home.left_out):
            path.unlink(missing_ok=True)
        home.job.unlink()


def start_over_if_refused(home: Home, asked: ScanOptions) -> None:
    """Forget a scan that was refused for what it listed, where another one is asked for now. Raises
    OSError, and InputError as `begun` does."""
    if home.refused.exists() and home.job.exists() and not (home.plan.exists() or home.ended):
        before = home.asked()
        if before != asked:
            forget(home, before)


def abandon(home: Home) -> None:
    """Remove the directory, as if the scan had not been begun."""
    with suppress(OSError):
        remove_tree(home.work)
    for path in (home.refused, home.left_out, home.job):
        path.unlink(missing_ok=True)
    if isinstance(home.path, Path):
        home.path.rmdir()


def _check_ours(home: Home) -> None:
    try:
        inside = names_in(home.path)
    except OSError as error:
        raise InputError(f"{home.path}: {error.strerror}") from None
    if inside and not _is_a_job(home):
        raise InputError(
            f"{home.path}: it is not empty, and not what a spark scan left; nothing is ever"
            " overwritten: name a new directory"
        )


def _is_a_job(home: Home) -> bool:
    try:
        document = json.loads(home.job.read_text(encoding="utf-8"))
        return isinstance(document, dict) and document.get("kind") == KIND
    except (OSError, ValueError):
        return False


def check_left_out(home: Home, leave_out: tuple[str, ...]) -> None:
    """Raise InputError where the plan was made with other log directories left out. Until there is
    a plan they may be named, and listing goes on."""
    if not (home.ended or home.plan.exists()):
        return
    before = roots_in(home.left_out)
    if before != leave_out:
        raise InputError(
            f"{home.path}: it holds a scan with other log directories left out"
            f" ({_short(_named(before))}, not {_short(_named(leave_out))}); give the same"
            " --leave-out to go on with it, or --rescan to read everything again"
        )


def _check_same(home: Home, before: ScanOptions, asked: ScanOptions) -> None:
    for field in fields(ScanOptions):
        then, now = getattr(before, field.name), getattr(asked, field.name)
        if then != now:
            raise InputError(
                f"{home.path}: it holds a scan with other {field.name} ({_short(then)}, not"
                f" {_short(now)}); {_ways_out(field.name)}, or name a new directory"
            )


def _ways_out(field: str) -> str:
    if field == "version":
        return "go on with that version, read everything again with --rescan"
    return "ask for the same to go on with it"


def _named(places: Sequence[str]) -> str:
    return ", ".join(places) or "none"


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 100 else f"{text[:97]}..."


def _plain(asked: ScanOptions) -> dict[str, Any]:
    return asdict(asked)


def _asked(document: dict[str, Any]) -> ScanOptions:
    partitions = document["partitions"]
    return ScanOptions(
        roots=tuple(document["roots"]),
        mode=ScanMode(document["mode"]),
        topics=document["topics"],
        partitions=None if partitions is None else tuple((t, p) for t, p in partitions),
        share=document["share"],
        store=tuple((key, value) for key, value in document["store"]),
        version=document["version"],
    )
