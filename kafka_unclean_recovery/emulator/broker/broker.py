"""One broker: the replicas in its log directories, written as leader and as follower.

Memory and files are kept alike: whatever `Log` is told, the disk is told in the same method.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from uuid import UUID, uuid4

from kafka_unclean_recovery.emulator.broker.log import Log, assigned, batches_in
from kafka_unclean_recovery.emulator.broker.replica import Reading, Replica, follow_metadata
from kafka_unclean_recovery.emulator.controller.partition import PartitionRegistration
from kafka_unclean_recovery.emulator.controller.records import TopicIdPartition
from kafka_unclean_recovery.emulator.controller.state import UNASSIGNED
from kafka_unclean_recovery.emulator.disks import log_files as files
from kafka_unclean_recovery.emulator.disks.indexes import Entries, final_time, index
from kafka_unclean_recovery.emulator.disks.log_directories import LogDirectory, destroy
from kafka_unclean_recovery.emulator.disks.log_loading import load_replica, reindex
from kafka_unclean_recovery.emulator.error_codes import KAFKA_STORAGE_ERROR, NOT_LEADER_OR_FOLLOWER


class Process(Enum):
    DEAD = "dead"
    RUNNING = "running"
    STARTING = "starting"
    """It reads its disks; nobody can connect."""
    PAUSED = "paused"
    """Stopped by SIGSTOP: it is connected to, and never answers."""


@dataclass(slots=True)
class Broker:
    """epoch: the broker epoch of this incarnation, -1 before it is registered. want_fence: its
    heartbeats ask to be fenced. absent: partitions that it is to have a replica of and has none,
    because of a disk that failed, each with the error that requests get."""

    id: int
    directories: list[LogDirectory]
    process: Process = Process.DEAD
    incarnation_id: UUID = field(default_factory=uuid4)
    epoch: int = -1
    want_fence: bool = False
    replicas: dict[TopicIdPartition, Replica] = field(default_factory=dict)
    absent: dict[TopicIdPartition, int] = field(default_factory=dict)

    @property
    def running(self) -> bool:
        return self.process is Process.RUNNING

    @property
    def directory(self) -> Path:
        """The first, which holds the metadata log (metadata.log.dir)."""
        return self.directories[0].path

    @property
    def can_start(self) -> bool:
        """It has the disk that the metadata log is on."""
        return self.directories[0].online

    def online_directory_ids(self) -> tuple[UUID, ...]:
        return tuple(each.id for each in self.directories if each.online and each.id is not None)

    def failed_directory_ids(self) -> tuple[UUID, ...]:
        """Of those that failed since it started."""
        return tuple(each.id for each in self.directories if not each.online and each.id)

    def log_directory_of(self, replica: Replica) -> LogDirectory:
        if len(self.directories) == 1:
            return self.directories[0]
        path = replica.directory.parent
        return next(each for each in self.directories if each.path == path)

    # Coming and going.

    def boot(self) -> int:
        """Take the clean-shutdown files: the epoch in them, -1 when one is missing or they differ
        (KIP-966, "Detection of an unclean shutdown"; LogManager)."""
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
        """Open the replicas on the disks, one a step, and set aside those of topics that are no
        more. It ends before the end when the process does."""
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
        """What is in memory is gone; the files stay as they are."""
        self.process, self.epoch, self.want_fence = Process.DEAD, -1, False
        self.replicas, self.absent = {}, {}
        for directory in self.directories:
            directory.replicas = 0

    def lose_unflushed(self) -> None:
        """What a machine loses with its power: records that were never synced."""
        for replica in self.replicas.values():
            self.truncate(replica, replica.flushed)

    def lose_directory(self, index: int) -> None:
        """The disk fails: its replicas can't be used any more (ReplicaManager.handleLogDirFailure).
        Without the metadata log, and so without the last disk, the process dies."""
        failed = self.directories[index]
        lost = [
            key for key, replica in self.replicas.items() if replica.directory.parent == failed.path
        ]
        destroy(failed)
        for key in lost:
            del self.replicas[key]
            self.absent[key] = KAFKA_STORAGE_ERROR
        if index == 0:
            self.die()

    def shut_down(self) -> None:
        """What a broker that stops in order leaves behind."""
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
        """Kafka does so every 5 s for high watermarks, every 60 s for recovery points."""
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

    # What the controller says.

    def take(
        self, key: TopicIdPartition, topic: str, partition: PartitionRegistration, now: float
    ) -> None:
        """A partition is as `partition` has it now."""
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
        """None when the replica may be on a disk that failed."""
        home = self._home(partition.directories[partition.replicas.index(self.id)])
        if home is None or key in self.absent:
            self.absent.setdefault(key, NOT_LEADER_OR_FOLLOWER)
            return None
        directory = home.path / f"{topic}-{key.partition}"
        files.create_replica(directory, key.topic_id)
        home.replicas += 1
        self.replicas[key] = Replica(key, topic, directory, Log())
        return self.replicas[key]

    def _home(self, assigned: UUID) -> LogDirectory | None:
        """Where a new replica goes: as the controller has it, else to the directory with the least
        replicas; nowhere when the one assigned may be a disk that failed
        (Partition.createLogInAssignedDirectoryId, LogManager.nextLogDirs)."""
        online = self._online()
        for directory in online:
            if directory.id == assigned:
                return directory
        if assigned != UNASSIGNED and len(online) < len(self.directories):
            return None
        return min(online, key=lambda directory: directory.replicas)

    def forget(self, keys: Iterable[TopicIdPartition]) -> None:
        """The partitions are deleted, or are elsewhere now."""
        for key in keys:
            self.absent.pop(key, None)
            replica = self.replicas.pop(key, None)
            if replica is not None:
                self.log_directory_of(replica).replicas -= 1
                files.delete_replica(replica.directory)

    # Records.

    def append_as_leader(self, replica: Replica, data: bytes) -> int:
        """Write what a producer sent; the first offset that it got. Raises BadFormat."""
        base = replica.log.end_offset
        self.append(replica, assigned(data, base, replica.leader_epoch))
        return base

    def append(self, replica: Replica, data: bytes) -> None:
        """Write batches that have their offsets. Raises BadFormat."""
        batches = batches_in(data, replica.log.size)
        known = replica.log.epochs[-1:]
        replica.indexed, entries = index(replica.indexed, batches, files.BASE_OFFSET)
        files.append(replica.directory, data, entries)
        replica.log.append(batches)
        if replica.log.epochs[-1:] != known:
            files.write_epochs(replica.directory, replica.log.epochs)

    def truncate(self, replica: Replica, end_offset: int) -> None:
        """Cut off what lies behind; the high watermark never lies past the end."""
        replica.log.truncate(end_offset)
        end = replica.log.end_offset
        files.truncate(replica.directory, replica.log.size)
        replica.indexed = reindex(replica.directory, replica.log, final=False)
        files.write_epochs(replica.directory, replica.log.epochs)
        replica.high_watermark = min(replica.high_watermark, end)
        replica.flushed = min(replica.flushed, end)

    def records(self, replica: Replica, reading: Reading) -> bytes:
        return files.read(replica.directory, *reading.piece)
