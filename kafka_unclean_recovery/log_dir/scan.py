"""Scan the log directories of any number of brokers, dead or alive, into one ReplicaInfo."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import chain
from uuid import UUID

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.log_dir.clean_stop import as_counted, clean_by_broker
from kafka_unclean_recovery.log_dir.directory_names import DirectoryKind
from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.future_replicas import (
    any_copies,
    copies,
    homes,
    replaced,
    taken_into_use,
)
from kafka_unclean_recovery.log_dir.log_directory import LogDirectory, read_log_directory
from kafka_unclean_recovery.log_dir.metadata.elections import fencing, unclean_topics
from kafka_unclean_recovery.log_dir.metadata.image import MetadataImage
from kafka_unclean_recovery.log_dir.metadata.newest import (
    CLUSTER_METADATA,
    newest_metadata,
)
from kafka_unclean_recovery.log_dir.replica_files import replica_files
from kafka_unclean_recovery.log_dir.replica_scan import Replica, planned_bytes
from kafka_unclean_recovery.log_dir.scan_jobs import Job, run_jobs
from kafka_unclean_recovery.log_dir.scan_rows import (
    directories_in_metadata,
    on_zookeeper,
    partition_infos,
)
from kafka_unclean_recovery.log_dir.small_files.properties_files import (
    PARTITION_METADATA,
    parse_partition_metadata,
)
from kafka_unclean_recovery.log_dir.tree import (
    Below,
    Folder,
    Location,
    Unreadable,
    log_directories,
)
from kafka_unclean_recovery.log_dir.watching import Unwatched, Watch
from kafka_unclean_recovery.log_dir.whole_disks import (
    by_id,
    read_directories,
    whole_disks,
    with_gone_replicas,
)
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import ReplicaInfo, TopicPartition

# A job is full when it has this many bytes, or this many replicas.
_JOB_BYTES = 64 << 20
_JOB_REPLICAS = 100

Wanted = Callable[[TopicPartition], bool]


def every_partition(_: TopicPartition) -> bool:
    return True


def scan_log_directories(
    roots: Sequence[Location],
    mode: ScanMode,
    *,
    wanted: Wanted = every_partition,
    workers: int = 1,
    watch: Watch | None = None,
) -> ReplicaInfo:
    """Scan the roots, each of which is a log directory or a parent of some.

    Raises InputError for a root that holds none, and for disks of two clusters. Anything that can't
    be read is named in `problems` and in the rows. Nothing is written, and no symlink below a root
    is followed.
    """
    begun = datetime.now(UTC).isoformat(timespec="seconds")
    watch = watch or Unwatched()
    directories, unseen = read_log_directories(roots)
    refuse_strangers(directories)
    newest = newest_metadata([d.location for d in directories if CLUSTER_METADATA in d.replicas])
    image = newest.metadata.image if newest.metadata else MetadataImage()
    compacted = newest.compacted.union(*(d.cleaned_topics for d in directories))
    nodes = {d.meta.node_id for d in directories}
    named = homes(image, nodes) if any_copies(directories) else {}
    promoted = taken_into_use(directories, named, topic_ids_of_copies(directories))
    out_of_use = replaced(directories, promoted)
    jobs: list[Job] = []
    for directory in directories:
        every = started_replicas(directory, wanted, compacted, promoted)
        started = [one for one in every if one[1].directory not in out_of_use]
        jobs += jobs_of(directory, started, mode, watch)
    read = run_jobs(jobs, mode, workers, watch)
    clean = clean_by_broker(directories, image)
    rows = [(replica, as_counted(log, clean)) for replica, log in read.rows]
    covered = {d.meta.node_id for d in directories if d.location in newest.read}
    strays = [each for each in strays_of(directories, wanted) if each[2] not in promoted]
    partitions = partition_infos(on_zookeeper(rows), strays, image, wanted, compacted, covered)
    if not read.interrupted:
        read_by_id = by_id(read_directories(directories, image))
        partitions = tuple(
            with_gone_replicas(p, directories_in_metadata(image, p.state), read_by_id)
            for p in partitions
        )
    return ReplicaInfo(
        cluster_id=next((d.meta.cluster_id for d in directories if d.meta.cluster_id), None),
        scanned_at=begun,
        brokers=brokers_of(directories, image),
        partitions=partitions,
        metadata_epoch=newest.metadata.last_epoch if newest.metadata else None,
        metadata_end_offset=newest.metadata.end_offset if newest.metadata else None,
        problems=(
            *unseen,
            *(problem for d in directories for problem in d.problems),
            *unregistered(directories, image),
            *foreign(directories),
            *copied(directories),
            *newest.problems,
        ),
        interrupted=read.interrupted,
        whole=() if read.interrupted else whole_disks(directories, image),
        unclean_topics=unclean_topics(image) if newest.metadata else None,
        fencing=fencing(image) if newest.metadata else None,
    )


def read_log_directories(roots: Sequence[Location]) -> tuple[list[LogDirectory], list[str]]:
    """Return (the log directories at or below the roots, each once; sentences on what could not be
    read). Raises InputError for a root that holds none."""
    found, unread, unseen = find_log_directories(roots)
    return found, [*unseen, *(f"{at}: left out: {error}" for at, error in unread)]


def find_log_directories(
    roots: Sequence[Location],
) -> tuple[list[LogDirectory], list[tuple[Location, Unreadable]], list[str]]:
    """Return (the log directories at or below the roots, each once; those that could not be read,
    and why; sentences on what was left out). Raises InputError for a root that holds none."""
    locations, unseen = _find_all(roots)
    found, unread = _read_all(locations)
    return found, unread, unseen


def _find_all(roots: Sequence[Location]) -> tuple[list[Location], list[str]]:
    """Return (each log directory once, however many ways lead to it; what was left out and why)."""
    locations: dict[Hashable, Location] = {}
    complaints: dict[str, None] = {}
    links: dict[Hashable, str] = {}
    for root in roots:
        below = log_directories(root)
        if not below.found:
            raise InputError(
                f"{none_at(root, below)}; name the directories of log.dirs, or their parents"
            )
        complaints |= below.complaints
        links |= below.links
        for identity, location in below.found.items():
            locations.setdefault(identity, location)
    left_out = (*complaints, *(said for at, said in links.items() if at not in locations))
    return list(locations.values()), [f"{each}; left out" for each in left_out]


def none_at(root: Location, below: Below) -> str:
    """Return a sentence on a root without a log directory."""
    complaints = (*below.complaints, *below.links.values())
    # The sentence names the root already; complaints name it again, and so do errors of opening it.
    reasons = (each.removeprefix(f"{root}: ").removeprefix(f"{root}: ") for each in complaints)
    why = f": {'; '.join(reasons)}" if complaints else ""
    return (
        f"{root}: no log directory here or up to four levels below, none has a meta.properties{why}"
    )


def _read_all(
    locations: Iterable[Location],
) -> tuple[list[LogDirectory], list[tuple[Location, Unreadable]]]:
    directories: list[LogDirectory] = []
    unread: list[tuple[Location, Unreadable]] = []
    for location in locations:
        try:
            directories.append(read_log_directory(location))
        except Unreadable as error:
            unread.append((location, error))
    return directories, unread


def refuse_strangers(found: Iterable[LogDirectory]) -> None:
    """Raise InputError for log directories of several clusters, which names all but those of the
    most frequent one: topics and brokers of all have the same names, and leaving one out might
    leave out the one that is meant."""
    if said := strangers_text(*strangers(found)):
        raise InputError(f"{said}; give the disks of one cluster")


def strangers(found: Iterable[LogDirectory]) -> tuple[list[LogDirectory], list[LogDirectory]]:
    """Return (the log directories of the cluster of which there are most, those of others); those
    that do not tell their cluster are in neither."""
    known: dict[str, list[LogDirectory]] = {}
    for directory in found:
        if directory.meta.cluster_id is not None:
            known.setdefault(directory.meta.cluster_id, []).append(directory)
    most = max(known, key=lambda cluster: len(known[cluster]), default="")
    others = (there for cluster, there in known.items() if cluster != most)
    return known.get(most, []), list(chain.from_iterable(others))


def strangers_text(most: Sequence[LogDirectory], others: Sequence[LogDirectory]) -> str:
    """Return which log directories are of another cluster than most are; "" for none."""
    if not others:
        return ""
    named = (f"{other.location} of cluster {other.meta.cluster_id}" for other in others)
    return f"{most[0].location} is of cluster {most[0].meta.cluster_id}, {', '.join(named)}"


def unregistered(directories: Sequence[LogDirectory], image: MetadataImage) -> Iterator[str]:
    for directory in directories:
        broker = image.brokers.get(directory.meta.node_id)
        id_ = directory.meta.directory_id
        if broker is None or id_ is None or not broker.log_dirs or UUID(id_) in broker.log_dirs:
            continue
        yield (
            f"{directory.location}: its meta.properties says broker {broker.id}, which"
            f" registered no log directory {id_}: it is another node's, or newer than the metadata"
        )


def foreign(directories: Sequence[LogDirectory]) -> Iterator[str]:
    """Yield what keeps a broker from starting: what its start makes of the logs in the same log
    directory holds only once it is gone."""
    for directory in directories:
        for name in directory.foreign:
            yield (
                f"{directory.location}: {name} is no replica's directory: a broker does not start"
                " with it; move it out of the log directory"
            )
        yield from (f"a broker does not start with it: {why}" for why in directory.fails)


def copied(directories: Sequence[LogDirectory]) -> Iterator[str]:
    same: dict[tuple[int, str], list[str]] = defaultdict(list)
    for directory in directories:
        if directory.meta.directory_id is not None:
            of = directory.meta.node_id, directory.meta.directory_id
            same[of].append(str(directory.location))
    for (broker, id_), paths in same.items():
        if len(paths) > 1:
            where = ", ".join(paths)
            yield f"log directory {id_} of broker {broker} is here more than once: {where}"


def brokers_of(directories: Sequence[LogDirectory], image: MetadataImage) -> tuple[int, ...]:
    """Return the brokers. Controllers have log directories too; where registrations are known, they
    tell which nodes are brokers."""
    nodes = {d.meta.node_id for d in directories}
    return tuple(sorted(nodes & image.brokers.keys() if image.brokers else nodes))


def strays_of(
    directories: Sequence[LogDirectory], wanted: Wanted
) -> list[tuple[TopicPartition, int, str]]:
    """Return (partition, broker, path) of each replica that a broker put aside because it was not
    assigned to it, or was still copying from another of its log directories."""
    return [
        (replica.topic_partition, d.meta.node_id, str(d.location / name))
        for d in directories
        for name, replica in d.replicas.items()
        if replica.kind in (DirectoryKind.STRAY, DirectoryKind.FUTURE)
        and wanted(replica.topic_partition)
    ]


def live_replicas(
    directory: LogDirectory, wanted: Wanted, compacted: Container[str]
) -> list[tuple[str, Replica]]:
    """Return the replicas in use, without those to be deleted and those still being copied."""
    return [
        (name, replica_of(directory, name, found.topic_partition, compacted))
        for name, found in directory.replicas.items()
        if found.kind is DirectoryKind.LIVE
        and not found.is_cluster_metadata
        and wanted(found.topic_partition)
    ]


def started_replicas(
    directory: LogDirectory, wanted: Wanted, compacted: Container[str], promoted: Container[str]
) -> list[tuple[str, Replica]]:
    """Return the replicas in use, and the copies that a start takes into use."""
    copies = [
        (name, replica_of(directory, name, found.topic_partition, compacted))
        for name, found in directory.replicas.items()
        if found.kind is DirectoryKind.FUTURE
        and str(directory.location / name) in promoted
        and wanted(found.topic_partition)
    ]
    return [*live_replicas(directory, wanted, compacted), *copies]


def loaded_replicas(
    directory: LogDirectory, wanted: Wanted, compacted: Container[str]
) -> list[tuple[str, Replica]]:
    """Return all replicas that a start loads: those that were put aside and those being copied as
    those in use, whose broker they end for the same reasons, and those to be deleted, too."""
    return [
        (name, replica_of(directory, name, found.topic_partition, compacted))
        for name, found in directory.replicas.items()
        if not found.is_cluster_metadata and wanted(found.topic_partition)
    ]


def topic_ids_of_copies(directories: Sequence[LogDirectory]) -> dict[str, str | None]:
    """Return the topic id of each copy, by its directory; None where it can't be told."""
    found: dict[str, str | None] = {}
    for directory, name in copies(directories):
        where = str(directory.location / name)
        found[where] = None
        with suppress(BadFormat, Unreadable), directory.location.open() as folder:
            with folder.folder(name) as inside:
                data = inside.read_whole(PARTITION_METADATA)
            found[where] = None if data is None else parse_partition_metadata(data)
    return found


