"""Tell which replicas the metadata puts on disks that were read, and that are not there; no I/O.

A replica may lie in a log directory that nobody gave. It is gone for sure where the metadata log
names the very directory that was read, or where all of its broker's directories were.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from kafka_unclean_recovery.log_dir.clean_stop import clean_by_broker, counts_as_clean
from kafka_unclean_recovery.log_dir.log_directory import LogDirectory
from kafka_unclean_recovery.log_dir.metadata.image import MetadataImage
from kafka_unclean_recovery.log_dir.scan_rows import directories_in_metadata
from kafka_unclean_recovery.model import PartitionInfo, TopicPartition, WholeDisk
from kafka_unclean_recovery.planning.started_replica import with_gone


def whole_disks(found: Sequence[LogDirectory], image: MetadataImage) -> tuple[WholeDisk, ...]:
    """Return the brokers of which every log directory is here."""
    nodes = sorted({directory.meta.node_id for directory in found})
    return tuple(filter(None, (_whole(node, found, image) for node in nodes)))


def _whole(node: int, found: Sequence[LogDirectory], image: MetadataImage) -> WholeDisk | None:
    own = [directory for directory in found if directory.meta.node_id == node]
    if not (_all_registered(node, own, image) or all(map(_emptied, own))):
        return None
    if any(directory.left_out for directory in own):
        return None
    return WholeDisk(node, str(own[0].location), counts_as_clean(own))


def _all_registered(node: int, own: Sequence[LogDirectory], image: MetadataImage) -> bool:
    broker = image.brokers.get(node)
    here = {UUID(d.meta.directory_id) for d in own if d.meta.directory_id is not None}
    return broker is not None and bool(broker.log_dirs) and here.issuperset(broker.log_dirs)


def _emptied(directory: LogDirectory) -> bool:
    """Return True for a directory on which no broker has run since it was formatted, or emptied."""
    replicas = directory.replicas.values()
    return not directory.used and all(replica.is_cluster_metadata for replica in replicas)


def with_gone_replicas(
    part: PartitionInfo, found: Sequence[LogDirectory], image: MetadataImage
) -> PartitionInfo:
    """Return the partition with a row for each replica whose own log directory was read and does
    not have it."""
    if part.state is None:
        return part
    clean = clean_by_broker(found)
    homes = tuple(_homes(part.topic_partition, part.state.replicas, part, found, image, clean))
    return replace(part, replica_logs=with_gone(part.state, part.replica_logs, homes))


def _homes(
    where: TopicPartition,
    replicas: Sequence[int],
    part: PartitionInfo,
    found: Sequence[LogDirectory],
    image: MetadataImage,
    clean: Mapping[int, bool],
) -> Iterator[WholeDisk]:
    named = dict(zip(replicas, directories_in_metadata(image, part.state), strict=False))
    for directory in found:
        node, id_ = directory.meta.node_id, directory.meta.directory_id
        if id_ is not None and named.get(node) == id_ and str(where) not in directory.left_out:
            yield WholeDisk(node, str(directory.location), clean[node])
