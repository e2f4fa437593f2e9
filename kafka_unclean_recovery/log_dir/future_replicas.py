"""Tell which `-future` directories a start takes into use; no I/O.

A replica that moves between log directories is copied to `-future` and then exchanged. Where the
metadata names the directory of the copy, and no other one of it is left, the start exchanges them.
Source: kafka.log.LogManager.recoverAbandonedFutureLogs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafka_unclean_recovery.log_dir.directory_names import DirectoryKind
from kafka_unclean_recovery.log_dir.log_directory import LogDirectory
from kafka_unclean_recovery.log_dir.metadata.image import MetadataImage, partition_states
from kafka_unclean_recovery.log_dir.scan_rows import directories_in_metadata
from kafka_unclean_recovery.model import TopicPartition

Homes = Mapping[tuple[int, TopicPartition], str]
"""The id of the log directory that the metadata names for a broker's replica."""


def homes(image: MetadataImage, nodes: set[int]) -> Homes:
    """Return the homes of all replicas of these nodes."""
    found: dict[tuple[int, TopicPartition], str] = {}
    for state in partition_states(image):
        named = zip(state.replicas, directories_in_metadata(image, state), strict=False)
        for broker, id_ in named:
            if broker in nodes:
                found[broker, state.topic_partition] = id_
    return found


def any_copies(found: Sequence[LogDirectory]) -> bool:
    kinds = {replica.kind for directory in found for replica in directory.replicas.values()}
    return DirectoryKind.FUTURE in kinds


def taken_into_use(found: Sequence[LogDirectory], named: Homes) -> frozenset[str]:
    """Return the directories, fit to print, of the copies that a start takes into use."""
    in_use = {
        (directory.meta.node_id, replica.topic_partition)
        for directory in found
        for replica in directory.replicas.values()
        if replica.kind is DirectoryKind.LIVE
    }
    return frozenset(
        str(directory.location / name)
        for directory in found
        for name, replica in directory.replicas.items()
        if replica.kind is DirectoryKind.FUTURE
        and (of := (directory.meta.node_id, replica.topic_partition)) not in in_use
        and directory.meta.directory_id is not None
        and named.get(of) == directory.meta.directory_id
    )


def exchanged(found: Sequence[LogDirectory], named: Homes) -> dict[str, str]:
    """Return by the directory of a replica in use that of its copy in the log directory which the
    metadata names: a start takes the copy into use, and deletes the other. Within one log directory
    it can't, and the broker ends."""
    copies = {
        (directory.meta.node_id, replica.topic_partition): str(directory.location / name)
        for directory in found
        for name, replica in directory.replicas.items()
        if replica.kind is DirectoryKind.FUTURE
        and directory.meta.directory_id is not None
        and named.get((directory.meta.node_id, replica.topic_partition))
        == directory.meta.directory_id
    }
    return {
        str(directory.location / name): copies[of]
        for directory in found
        for name, replica in directory.replicas.items()
        if replica.kind is DirectoryKind.LIVE
        and (of := (directory.meta.node_id, replica.topic_partition)) in copies
    }
