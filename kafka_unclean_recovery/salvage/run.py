"""All replicas of some log directories, one after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from kafka_unclean_recovery.log_dir.directory_names import DirectoryKind
from kafka_unclean_recovery.log_dir.log_directory import LogDirectory
from kafka_unclean_recovery.log_dir.scan import read_log_directories, replica_of
from kafka_unclean_recovery.log_dir.tree import Unreadable, open_directory, printable
from kafka_unclean_recovery.log_dir.watching import Watch, WatchedMeter
from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.salvage.designated import DesignatedLeaders
from kafka_unclean_recovery.salvage.replica import Output, Salvaged, salvage_replica

Wanted = Callable[[TopicPartition], bool]
_Source = tuple[LogDirectory, str, Salvaged]


def salvage_log_directories(
    roots: Sequence[Path],
    leaders: DesignatedLeaders,
    wanted: Wanted,
    output: Output,
    watch: Watch,
) -> tuple[list[Salvaged], list[str]]:
    """(a row for each replica here of a partition of the plan but those of the designated leaders,
    by partition and broker; what is wrong with the directories).

    Raises InputError for a root without a log directory, Stopped when the watch says so, OSError
    when the output can't be written. Nothing below the roots is changed, no symlink followed.
    """
    found, problems = read_log_directories(roots)
    directories = []
    for directory in found:
        if directory.meta.cluster_id in (leaders.cluster_id, None):
            directories.append(directory)
            problems += directory.problems
        else:
            problems.append(
                f"{printable(directory.path)}: left out: it belongs to cluster"
                f" {directory.meta.cluster_id}, the plan to {leaders.cluster_id}"
            )
    sources = sorted(
        (source for d in directories for source in _sources(d, leaders, wanted)), key=_order
    )
    meter = WatchedMeter(watch, 0, len(sources))
    copies: Counter[tuple[TopicPartition, int]] = Counter()
    for directory, name, row in sources:
        which = (row.replica.topic_partition, row.replica.broker)
        copies[which] += 1
        _salvage(directory, name, row, output, _path(*which, copies[which]), meter)
        meter.replicas += 1
    meter.tell()
    return [row for _, _, row in sources], problems


def _order(source: _Source) -> tuple[TopicPartition, int, str]:
    replica = source[2].replica
    return replica.topic_partition, replica.broker, replica.directory


def _sources(
    directory: LogDirectory, leaders: DesignatedLeaders, wanted: Wanted
) -> Iterator[_Source]:
    for name, found in directory.replicas.items():
        designated = leaders.partitions.get(found.topic_partition)
        if found.kind is not DirectoryKind.LIVE or designated is None:
            continue
        if not wanted(found.topic_partition):
            continue
        replica = replica_of(directory, name, found.topic_partition, directory.cleaned_topics)
        if designated.log is None or designated.log.broker != replica.broker:
            yield directory, name, Salvaged(replica, designated)


def _path(partition: TopicPartition, broker: int, copy: int) -> str:
    """Below the output directory. A broker that holds a partition twice won't start, but its
    disks may tell."""
    return f"{partition}/broker-{broker}" + (f".{copy}" if copy > 1 else "")


def _salvage(
    directory: LogDirectory,
    name: str,
    row: Salvaged,
    output: Output,
    path: str,
    meter: WatchedMeter,
) -> None:
    with ExitStack() as opened:
        try:
            log_directory = opened.enter_context(open_directory(directory.path))
            replica = opened.enter_context(open_directory(name, log_directory))
        except Unreadable as error:
            row.problem(str(error))
            return
        salvage_replica(replica, row, output, path, meter)
