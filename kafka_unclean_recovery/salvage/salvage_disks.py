"""A salvage of log directories reads all their replicas, one after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from kafka_unclean_recovery.log_dir.directory_names import DirectoryKind
from kafka_unclean_recovery.log_dir.log_directory import LogDirectory, read_log_directory
from kafka_unclean_recovery.log_dir.scan import read_log_directories, replica_of
from kafka_unclean_recovery.log_dir.tree import Location, Unreadable
from kafka_unclean_recovery.log_dir.watching import Watch, WatchedMeter
from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.salvage.designated import DesignatedLeaders
from kafka_unclean_recovery.salvage.layout import ReplicaPlace
from kafka_unclean_recovery.salvage.replica import Output, Salvaged, salvage_replica

Wanted = Callable[[TopicPartition], bool]


@dataclass(frozen=True, slots=True)
class Source:
    """A replica to salvage: the name of its directory in a log directory, and its row of the
    manifest."""

    directory: LogDirectory
    name: str
    row: Salvaged


def find_replicas(
    roots: Sequence[Location], leaders: DesignatedLeaders, wanted: Wanted
) -> tuple[list[Source], list[str]]:
    """Return (sources, problems) of the log directories at or below the roots.

    The sources are the replicas of the plan's partitions, without the designated leaders' own, in
    the order of partition and broker. The problems tell what is wrong with the directories.

    Raises InputError for a root without a log directory.
    """
    found, problems = read_log_directories(roots)
    sources, more = _replicas(found, leaders, wanted)
    return sources, [*problems, *more]


def find_named(
    locations: Iterable[Location], leaders: DesignatedLeaders, wanted: Wanted
) -> tuple[list[Source], list[str]]:
    """Return the same as `find_replicas` for log directories that an earlier scan names. Nothing is
    looked for below them, and a directory that is no log directory is a problem."""
    found: dict[Hashable, LogDirectory] = {}
    problems: list[str] = []
    for location in locations:
        try:
            with location.open() as folder:
                identity = folder.identity
            if identity not in found:
                found[identity] = read_log_directory(location)
        except Unreadable as error:
            problems.append(f"{location}: left out: {error}")
    sources, more = _replicas(list(found.values()), leaders, wanted)
    return sources, [*problems, *more]


def _replicas(
    found: Sequence[LogDirectory], leaders: DesignatedLeaders, wanted: Wanted
) -> tuple[list[Source], list[str]]:
    sources: list[Source] = []
    problems: list[str] = []
    copies = _copies(found)
    for directory in found:
        if directory.meta.cluster_id in (leaders.cluster_id, None):
            sources += _sources(directory, leaders, wanted, copies)
            problems += [*directory.problems, *_put_aside(directory, leaders, wanted, copies)]
        else:
            problems.append(
                f"{directory.location}: left out: it belongs to cluster"
                f" {directory.meta.cluster_id}, the plan to {leaders.cluster_id}"
            )
    return sorted(sources, key=lambda source: order(source.row)), problems


def salvage_replicas(sources: Sequence[Source], output: Output, watch: Watch) -> None:
    """Salvage each source and fill in its row. Nothing of the sources is changed, no symlink is
    followed.

    Raises Stopped when the watch says so, OSError when the output can't be written.
    """
    meter = WatchedMeter(watch, 0, len(sources))
    copies: Counter[tuple[TopicPartition, int]] = Counter()
    for source in sources:
        which = (source.row.replica.topic_partition, source.row.replica.broker)
        copies[which] += 1
        _salvage(source, output, ReplicaPlace(*which, copies[which]), meter)
        meter.replicas += 1
    meter.tell()


def order(row: Salvaged) -> tuple[TopicPartition, int, str]:
    """Return the key by which the rows of a manifest are sorted."""
    replica = row.replica
    return replica.topic_partition, replica.broker, replica.directory


def _copies(found: Sequence[LogDirectory]) -> frozenset[str]:
    """Return the directories of copies (`-future`) that are all that is here of their replica: the
    start of their broker takes one into use."""
    every = [(d, name, replica) for d in found for name, replica in d.replicas.items()]
    in_use = {
        (d.meta.node_id, replica.topic_partition)
        for d, _, replica in every
        if replica.kind is DirectoryKind.LIVE
    }
    return frozenset(
        str(d.location / name)
        for d, name, replica in every
        if replica.kind is DirectoryKind.FUTURE
        and (d.meta.node_id, replica.topic_partition) not in in_use
    )


def _sources(
    directory: LogDirectory, leaders: DesignatedLeaders, wanted: Wanted, copies: Container[str]
) -> Iterator[Source]:
    for name, found in directory.replicas.items():
        designated = leaders.partitions.get(found.topic_partition)
        used = found.kind is DirectoryKind.LIVE or str(directory.location / name) in copies
        if not used or designated is None:
            continue
        if not wanted(found.topic_partition):
            continue
        replica = replica_of(directory, name, found.topic_partition, directory.cleaned_topics)
        if designated.log is None or designated.log.broker != replica.broker:
            yield Source(directory, name, Salvaged(replica, designated))


def _put_aside(
    directory: LogDirectory, leaders: DesignatedLeaders, wanted: Wanted, copies: Container[str]
) -> Iterator[str]:
    """Name the directories that are no part of a broker's log but may hold records all the same."""
    for name, found in directory.replicas.items():
        planned = found.topic_partition in leaders.partitions and wanted(found.topic_partition)
        where = directory.location / name
        if planned and found.kind is not DirectoryKind.LIVE and str(where) not in copies:
            yield f"{where}: left out: its name says that its broker did not use it any more"


def _salvage(source: Source, output: Output, place: ReplicaPlace, meter: WatchedMeter) -> None:
    with ExitStack() as opened:
        try:
            log_directory = opened.enter_context(source.directory.location.open())
            replica = opened.enter_context(log_directory.folder(source.name))
        except Unreadable as error:
            source.row.problem(str(error))
            return
        salvage_replica(replica, source.row, output, place, meter)
