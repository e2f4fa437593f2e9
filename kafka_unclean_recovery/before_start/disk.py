"""Read the log directories of one broker: what is in them, and what would keep it from starting.

Source: org.apache.kafka.metadata.properties.MetaPropertiesEnsemble.verify (which directories a
broker refuses).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import PurePath
from uuid import UUID

from kafka_unclean_recovery.before_start.replica import (
    GoesOffline,
    Layout,
    Moment,
    OwnDisk,
    OwnReplica,
)
from kafka_unclean_recovery.before_start.without_owner import directory_ids, without_owner
from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.log_dir.clean_stop import counts_as_clean
from kafka_unclean_recovery.log_dir.directory_names import DirectoryKind, PartitionDirectory
from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.future_replicas import (
    Homes,
    homes,
    replaced,
    taken_into_use,
)
from kafka_unclean_recovery.log_dir.log_directory import LOCK, LogDirectory
from kafka_unclean_recovery.log_dir.metadata.image import (
    UNASSIGNED,
    MetadataImage,
    names_a_directory,
)
from kafka_unclean_recovery.log_dir.metadata.newest import (
    CLUSTER_METADATA,
    newest_metadata,
)
from kafka_unclean_recovery.log_dir.scan import (
    Wanted,
    copied,
    find_log_directories,
    jobs_of,
    loaded_replicas,
    topic_ids_of_copies,
)
from kafka_unclean_recovery.log_dir.scan_jobs import run_jobs
from kafka_unclean_recovery.log_dir.scan_rows import partition_infos
from kafka_unclean_recovery.log_dir.small_files.checkpoints import HIGH_WATERMARKS
from kafka_unclean_recovery.log_dir.small_files.clean_shutdown import CLEAN_SHUTDOWN
from kafka_unclean_recovery.log_dir.small_files.properties_files import (
    META_PROPERTIES,
    PARTITION_METADATA,
    parse_partition_metadata,
)
from kafka_unclean_recovery.log_dir.start.directory import directory_start
from kafka_unclean_recovery.log_dir.start.fate import (
    Cause,
    DirectoryStart,
    Fate,
    broker_fate,
    ends_over,
)
from kafka_unclean_recovery.log_dir.tree import Folder, Location, Unreadable
from kafka_unclean_recovery.log_dir.watching import Watch
from kafka_unclean_recovery.log_dir.whole_disks import whole_disks
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import ReplicaInfo, ReplicaLog
from kafka_unclean_recovery.wording import one_line

# A start reads what follows the recovery points, and so does the scan.
_MODE = ScanMode.RECOVER


def read_own_disk(roots: Sequence[Location], wanted: Wanted, workers: int, watch: Watch) -> OwnDisk:
    """Read the log directories at or below the roots, which are of one broker. Raises InputError
    where they are of several, or where there are none."""
    begun = datetime.now(UTC).isoformat(timespec="seconds")
    found, unread, unseen = find_log_directories(roots)
    broker = _one_broker(found, unread)
    lost, unseen = without_owner(found, unread, unseen)
    newest = newest_metadata([d.location for d in found if CLUSTER_METADATA in d.replicas])
    image = newest.metadata.image if newest.metadata else MetadataImage()
    compacted = newest.compacted.union(*(d.cleaned_topics for d in found))
    named = homes(image, {broker})
    promoted = taken_into_use(found, named, topic_ids_of_copies(found))
    out_of_use = replaced(found, promoted)
    jobs = [
        job
        for d in found
        for job in jobs_of(d, loaded_replicas(d, wanted, compacted), _MODE, watch)
    ]
    read = run_jobs(jobs, _MODE, workers, watch)
    logs = {replica.directory: log for replica, log in read.rows}
    clusters = _cluster_ids(found)
    starts = [directory_start(d.location, zookeeper=d.meta.zookeeper) for d in found]
    starts += [start for _, start in lost]
    every = [*found, *(directory for directory, _ in lost)]
    replicas = [
        replace(
            replica,
            offline=_offline(start),
            replaced_by=logs.get(out_of_use.get(replica.directory, "")),
        )
        for d, start in zip(every, starts, strict=True)
        for replica in _replicas(d, wanted, compacted, logs, promoted)
    ]
    cut = None if _controls(broker, image) else newest.ends_early
    beside = _can_not_be_exchanged(replicas, out_of_use)
    refusal = next(iter((*_refusals(clusters, found, starts, logs), *beside)), None)
    return OwnDisk(
        broker=broker,
        cluster_id=next(iter(clusters), None),
        directories=tuple(str(d.location) for d in found),
        replicas=tuple(replicas),
        stopped_clean=counts_as_clean(found, image.brokers.get(broker)),
        info=ReplicaInfo(
            cluster_id=next(iter(clusters), None),
            scanned_at=begun,
            brokers=(broker,),
            partitions=partition_infos([], [], image, wanted, compacted, ()),
            metadata_epoch=newest.metadata.last_epoch if newest.metadata else None,
            metadata_end_offset=newest.metadata.end_offset if newest.metadata else None,
        ),
        refused=refusal.why if refusal else None,
        refused_late=refusal is not None and refusal.late,
        unsettled=next(_held(found), None),
        problems=(
            *unseen,
            *(p for d in found for p in d.problems),
            *(p for p in newest.problems if p != cut),
        ),
        interrupted=read.interrupted,
        layout=_layout(broker, found, lost, starts, image, named),
        zookeeper=any(d.meta.zookeeper for d in found),
        metadata_cut=cut,
    )


def _controls(node: int, image: MetadataImage) -> bool:
    return node in image.controllers or node in image.voters or node not in image.brokers


def _layout(
    broker: int,
    found: Sequence[LogDirectory],
    lost: Sequence[tuple[LogDirectory, DirectoryStart]],
    starts: Sequence[DirectoryStart],
    image: MetadataImage,
    named: Homes,
) -> Layout:
    registered = image.brokers[broker].log_dirs if broker in image.brokers else ()
    ids = directory_ids(found, lost, [str(id_) for id_ in registered])
    found = [*found, *(directory for directory, _ in lost)]
    found = [replace(d, meta=replace(d.meta, directory_id=ids[d.location])) for d in found]
    here = {d.meta.directory_id: str(d.location) for d in found if d.meta.directory_id}
    unread = {str(directory.location) for directory, _ in lost}
    return Layout(
        assigned={
            tp: home.directory_id
            for (_, tp), home in named.items()
            if names_a_directory(UUID(home.directory_id))
        },
        directories=here,
        whole=bool(whole_disks(found, image)),
        missing=tuple(str(id_) for id_ in registered if str(id_) not in here),
        left_out=frozenset[str]().union(*(d.left_out for d in found)),
        topics=frozenset(image.topics.values()),
        offline={
            start.directory: GoesOffline(_moment(start, unread), why)
            for start in starts
            if (why := _offline(start)) is not None
        },
        unassigned=frozenset(
            tp for (_, tp), home in named.items() if UUID(home.directory_id) == UNASSIGNED
        ),
    )


def _one_broker(
    found: Sequence[LogDirectory], unread: Sequence[tuple[Location, Unreadable]]
) -> int:
    """Return the node that all directories are of. Raises InputError for directories of several."""
    first = found[0] if found else None
    if first is None:
        why = "".join(f": {location}: {error}" for location, error in unread[:1])
        raise InputError(
            f"none of the log directories could be read; name those of one broker{why}"
        )
    for other in found:
        if other.meta.node_id != first.meta.node_id:
            raise InputError(
                f"{first.location} is of broker {first.meta.node_id}, {other.location} of broker"
                f" {other.meta.node_id}; give the log directories of the one that is to start here,"
                " and scans of the others as --replica-info-file"
            )
    return first.meta.node_id


def _cluster_ids(found: Iterable[LogDirectory]) -> dict[str, Location]:
    """Return the first directory of each cluster id."""
    clusters: dict[str, Location] = {}
    for directory in found:
        if directory.meta.cluster_id is not None:
            clusters.setdefault(directory.meta.cluster_id, directory.location)
    return clusters


@dataclass(frozen=True, slots=True)
class _Refusal:
    """late: see OwnDisk.refused_late."""

    why: str
    late: bool = False


def _refusals(
    clusters: Mapping[str, Location],
    found: Sequence[LogDirectory],
    starts: Sequence[DirectoryStart],
    logs: Mapping[str, ReplicaLog],
) -> Iterator[_Refusal]:
    if len(clusters) > 1:
        (one, first), (other, second), *_ = clusters.items()
        yield _Refusal(
            f"{first} is of cluster {one}, {second} of cluster {other}: a broker refuses to start"
            " with both; take out the one that is not its own"
        )
    for twice in copied(found):
        yield _Refusal(f"{twice}: a broker refuses to start with both; take out the copy")
    metadata = [d for d in found if CLUSTER_METADATA in d.replicas]
    if len(metadata) > 1:
        where = ", ".join(str(d.location) for d in metadata)
        yield _Refusal(
            f"{CLUSTER_METADATA} is in more than one log directory ({where}): a broker refuses to"
            " start with it outside of its metadata.log.dir, which is the first of log.dirs unless"
            " set; move the others elsewhere"
        )
    if broker_fate(starts) is Fate.ENDS:
        causes = [cause for start in starts for cause in _worst(start)]
        # meta.properties and the controllers' log are read before any other is loaded.
        early = any(
            f"/{CLUSTER_METADATA}/" in cause.file or cause.file.endswith(f"/{META_PROPERTIES}")
            for cause in causes
        )
        yield _Refusal("; ".join(one_line(str(cause)) for cause in causes), late=not early)
    for directory, log in sorted(logs.items()):
        lives = any(
            directory.startswith(f"{start.directory}/") and start.fate is Fate.STARTS
            for start in starts
        )
        if lives and (why := ends_over(log.problem)) is not None:
            yield _Refusal(f"{directory}: {why}{_way_out(found, directory)}", late=True)


def _way_out(found: Sequence[LogDirectory], directory: str) -> str:
    """Return what to do about a log over which its broker ends, if that is known."""
    of_it = next((d for d in found if directory.startswith(f"{d.location}/")), None)
    if of_it is not None and _kind(of_it, directory) is not DirectoryKind.LIVE:
        return "; move it out of the log directory: nothing there is in use"
    if of_it is None or not of_it.stopped_clean:
        return "; move the replica's directory aside: the broker then fetches it anew"
    return (
        f"; move {CLEAN_SHUTDOWN} out of the log directory: the start then recovers its logs, and"
        " cuts off what can't be read, and the controller counts the stop as not clean"
    )


def _kind(of_it: LogDirectory, directory: str) -> DirectoryKind | None:
    kinds = {str(of_it.location / name): each.kind for name, each in of_it.replicas.items()}
    return kinds.get(directory)


def _worst(start: DirectoryStart) -> Iterator[Cause]:
    """Yield the causes that decide the fate of the directory, each with what to do."""
    return (cause for cause in start.causes if cause.fate is start.fate)


def _held(found: Iterable[LogDirectory]) -> Iterator[str]:
    for directory in found:
        with directory.location.open() as folder:
            process = folder.lock_holder(LOCK)
        if process is not None:
            yield (
                f"a running process ({process}) holds {directory.location}: what its start did is"
                " done; stop it first, and ask again"
            )


def _can_not_be_exchanged(
    replicas: Iterable[OwnReplica], out_of_use: Mapping[str, str]
) -> Iterator[_Refusal]:
    """Yield each copy that is to take the place of a replica in the same log directory. A replica
    of another topic is put aside before."""
    known = {replica.directory: replica for replica in replicas}
    for there, copy in out_of_use.items():
        one, other = known.get(there), known.get(copy)
        if one is None or other is None or one.topic_id != other.topic_id:
            continue
        if PurePath(copy).parent == PurePath(there).parent:
            yield _Refusal(
                f"{copy}: the start takes this copy into use, and ends over {PurePath(there).name}"
                " beside it; move one of them out of the log directory",
                late=True,
            )


def _offline(start: DirectoryStart) -> str | None:
    if start.fate is not Fate.OFFLINE:
        return None
    causes = "; ".join(one_line(str(cause)) for cause in start.causes)
    return f"the broker starts without its log directory, which goes offline: {causes}"


def _moment(start: DirectoryStart, unread: Container[str]) -> Moment:
    """Return when a directory goes offline. A broker reads its high watermarks when it takes
    replicas into use (kafka.server.ReplicaManager.highWatermarkCheckpoints). unread: the paths of
    those that it does not know for its own."""
    if start.directory in unread:
        return Moment.UNREAD
    files = {PurePath(cause.file).name for cause in start.causes}
    return Moment.TAKEN if files == {HIGH_WATERMARKS} else Moment.LOADED


def _replicas(
    directory: LogDirectory,
    wanted: Wanted,
    compacted: Iterable[str],
    logs: Mapping[str, ReplicaLog],
    promoted: Container[str],
) -> Iterator[OwnReplica]:
    with directory.location.open() as folder:
        for name, found in directory.replicas.items():
            if not found.is_cluster_metadata and wanted(found.topic_partition):
                where = str(directory.location / name)
                used = replace(found, kind=DirectoryKind.LIVE) if where in promoted else found
                yield _replica(folder, name, used, where, compacted, logs.get(where))


def _replica(
    folder: Folder,
    name: str,
    found: PartitionDirectory,
    where: str,
    compacted: Iterable[str],
    log: ReplicaLog | None,
) -> OwnReplica:
    topic_id, nameless = _topic_id(folder, name)
    return OwnReplica(
        found.topic_partition,
        found.kind,
        where,
        topic_id,
        nameless,
        log if found.kind is DirectoryKind.LIVE else None,
        found.topic_partition.topic in set(compacted),
    )


def _topic_id(folder: Folder, name: str) -> tuple[str | None, str | None]:
    """Return (the topic id in partition.metadata, why it can't be told)."""
    try:
        with folder.folder(name) as replica:
            data = replica.read_whole(PARTITION_METADATA)
            return (None if data is None else parse_partition_metadata(data)), None
    except (BadFormat, Unreadable) as error:
        return None, str(error)
