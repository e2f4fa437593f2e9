"""The disk of one broker that is not running, as values; no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import PurePath

from kafka_unclean_recovery.log_dir.directory_names import DirectoryKind
from kafka_unclean_recovery.model import ReplicaInfo, ReplicaLog, TopicPartition


@dataclass(frozen=True, slots=True)
class OwnReplica:
    """A replica's directory on the broker's disk, or where the metadata puts one that is not there.

    directory: fit to print. topic_id: from partition.metadata, None without one; `nameless` is why
    it can't be told, None where it can. log: None for a directory that is not in use. compacted:
    there may be gaps between its offsets, so that its counts are at most. offline: why its log
    directory goes offline at the start, and stays as it is; None where it does not. gone: the
    metadata puts it here, and it is not: why that is sure. not_given: the same where it may be in a
    log directory that was not given. replaced_by: the log of its copy in another log directory,
    which the start puts in its place; None where none does.
    """

    topic_partition: TopicPartition
    kind: DirectoryKind
    directory: str
    topic_id: str | None = None
    nameless: str | None = None
    log: ReplicaLog | None = None
    compacted: bool = False
    offline: str | None = None
    gone: str | None = None
    not_given: str | None = None
    replaced_by: ReplicaLog | None = None

    @property
    def log_dir(self) -> str:
        return str(PurePath(self.directory).parent)


class Moment(Enum):
    """When in a start a log directory goes offline. UNREAD: before any of its logs is loaded.
    LOADED: with them. TAKEN: once its replicas are taken into use."""

    UNREAD = auto()
    LOADED = auto()
    TAKEN = auto()


@dataclass(frozen=True, slots=True)
class GoesOffline:
    moment: Moment
    why: str


@dataclass(frozen=True, slots=True)
class Layout:
    """The broker's replicas on its log directories, as its own metadata log has them.

    assigned: the directory's id by partition. directories: the ones that were given, by id. whole:
    these are all that the broker has. missing: ids of others that it registered. left_out: names of
    replicas that are no directories, and so were not read. topics: all that this metadata log has.
    offline: those that go offline at the start, by path, as not each has an id: nothing is begun
    empty there. unassigned: the controller was not told yet where it is (DirectoryId.UNASSIGNED).
    """

    assigned: Mapping[TopicPartition, str] = field(default_factory=dict)
    directories: Mapping[str, str] = field(default_factory=dict)
    whole: bool = False
    missing: tuple[str, ...] = ()
    left_out: frozenset[str] = frozenset()
    topics: frozenset[str] = frozenset()
    offline: Mapping[str, GoesOffline] = field(default_factory=dict)
    unassigned: frozenset[TopicPartition] = frozenset()

    def home(self, partition: TopicPartition) -> str | None:
        """Return the path of the directory that the metadata puts it into; None where it names
        none, or one that was not given."""
        return self.directories.get(self.assigned.get(partition, ""))

    def moment(self, path: str) -> Moment | None:
        """Return when the directory goes offline, None where it does not."""
        goes = self.offline.get(path)
        return None if goes is None else goes.moment


@dataclass(frozen=True, slots=True)
class OwnDisk:
    """The log directories of one broker.

    stopped_clean: the controller will count the broker's last stop as clean, if nothing but that
    broker has registered since. refused: why the broker will not start with these directories, None
    where nothing here keeps it from starting; `refused_late`: it ends only while it loads its logs,
    of which it recovers some before. unsettled: why its start can't be foretold yet. info:
    the broker's own metadata log, without replicas. problems: what could not be read. zookeeper:
    the broker last ran on ZooKeeper. metadata_cut: its metadata log is damaged at the end; a node
    that is a broker alone cuts that off at its start, and fetches it anew, before it loads any log.
    """

    broker: int
    cluster_id: str | None
    directories: tuple[str, ...]
    replicas: tuple[OwnReplica, ...]
    stopped_clean: bool
    info: ReplicaInfo
    refused: str | None = None
    refused_late: bool = False
    unsettled: str | None = None
    problems: tuple[str, ...] = ()
    interrupted: bool = False
    layout: Layout = field(default_factory=Layout)
    zookeeper: bool = False
    metadata_cut: str | None = None


def wanted_of(replicas: Iterable[OwnReplica]) -> list[TopicPartition]:
    """Return the partitions whose state decides what becomes of the replicas, sorted."""
    in_use = (DirectoryKind.LIVE, DirectoryKind.FUTURE)
    return sorted({each.topic_partition for each in replicas if each.kind in in_use})
