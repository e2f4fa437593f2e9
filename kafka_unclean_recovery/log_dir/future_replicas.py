"""Tell which `-future` directories a start takes into use, and which replicas they replace; no I/O.

A replica that moves between log directories is copied to `-future`, then the controller is told,
then the two are exchanged. Where the metadata names the directory of the copy already, the start
exchanges them, and deletes the old one if it is there still. A copy of another topic, or without
its partition.metadata, is put aside before. Source: kafka.log.LogManager
(recoverAbandonedFutureLogs, loadLog).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kafka_unclean_recovery.log_dir.directory_names import DirectoryKind
from kafka_unclean_recovery.log_dir.log_directory import LogDirectory
from kafka_unclean_recovery.log_dir.metadata.image import MetadataImage, partition_states
from kafka_unclean_recovery.log_dir.scan_rows import FoundLogs, directories_in_metadata, is_copy
from kafka_unclean_recovery.model import PartitionState, ReplicaLog, TopicPartition


@dataclass(frozen=True, slots=True)
class Home:
    """Where the metadata has a broker's replica: the id of the log directory, and of the topic."""

    directory_id: str
    topic_id: str


Homes = Mapping[tuple[int, TopicPartition], Home]
TopicIds = Mapping[str, str | None]
"""The topic ids of copies, by their directories, fit to print; None where one has none."""

_Of = tuple[int, TopicPartition]


def homes(image: MetadataImage, nodes: set[int]) -> Homes:
    """Return which log directory of these nodes the metadata names for each of their replicas."""
    found: dict[_Of, Home] = {}
    for state in partition_states(image):
        named = zip(state.replicas, directories_in_metadata(image, state), strict=False)
        for broker, id_ in named:
            if broker in nodes:
                found[broker, state.topic_partition] = Home(id_, state.topic_id)
    return found


def any_copies(found: Sequence[LogDirectory]) -> bool:
    return any(True for _ in copies(found))


def copies(found: Sequence[LogDirectory]) -> Iterator[tuple[LogDirectory, str]]:
    """Yield the log directory and the name of each copy (-future)."""
    for directory in found:
        for name, replica in directory.replicas.items():
            if replica.kind is DirectoryKind.FUTURE:
                yield directory, name


def taken_into_use(
    found: Sequence[LogDirectory], named: Homes, topic_ids: TopicIds
) -> dict[str, _Of]:
    """Return the directories, fit to print, of the copies that a start takes into use, each with
    whose replica of which partition it is."""
    in_use = {of for of, _, _ in _in_use(found)} if any_copies(found) else set()
    taken: dict[str, _Of] = {}
    for directory, name in copies(found):
        where = str(directory.location / name)
        of = directory.meta.node_id, directory.replicas[name].topic_partition
        topic_id = topic_ids.get(where)
        if _exchanged(named.get(of), directory.meta.directory_id, topic_id, in_use=of in in_use):
            taken[where] = of
    return taken


def _exchanged(
    home: Home | None, directory_id: str | None, topic_id: str | None, *, in_use: bool
) -> bool:
    """Return whether a start takes a copy into use. in_use: its replica is there as well."""
    if home is None or home.directory_id != directory_id:
        return False
    return not in_use or topic_id == home.topic_id


def replaced(found: Sequence[LogDirectory], taken: Mapping[str, _Of]) -> dict[str, str]:
    """Return the directories of the replicas in use that copies take the place of, each with that
    of its copy."""
    by = {of: where for where, of in taken.items()}
    return {str(at.location / name): by[of] for of, at, name in _in_use(found) if of in by}


def _in_use(found: Sequence[LogDirectory]) -> Iterator[tuple[_Of, LogDirectory, str]]:
    for directory in found:
        for name, replica in directory.replicas.items():
            if replica.kind is DirectoryKind.LIVE:
                yield (directory.meta.node_id, replica.topic_partition), directory, name


def settled(
    found: FoundLogs, state: PartitionState | None, directories: Sequence[str]
) -> FoundLogs:
    """Return the finds of one partition: a copy that a start takes into use is a log in place of
    what it replaces, any other copy a stray. `found` must have all copies. directories: as in
    partition_info."""
    if state is None or not any(map(_copied, found.logs)):
        return FoundLogs([log for log in found.logs if not _copied(log)], found.strays)
    named = {
        broker: Home(id_, state.topic_id)
        for broker, id_ in zip(state.replicas, directories, strict=False)
    }
    in_use = {log.broker for log in found.logs if not _copied(log)}
    taken = [
        log
        for log in found.logs
        if (of := log.scanned) and is_copy(of.directory)
        if _exchanged(
            named.get(log.broker), of.directory_id, of.topic_id, in_use=log.broker in in_use
        )
    ]
    brokers, paths = {log.broker for log in taken}, set(map(_directory, taken))
    kept = [log for log in found.logs if not _copied(log) and log.broker not in brokers]
    return FoundLogs([*kept, *taken], [stray for stray in found.strays if stray[1] not in paths])


def _directory(log: ReplicaLog) -> str:
    return "" if log.scanned is None else log.scanned.directory


def _copied(log: ReplicaLog) -> bool:
    return is_copy(_directory(log))
