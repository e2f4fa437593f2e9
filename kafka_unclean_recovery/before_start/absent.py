"""Find the replicas that the metadata puts on the broker and that are not among its directories; no
I/O.

Those are the ones that a start begins empty, whoever has to follow them then. A replica in a log
directory that goes offline is begun empty where the metadata puts it, unless that is offline, too,
or unknown to the broker (kafka.cluster.Partition.createLogInAssignedDirectoryId). It is not where
its directory goes offline over its high watermarks: those are read once the replica is taken into
use (seen on 3.9.1 and 4.4.0). A directory that was not given may have them too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from uuid import UUID

from kafka_unclean_recovery.before_start.replica import Layout, Moment, OwnDisk, OwnReplica
from kafka_unclean_recovery.log_dir.directory_names import DirectoryKind
from kafka_unclean_recovery.log_dir.small_files.properties_files import kafka_uuid
from kafka_unclean_recovery.model import PartitionState, TopicPartition

_GONE = "the metadata puts it on this broker, and it is in none of its log directories"
_GONE_OFFLINE = (
    "the metadata puts it on this broker, and not into the log directory where it is, which goes"
    " offline"
)
_BEGUN_NOWHERE = (
    "it is in no log directory that stays online, nor does the metadata put it into one: with one"
    " offline, the broker begins it nowhere"
)
_IF_LOST = "if its disk is lost, or was exchanged for a new one, the broker begins it empty"


def with_absent(disk: OwnDisk, states: Iterable[PartitionState]) -> OwnDisk:
    """Return the disk with what should be on it, and is not."""
    return replace(disk, replicas=(*disk.replicas, *_absent(disk, states)))


def _absent(disk: OwnDisk, states: Iterable[PartitionState]) -> Iterator[OwnReplica]:
    layout = disk.layout
    usable = [each for each in disk.replicas if _may_be_used(each, layout)]
    there = {each.topic_partition for each in usable if each.offline is None}
    offline = {each.topic_partition: layout.moment(each.log_dir) for each in usable if each.offline}
    for state in states:
        where = state.topic_partition
        if disk.broker not in state.replicas or where in there:
            continue
        if where not in offline:
            yield _one(disk, state, _GONE)
        elif offline[where] is not Moment.TAKEN and _put_elsewhere(where, layout):
            yield _one(disk, state, _GONE_OFFLINE)


def _may_be_used(replica: OwnReplica, layout: Layout) -> bool:
    """Return whether a directory may be the replica after the start. A copy that is not taken into
    use never is, where it is known which one the metadata names."""
    if replica.kind is DirectoryKind.FUTURE:
        return replica.topic_partition not in layout.assigned
    return replica.kind is DirectoryKind.LIVE


def _put_elsewhere(partition: TopicPartition, layout: Layout) -> bool:
    """Return whether a replica in a directory that goes offline may be begun in another one."""
    if partition not in layout.assigned:
        return partition in layout.unassigned
    return layout.home(partition) not in layout.offline


def _one(disk: OwnDisk, state: PartitionState, gone: str) -> OwnReplica:
    layout, name = disk.layout, str(state.topic_partition)
    here = layout.home(state.topic_partition)
    found = OwnReplica(
        state.topic_partition,
        DirectoryKind.LIVE,
        f"{here or _any_online(disk)}/{name}",
        state.topic_id,
    )
    if name in layout.left_out:
        why = f"{name} is no directory here, and a symlink is never followed: it is unread"
        return replace(found, not_given=why)
    if here is not None and here in layout.offline:
        return replace(found, offline=layout.offline[here].why, gone=gone)
    if here is None and not layout.whole:
        return replace(found, not_given=_not_given(layout, state.topic_partition))
    known = here is not None or state.topic_partition in layout.unassigned
    if not known and any(goes.moment is not Moment.TAKEN for goes in layout.offline.values()):
        return replace(found, offline=_BEGUN_NOWHERE, gone=gone)
    return replace(found, gone=gone)


def _any_online(disk: OwnDisk) -> str:
    online = (path for path in disk.directories if path not in disk.layout.offline)
    return next(online, disk.directories[0])


def _not_given(layout: Layout, partition: TopicPartition) -> str:
    home = layout.assigned.get(partition)
    if home is None:
        return (
            "it is in none of the log directories that were given; give all of log.dirs: if it is"
            " in none of them, the broker begins it empty"
        )
    return (
        f"the metadata puts it in log directory {kafka_uuid(UUID(home))}, which was not"
        f" given{_unless(layout)}: give it too (--log-dirs); {_IF_LOST}"
    )


def _unless(layout: Layout) -> str:
    """Return what else a directory of an unknown path may be, as the end of a clause."""
    named = set(layout.directories.values())
    unread = [
        path
        for path, goes in layout.offline.items()
        if goes.moment is Moment.UNREAD and path not in named
    ]
    return f", unless it is {' or '.join(unread)}, which can't tell its id" if unread else ""


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
        f"the metadata puts it in log directory {kafka_uuid(UUID(home))}, which was not"
        f" given{_unless(disk.layout)}: if the broker starts without that one, the controller does"
        " not elect it"
    )


def not_given(disk: OwnDisk) -> Iterator[str]:
    """Yield a sentence for each log directory that the broker has and that was not given."""
    for id_ in disk.layout.missing:
        there = [tp for tp, home in disk.layout.assigned.items() if home == id_]
        names = f": {', '.join(map(str, sorted(there)[:_SHOWN]))}" if there else ""
        more = f" and {len(there) - _SHOWN} more" if len(there) > _SHOWN else ""
        yield (
            f"log directory {kafka_uuid(UUID(id_))}, which broker {disk.broker} registered, is not"
            f" among those that were given{_unless(disk.layout)}, and so is nothing in"
            f" it{names}{more}; give it too (--log-dirs); {_IF_LOST}"
        )


_SHOWN = 5
