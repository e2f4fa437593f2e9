"""A Broker holds the replicas in its log directories and writes them, as leader or as follower.

Memory and files are kept alike: a method that changes a `Log` makes the same change on the disk.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from uuid import UUID, uuid4

from kafka_unclean_recovery.emulator.broker.log import Log, assigned, batches_in
from kafka_unclean_recovery.emulator.broker.replica import Reading, Replica, follow_metadata
from kafka_unclean_recovery.emulator.disks import log_files as files
from kafka_unclean_recovery.emulator.disks.indexes import Entries, final_time, index
from kafka_unclean_recovery.emulator.disks.log_directories import LogDirectory, destroy
from kafka_unclean_recovery.emulator.disks.log_loading import load_replica, reindex
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.kraft_rules.partition import PartitionRegistration
from kafka_unclean_recovery.kraft_rules.records import TopicIdPartition
from kafka_unclean_recovery.kraft_rules.state import UNASSIGNED


class Process(Enum):
    DEAD = "dead"
    RUNNING = "running"
    STARTING = "starting"
    """The broker reads its disks, and no client can connect."""
    PAUSED = "paused"
    """SIGSTOP has stopped the broker: clients can connect, and never get an answer."""


@dataclass(slots=True)
class Broker:
    """One emulated broker process and its disks.

    epoch: the broker epoch of this incarnation, -1 before it is registered. want_fence: the
    broker's heartbeats ask to be fenced; want_shut_down: they ask to be let go. absent: partitions
    that the broker should have a replica of and lacks because a disk failed, each with the error
    code that requests get.
    """

    id: int
    directories: list[LogDirectory]
    process: Process = Process.DEAD
    incarnation_id: UUID = field(default_factory=uuid4)
    epoch: int = -1
    want_fence: bool = False
    want_shut_down: bool = False
    replicas: dict[TopicIdPartition, Replica] = field(default_factory=dict)
    absent: dict[TopicIdPartition, int] = field(default_factory=dict)

    @property
    def running(self) -> bool:
        return self.process is Process.RUNNING

    @property
    def directory(self) -> Path:
        """Return the first directory, which holds the metadata log (metadata.log.dir)."""
        return self.directories[0].path

    @property
    def can_start(self) -> bool:
        """Return whether the broker has the disk that the metadata log is on."""
        return self.directories[0].online

    def online_directory_ids(self) -> tuple[UUID, ...]:
        return tuple(each.id for each in self.directories if each.online and each.id is not None)

    def failed_directory_ids(self) -> tuple[UUID, ...]:
        """Return the ids of the directories that have failed since the broker started."""
        return tuple(each.id for each in self.directories if not each.online and each.id)

    def log_directory_of(self, replica: Replica) -> LogDirectory:
        if len(self.directories) == 1:
            return self.directories[0]
        path = replica.directory.parent
        return next(each for each in self.directories if each.path == path)

    # The methods from here start and stop the broker.

    def boot(self) -> int:
        """Remove the clean-shutdown files and return the broker epoch in them, or -1 when one is
        missing or they differ (KIP-966, "Detection of an unclean shutdown"; LogManager)."""
        self.incarnation_id = uuid4()
        epochs = set()
        for directory in self.directories:
            directory.online = directory.path.is_dir()
            if not directory.online:
                directory.id = None
            directory.stopped_clean = files.stopped_clean(directory.path)
            epochs.add(files.take_clean_shutdown(directory.path) if directory.online else None)
        (epoch,) = epochs if len(epochs) == 1 else {None}
        return -1 if epoch is None else epoch

    def loading(self, topics: Mapping[UUID, str]) -> Iterator[None]:
        """Open the replicas on the disks, one per step, and set aside those of deleted topics. The
        iterator ends early when the process does."""
        begun = self.process, self.incarnation_id
        for directory in self.directories:
            for _ in self._load(directory, topics) if directory.online else ():
                yield
                if (self.process, self.incarnation_id) != begun:
                    return

    def _load(self, home: LogDirectory, topics: Mapping[UUID, str]) -> Iterator[None]:
        high_watermarks = files.read_high_watermarks(home.path)
        flushed = files.read_recovery_points(home.path)
        for topic, number, directory in files.replica_directories(home.path):
            topic_id = files.topic_id_of(directory)
            if topic_id is None or topics.get(topic_id) != topic:
                files.set_aside(directory)
                continue
            log, indexed = load_replica(directory, recover=not home.stopped_clean)
            files.mend_epochs(directory, log.epochs)
            key, at = TopicIdPartition(topic_id, number), (topic, number)
            replica = Replica(key, topic, directory, log, indexed=indexed)
            replica.high_watermark = min(high_watermarks.get(at, 0), log.end_offset)
            replica.flushed = min(flushed.get(at, 0), log.end_offset)
            self.replicas[key] = replica
            home.replicas += 1
            yield

    def die(self) -> None:
        """End the process: its memory is lost, and the files stay as they are."""
        self.process, self.epoch = Process.DEAD, -1
        self.want_fence = self.want_shut_down = False
        self.replicas, self.absent = {}, {}
        for directory in self.directories:
            directory.replicas = 0

    def lose_unflushed(self) -> None:
        """Cut off the records that were never synced, which a machine loses with its power."""
        for replica in self.replicas.values():
            self.truncate(replica, replica.flushed)

    def lose_directory(self, index: int) -> None:
        """Fail a disk, whose replicas can't be used any more (ReplicaManager.handleLogDirFailure).
        The process dies without the metadata log, and so without its last disk."""
        failed = self.directories[index]
        lost = [
            key for key, replica in self.replicas.items() if replica.directory.parent == failed.path
        ]
        destroy(failed)
        for key in lost:
            del self.replicas[key]
            self.absent[key] = Errors.KAFKA_STORAGE_ERROR
        if index == 0:
            self.die()

    def shut_down(self) -> None:
        """Write the files that a broker leaves behind when it stops in order."""
        self.flush()
        self.checkpoint()
        for replica in self.replicas.values():
            replica.indexed, time = final_time(replica.indexed)
            files.append_entries(replica.directory, Entries(times=time))
        for directory in self._online():
            files.write_clean_shutdown(directory.path, self.epoch)

    def flush(self) -> None:
        for replica in self.replicas.values():
            if replica.flushed < replica.log.end_offset:
                files.flush(replica.directory)
                replica.flushed = replica.log.end_offset

    def checkpoint(self) -> None:
        """Write high watermarks and recovery points, as Kafka does every 5 s and every 60 s."""
        for directory in self._online():
            inside = [r for r in self.replicas.values() if self.log_directory_of(r) is directory]
            files.write_high_watermarks(
                directory.path, {r.topic_partition: r.high_watermark for r in inside}
            )
            files.write_recovery_points(
                directory.path, {r.topic_partition: r.flushed for r in inside}
            )

    def _online(self) -> list[LogDirectory]:
        return [directory for directory in self.directories if directory.online]

    # The methods from here carry out what the controller has decided.

    def take(
        self, key: TopicIdPartition, topic: str, partition: PartitionRegistration, now: float
    ) -> None:
        """Take over the state of a partition that the controller has decided on."""
        if self.id not in partition.replicas:
            self.forget([key])
            return
        replica = self.replicas.get(key) or self._create(key, topic, partition)
        if replica is None:
            return
        known = replica.log.epochs[-1:]
        follow_metadata(replica, self.id, partition, now)
        if replica.log.epochs[-1:] != known:
            files.write_epochs(replica.directory, replica.log.epochs)

    def _create(
        self, key: TopicIdPartition, topic: str, partition: PartitionRegistration
    ) -> Replica | None:
        """Create a replica. Return None when the replica may be on a disk that failed."""
        home = self._home(partition.directories[partition.replicas.index(self.id)])
        if home is None or key in self.absent:
            self.absent.setdefault(key, Errors.NOT_LEADER_OR_FOLLOWER)
            return None
        directory = home.path / f"{topic}-{key.partition}"
        files.create_replica(directory, key.topic_id)
        home.replicas += 1
        self.replicas[key] = Replica(key, topic, directory, Log())
        return self.replicas[key]

    def _home(self, assigned: UUID) -> LogDirectory | None:
        """Return the directory of a new replica: the assigned one, else the one with the fewest
        replicas. Return None when the assigned directory may be on a disk that failed
        (Partition.createLogInAssignedDirectoryId, LogManager.nextLogDirs)."""
        online = self._online()
        for directory in online:
            if directory.id == assigned:
                return directory
        if assigned != UNASSIGNED and len(online) < len(self.directories):
            return None
        return min(online, key=lambda directory: directory.replicas)

    def forget(self, keys: Iterable[TopicIdPartition]) -> None:
        """Delete replicas of partitions that are deleted, or that are on other brokers now."""
        for key in keys:
            self.absent.pop(key, None)
            replica = self.replicas.pop(key, None)
            if replica is not None:
                self.log_directory_of(replica).replicas -= 1
                files.delete_replica(replica.directory)

    # The methods from here read and write records.

    def append_as_leader(self, replica: Replica, data: bytes) -> int:
        """Write a producer's batches and return their first offset. Raises BadFormat."""
        base = replica.log.end_offset
        self.append(replica, assigned(data, base, replica.leader_epoch))
        return base

    def append(self, replica: Replica, data: bytes) -> None:
        """Write batches whose offsets are assigned already. Raises BadFormat."""
        batches = batches_in(data, replica.log.size)
        known = replica.log.epochs[-1:]
        replica.indexed, entries = index(replica.indexed, batches, files.BASE_OFFSET)
        files.append(replica.directory, data, entries)
        replica.log.append(batches)
        if replica.log.epochs[-1:] != known:
            files.write_epochs(replica.directory, replica.log.epochs)

    def truncate(self, replica: Replica, end_offset: int) -> None:
        """Remove the batches from `end_offset` on, and lower the high watermark to the log end."""
        replica.log.truncate(end_offset)
        end = replica.log.end_offset
        files.truncate(replica.directory, replica.log.size)
        replica.indexed = reindex(replica.directory, replica.log, final=False)
        files.write_epochs(replica.directory, replica.log.epochs)
        replica.high_watermark = min(replica.high_watermark, end)
        replica.flushed = min(replica.flushed, end)

    def records(self, replica: Replica, reading: Reading) -> bytes:
        return files.read(replica.directory, *reading.piece)