def replica_of(
    directory: LogDirectory, name: str, partition: TopicPartition, compacted: Container[str]
) -> Replica:
    """Return the replica in the subdirectory `name`, as the log directory tells it."""
    return Replica(
        broker=directory.meta.node_id,
        topic_partition=partition,
        directory=str(directory.location / name),
        directory_id=directory.meta.directory_id,
        high_watermark=directory.high_watermarks.get(partition),
        recovery_point=directory.recovery_points.get(partition),
        log_start=directory.log_starts.get(partition),
        stopped_clean=directory.stopped_clean,
        compacted=partition.topic in compacted,
        zookeeper=directory.meta.zookeeper,
        deleted=name.endswith("-delete"),
    )


def jobs_of(
    directory: LogDirectory, replicas: Sequence[tuple[str, Replica]], mode: ScanMode, watch: Watch
) -> Iterator[Job]:
    """Pack the replicas into jobs by the number of bytes to read."""
    packed: list[tuple[str, Replica]] = []
    size = 0
    with directory.location.open() as log_directory:
        if mode is not ScanMode.FAST:
            # The scan of each replica reports what can't be listed.
            with suppress(Unreadable):
                log_directory.list_all()
        for name, replica in replicas:
            packed.append((name, replica))
            if mode is not ScanMode.FAST and not watch.stopped:
                size += measured(log_directory, name, replica, mode)
            if size >= _JOB_BYTES or len(packed) == _JOB_REPLICAS:
                yield Job(directory.location, tuple(packed), size)
                packed, size = [], 0
    if packed:
        yield Job(directory.location, tuple(packed), size)


def measured(log_directory: Folder, name: str, replica: Replica, mode: ScanMode) -> int:
    """Return planned_bytes of the replica; 0 when it can't be read, as the scan itself says why."""
    try:
        with log_directory.folder(name) as folder:
            return planned_bytes(replica_files(folder), replica.recovery_point, mode)
    except Unreadable:
        return 0
