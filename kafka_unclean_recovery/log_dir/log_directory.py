"""Read one log directory: the node it belongs to, its checkpoints, and the replicas in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kafka_unclean_recovery.log_dir.directory_names import (
    PartitionDirectory,
    parse_partition_directory,
)
from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.small_files import checkpoints
from kafka_unclean_recovery.log_dir.small_files.clean_shutdown import (
    CLEAN_SHUTDOWN,
    parse_clean_shutdown,
)
from kafka_unclean_recovery.log_dir.small_files.properties_files import (
    META_PROPERTIES,
    MetaProperties,
    parse_meta_properties,
)
from kafka_unclean_recovery.log_dir.start.directory import causes_beside_replicas
from kafka_unclean_recovery.log_dir.start.names import keeps_a_broker_from_starting
from kafka_unclean_recovery.log_dir.start.text_files import Crash, DiskError, offsets_of
from kafka_unclean_recovery.log_dir.tree import Entry, Folder, Location, Unreadable, printable
from kafka_unclean_recovery.model import TopicPartition

# The file holds the partitions that the log cleaner has cleaned, each with its first offset not
# cleaned.
CLEANED = "cleaner-offset-checkpoint"
LOCK = ".lock"

Offsets = Mapping[TopicPartition, int]


@dataclass(frozen=True, slots=True)
class LogDirectory:
    """One log directory. A partition that is missing in an offset map was not known when the
    checkpoint was written.

    stopped_clean: it has the marker of a clean stop. stopped_epoch: the broker epoch in that, None
    where it tells none. cleaned_topics: topics that the log cleaner has worked on. replicas: by the
    name of their directories. left_out: the names of replicas that are no directories, and so were
    not read. used: a broker has run on it. foreign: the names, fit to print, of directories that
    are no replicas', with which no broker starts. fails: sentences on what else fails its start,
    beside the checkpoints and the replicas in use.
    """

    location: Location
    meta: MetaProperties
    stopped_clean: bool
    high_watermarks: Offsets
    recovery_points: Offsets
    log_starts: Offsets
    cleaned_topics: frozenset[str]
    replicas: Mapping[str, PartitionDirectory]
    problems: tuple[str, ...]
    left_out: frozenset[str] = frozenset()
    used: bool = True
    stopped_epoch: int | None = None
    foreign: tuple[str, ...] = ()
    fails: tuple[str, ...] = ()


def by_broker(found: Iterable[LogDirectory]) -> dict[int, list[LogDirectory]]:
    brokers: defaultdict[int, list[LogDirectory]] = defaultdict(list)
    for directory in found:
        brokers[directory.meta.node_id].append(directory)
    return brokers


class NoOwner(Unreadable):
    """meta.properties can be read, and does not tell whose the log directory is."""


def read_log_directory(location: Location, meta: MetaProperties | None = None) -> LogDirectory:
    """Read one log directory. meta: believed in place of its own meta.properties. Raises NoOwner,
    or Unreadable when its content can't be told."""
    with location.open() as folder:
        inside = folder.entries()
        replicas = dict(_replicas(inside))
        # A metadata log alone, a controller's, is read up to a point that is told, as a copy is.
        moves = any(not replica.is_cluster_metadata for replica in replicas.values())
        problems = [*(_held(folder) if moves else ()), *_links(inside)]
        # A broker skips recovery if this file exists, whatever is in it.
        stopped_clean = any(e.name == CLEAN_SHUTDOWN for e in inside)
        return LogDirectory(
            location=location,
            meta=meta or _meta(folder),
            stopped_clean=stopped_clean,
            high_watermarks=_offsets(folder, checkpoints.HIGH_WATERMARKS, problems),
            recovery_points=_offsets(folder, checkpoints.RECOVERY_POINTS, problems),
            log_starts=_offsets(folder, checkpoints.LOG_STARTS, problems),
            cleaned_topics=frozenset(tp.topic for tp in _offsets(folder, CLEANED, problems)),
            replicas=replicas,
            problems=tuple(f"{location}: {problem}" for problem in problems),
            left_out=frozenset(_left_out(inside)),
            used=any(e.name == checkpoints.RECOVERY_POINTS for e in inside),
            stopped_epoch=_stopped_epoch(folder) if stopped_clean else None,
            foreign=tuple(_foreign(inside)),
            fails=tuple(map(str, causes_beside_replicas(location, folder))),
        )


def _stopped_epoch(folder: Folder) -> int | None:
    try:
        return parse_clean_shutdown(folder.read_whole(CLEAN_SHUTDOWN) or b"").broker_epoch
    except (BadFormat, Unreadable):
        return None


def _meta(folder: Folder) -> MetaProperties:
    data = folder.read_whole(META_PROPERTIES)
    if data is None:
        raise Unreadable(f"{META_PROPERTIES}: there is none")
    try:
        return parse_meta_properties(data)
    except BadFormat as error:
        raise NoOwner(str(error)) from None


def _offsets(folder: Folder, what: str, problems: list[str]) -> Offsets:
    try:
        data = folder.read_whole(what)
        return {} if data is None else offsets_of(data)
    except Unreadable as error:
        problems.append(f"{error}; taken as if it were not there")
    except (DiskError, Crash) as error:
        problems.append(f"{what}: {error}; taken as if it were not there")
    return {}


def _replicas(inside: Sequence[Entry]) -> Iterator[tuple[str, PartitionDirectory]]:
    for entry in inside:
        if entry.is_directory and (replica := parse_partition_directory(entry.name)):
            yield entry.name, replica


def _links(inside: Sequence[Entry]) -> Iterator[str]:
    for name in _left_out(inside):
        yield f"{name} is no directory (a symlink is never followed); left out"


def _foreign(inside: Sequence[Entry]) -> Iterator[str]:
    for entry in inside:
        a_directory = entry.is_directory or entry.target is not None
        if a_directory and keeps_a_broker_from_starting(entry.name):
            yield printable(entry.name)


def _left_out(inside: Sequence[Entry]) -> Iterator[str]:
    for entry in inside:
        if not entry.is_directory and parse_partition_directory(entry.name):
            yield entry.name


def _held(folder: Folder) -> Iterator[str]:
    """Yield a problem if a running broker locks the file .lock; a broker that died does not."""
    process = folder.lock_holder(LOCK)
    if process is not None:
        yield (
            f"a running process ({process}) holds it: what is read may move meanwhile; ask the"
            " broker itself, or stop it first"
        )
