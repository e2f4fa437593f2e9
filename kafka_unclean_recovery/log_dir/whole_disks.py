"""Tell which replicas the metadata puts on disks that were read, and that are not there; no I/O.

A replica may lie in a log directory that nobody gave. It is gone for sure where the metadata log
names the very directory that was read, or where all of its broker's directories were.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from msgspec.structs import replace

from kafka_unclean_recovery.log_dir.clean_stop import clean_by_broker, counts_as_clean
from kafka_unclean_recovery.log_dir.log_directory import LogDirectory, by_broker
from kafka_unclean_recovery.log_dir.metadata.image import MetadataImage
from kafka_unclean_recovery.model import PartitionInfo, WholeDisk
from kafka_unclean_recovery.planning.started_replica import with_gone


@dataclass(frozen=True, slots=True)
class ReadDirectory:
    """A log directory that was read and has an id. left_out: the names of replicas in it that are
    no directories, and so were not read."""

    directory_id: str
    disk: WholeDisk
    left_out: frozenset[str] = frozenset()


ReadDirectories = Mapping[tuple[int, str], Sequence[ReadDirectory]]
"""Log directories by broker and id. Two have one id where a disk was copied."""


def whole_disks(found: Sequence[LogDirectory], image: MetadataImage) -> tuple[WholeDisk, ...]:
    """Return the brokers of which every log directory is here."""
    brokers = sorted(by_broker(found).items())
    return tuple(filter(None, (_whole(node, own, image) for node, own in brokers)))


def _whole(node: int, own: Sequence[LogDirectory], image: MetadataImage) -> WholeDisk | None:
    if not (_all_registered(node, own, image) or all(map(emptied, own))):
        return None
    if any(directory.left_out for directory in own):
        return None
    return WholeDisk(node, str(own[0].location), counts_as_clean(own, image.brokers.get(node)))


def _all_registered(node: int, own: Sequence[LogDirectory], image: MetadataImage) -> bool:
    broker = image.brokers.get(node)
    here = {UUID(d.meta.directory_id) for d in own if d.meta.directory_id is not None}
    return broker is not None and bool(broker.log_dirs) and here.issuperset(broker.log_dirs)


def emptied(directory: LogDirectory) -> bool:
    """Return True for a directory on which no broker has run since it was formatted, or emptied."""
    replicas = directory.replicas.values()
    return not directory.used and all(replica.is_cluster_metadata for replica in replicas)


def read_directories(
    found: Sequence[LogDirectory], image: MetadataImage
) -> Iterator[ReadDirectory]:
    clean = clean_by_broker(found, image)
    for directory in found:
        node, id_ = directory.meta.node_id, directory.meta.directory_id
        if id_ is not None:
            disk = WholeDisk(node, str(directory.location), clean[node])
            yield ReadDirectory(id_, disk, directory.left_out)


def by_id(found: Iterable[ReadDirectory]) -> ReadDirectories:
    read: defaultdict[tuple[int, str], list[ReadDirectory]] = defaultdict(list)
    for directory in found:
        read[directory.disk.broker, directory.directory_id].append(directory)
    return read


def with_gone_replicas(
    part: PartitionInfo, named: Sequence[str], read: ReadDirectories
) -> PartitionInfo:
    """Return the partition with a row for each replica whose own log directory was read and does
    not have it. named: ids of the log directories of the state's replicas; empty where the metadata
    does not tell them."""
    if part.state is None:
        return part
    name = str(part.topic_partition)
    disks = tuple(
        directory.disk
        for of in zip(part.state.replicas, named, strict=False)
        for directory in read.get(of, ())
        if name not in directory.left_out
    )
    return replace(part, replica_logs=with_gone(part.state, part.replica_logs, disks))
