"""Find the replicas that the metadata puts on the broker and that are not among its directories; no
I/O.

Those are the ones that a start begins empty, whoever has to follow them then; not in a directory
that is offline (kafka.cluster.Partition.createLogInAssignedDirectoryId). A directory that was not
given may have them too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from uuid import UUID

from kafka_unclean_recovery.before_start.replica import Layout, OwnDisk, OwnReplica
from kafka_unclean_recovery.log_dir.directory_names import DirectoryKind
from kafka_unclean_recovery.log_dir.small_files.properties_files import kafka_uuid
from kafka_unclean_recovery.model import PartitionState, TopicPartition

_GONE = "the metadata puts it on this broker, and it is in none of its log directories"
_IF_LOST = "if its disk is lost, or was exchanged for a new one, the broker begins it empty"


def with_absent(disk: OwnDisk, states: Iterable[PartitionState]) -> OwnDisk:
    """Return the disk with what should be on it, and is not."""
    return replace(disk, replicas=(*disk.replicas, *_absent(disk, states)))


def _absent(disk: OwnDisk, states: Iterable[PartitionState]) -> Iterator[OwnReplica]:
    there = {each.topic_partition for each in disk.replicas if _may_be_used(each, disk.layout)}
    for state in states:
        if disk.broker in state.replicas and state.topic_partition not in there:
            yield _one(disk, state)


def _may_be_used(replica: OwnReplica, layout: Layout) -> bool:
    """Return whether a directory may be the replica after the start. A copy that is not taken into
    use never is, where it is known which one the metadata names."""
    if replica.kind is DirectoryKind.FUTURE:
        return replica.topic_partition not in layout.assigned
    return replica.kind is DirectoryKind.LIVE


def _one(disk: OwnDisk, state: PartitionState) -> OwnReplica:
    layout, name = disk.layout, str(state.topic_partition)
    home = layout.assigned.get(state.topic_partition)
    here = None if home is None else layout.directories.get(home)
    found = OwnReplica(
        state.topic_partition,
        DirectoryKind.LIVE,
        f"{here or disk.directories[0]}/{name}",
        state.topic_id,
    )
    if name in layout.left_out:
        why = f"{name} is no directory here, and a symlink is never followed: it is unread"
        return replace(found, not_given=why)
    if home is not None and home in layout.offline:
        return replace(found, offline=layout.offline[home])
    if here is not None or layout.whole:
        return replace(found, gone=_GONE)
    return replace(found, not_given=_not_given(home))


def _not_given(home: str | None) -> str:
    if home is None:
        return (
            "it is in none of the log directories that were given; give all of log.dirs: if it is"
            " in none of them, the broker begins it empty"
        )
    return (
        f"the metadata puts it in log directory {kafka_uuid(UUID(home))}, which was not given: give"
        f" it too (--log-dirs); {_IF_LOST}"
    )


def away(disk: OwnDisk, partition: TopicPartition) -> str | None:
    """Return why the controller may not take a replica for alive once its broker is, though it is
    here; None where the metadata puts it in a directory that was given.

    Source: org.apache.kafka.common.DirectoryId.isOnline, asked by PartitionChangeBuilder before the
    broker tells where the replica is.
    """
    home = disk.layout.assigned.get(partition)
    if home is None or home in disk.layout.directories:
        return None
    return (
        f"the metadata puts it in log directory {kafka_uuid(UUID(home))}, which was not given: if"
        " the broker starts without that one, the controller does not elect it"
    )


def not_given(disk: OwnDisk) -> Iterator[str]:
    """Yield a sentence for each log directory that the broker has and that was not given."""
    for id_ in disk.layout.missing:
        there = [tp for tp, home in disk.layout.assigned.items() if home == id_]
        names = f": {', '.join(map(str, sorted(there)[:_SHOWN]))}" if there else ""
        more = f" and {len(there) - _SHOWN} more" if len(there) > _SHOWN else ""
        yield (
            f"log directory {kafka_uuid(UUID(id_))}, which broker {disk.broker} registered, is not"
            f" among those that were given, and so is nothing in it{names}{more}; give it too"
            f" (--log-dirs); {_IF_LOST}"
        )


_SHOWN = 5
