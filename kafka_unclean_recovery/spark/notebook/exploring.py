"""The data source does its work here, where our package can be imported: it lists log directories
on the driver's side and reads them on executors. Between the two, jobs travel as JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.log_dir.log_directory import LogDirectory
from kafka_unclean_recovery.log_dir.replica_scan import Replica
from kafka_unclean_recovery.log_dir.scan import (
    jobs_of,
    live_replicas,
    read_log_directories,
    refuse_strangers,
)
from kafka_unclean_recovery.log_dir.scan_jobs import Job, scan_job
from kafka_unclean_recovery.log_dir.watching import Unmetered, Unwatched
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.spark.notebook.pushed_filters import Criterion, holds
from kafka_unclean_recovery.spark.tables import REPLICAS, batch, replica_row
from kafka_unclean_recovery.spark.turns import is_here
from kafka_unclean_recovery.stores.location import address_of, location_of
from kafka_unclean_recovery.stores.store_options import StoreOptions, store_options

# DataFrameReader.load("a") and load(["a", "b"]) make these two options.
_PATH, _PATHS = "path", "paths"
_MODE, _ENDPOINT, _REGION, _IGNORE = "mode", "endpoint", "region", "ignoreproblems"
_KNOWN = (_PATH, _PATHS, _MODE, _ENDPOINT, _REGION, _IGNORE)
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Explored:
    """The options that a user gave."""

    paths: tuple[str, ...]
    mode: ScanMode
    store: StoreOptions
    ignore_problems: bool


def explored(options: Mapping[str, str]) -> Explored:
    """Read the options, whose names may be in any case. Raises InputError."""
    given = {name.lower(): value for name, value in options.items()}
    if unknown := sorted(given.keys() - set(_KNOWN)):
        raise InputError(
            f"kafka_log_dirs has no option {unknown[0]}; there are path, paths, mode, endpoint,"
            " region and ignoreProblems"
        )
    modes = [mode.value for mode in ScanMode]
    if (mode := given.get(_MODE, ScanMode.FAST.value)) not in modes:
        raise InputError(f"option mode: {mode!r} is none of {', '.join(modes)}")
    if (ignore := given.get(_IGNORE, "false").lower()) not in ("true", "false"):
        raise InputError(f"option ignoreProblems: {ignore!r} is neither true nor false")
    store = {name: given[name] for name in (_ENDPOINT, _REGION) if name in given}
    return Explored(_paths(given), ScanMode(mode), store_options(store), ignore == "true")


def _paths(given: Mapping[str, str]) -> tuple[str, ...]:
    paths = [given[_PATH]] if _PATH in given else []
    if _PATHS in given:
        try:
            more = json.loads(given[_PATHS])
        except ValueError:
            more = None
        if not isinstance(more, list) or not all(isinstance(path, str) for path in more):
            raise InputError('option paths: not a JSON array of strings, as ["/disks/1"]')
        paths += more
    if not paths:
        raise InputError("kafka_log_dirs needs paths: load(PATH), or load([PATH, ...])")
    return tuple(paths)


def jobs_to_read(asked: Explored, criteria: Sequence[Criterion]) -> list[str]:
    """Return jobs as JSON for `rows_of`; each is one partition of the DataFrame. Raises InputError.
    Unless problems are to be ignored, a log directory that can't be read raises it too: a row needs
    a broker, so no row can tell of the problem."""
    directories, unread = read_log_directories(
        [location_of(path, asked.store) for path in asked.paths]
    )
    refuse_strangers(directories)
    problems = [*unread, *(problem for d in directories for problem in d.problems)]
    if problems and not asked.ignore_problems:
        more = f", and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        raise InputError(
            f"{'; '.join(problems[:_SHOWN])}{more}. With the option ignoreProblems set to true,"
            " what can be read is read"
        )
    compacted = frozenset[str]().union(*(d.cleaned_topics for d in directories))
    return [
        _text(job, asked)
        for directory in directories
        for job in jobs_of(
            directory, _wanted(directory, criteria, compacted), asked.mode, Unwatched()
        )
    ]


def _wanted(
    directory: LogDirectory, criteria: Sequence[Criterion], compacted: frozenset[str]
) -> list[tuple[str, Replica]]:
    broker = directory.meta.node_id

    def wanted(of: TopicPartition) -> bool:
        return holds(criteria, {"topic": of.topic, "partition": of.partition, "broker": broker})

    return live_replicas(directory, wanted, compacted)


def _text(job: Job, asked: Explored) -> str:
    return json.dumps(
        {
            "log_directory": address_of(job.log_directory),
            "store": asdict(asked.store),
            "mode": asked.mode.value,
            "ignore_problems": asked.ignore_problems,
            "replicas": [[name, asdict(replica)] for name, replica in job.replicas],
        }
    )


def rows_of(text: str) -> Iterator[Any]:
    """Yield the rows of a job's replicas, as one record batch of tables.REPLICAS.

    Raises RuntimeError where the log directory is not there, unless problems are to be ignored: an
    executor may lack a mount that the driver has, and Spark tries a task that failed again, maybe
    on another host.
    """
    told = json.loads(text)
    location = location_of(told["log_directory"], StoreOptions(**told["store"]))
    if not (told["ignore_problems"] or is_here(location)):
        raise RuntimeError(
            f"{location} can't be read on {os.uname().nodename}: executors need the mounts that the"
            " driver has; with the option ignoreProblems set to true, its replicas are unusable"
        )
    job = Job(location, tuple((name, _replica(fields)) for name, fields in told["replicas"]), 0)
    yield batch(_rows(job, ScanMode(told["mode"])), REPLICAS)


def _replica(fields: dict[str, Any]) -> Replica:
    return Replica(topic_partition=TopicPartition(*fields.pop("topic_partition")), **fields)


def _rows(job: Job, mode: ScanMode) -> Iterable[dict[str, Any]]:
    for replica, log in scan_job(job, mode, Unmetered()):
        yield replica_row(
            replica.topic_partition,
            log,
            compacted=replica.compacted,
            log_directory=str(job.log_directory),
        )
