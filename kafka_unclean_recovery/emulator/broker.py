"""One broker: the replicas in its log directory, written as leader and as follower.

Memory and files are kept alike: whatever `Log` is told, the disk is told in the same method.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from uuid import UUID, uuid4

from kafka_unclean_recovery.emulator import log_files as files
from kafka_unclean_recovery.emulator.controller.partition import PartitionRegistration
from kafka_unclean_recovery.emulator.controller.records import TopicIdPartition
from kafka_unclean_recovery.emulator.log import Log, assigned, batches_in
from kafka_unclean_recovery.emulator.replica import Reading, Replica, follow_metadata


class Process(Enum):
    DEAD = "dead"
    RUNNING = "running"
    PAUSED = "paused"
    """Stopped by SIGSTOP: it is connected to, and never answers."""


@dataclass(slots=True)
class Broker:
    """epoch: the broker epoch of this incarnation, -1 before it is registered. want_fence: its
    heartbeats ask to be fenced."""

    id: int
    directory: Path
    directory_id: UUID
    process: Process = Process.DEAD
    incarnation_id: UUID = field(default_factory=uuid4)
    epoch: int = -1
    want_fence: bool = False
    replicas: dict[TopicIdPartition, Replica] = field(default_factory=dict)

    @property
    def running(self) -> bool:
        return self.process is Process.RUNNING

    # Coming and going.

    def boot(self) -> int:
        """Take the clean-shutdown file: the epoch in it, -1 without one (KIP-966, "Detection of an
        unclean shutdown")."""
        self.incarnation_id = uuid4()
        epoch = files.take_clean_shutdown(self.directory)
        return -1 if epoch is None else epoch

    def load(self, topics: Mapping[UUID, str]) -> None:
        """Open the replicas on the disk, and set aside those of topics that are no more."""
        high_watermarks = files.read_high_watermarks(self.directory)
        flushed = files.read_recovery_points(self.directory)
        for topic, number, directory in files.replica_directories(self.directory):
            topic_id = files.topic_id_of(directory)
            if topic_id is None or topics.get(topic_id) != topic:
                files.set_aside(directory)
                continue
            log = files.load_replica(directory)
            key, at = TopicIdPartition(topic_id, number), (topic, number)
            replica = Replica(key, topic, directory, log)
            replica.high_watermark = min(high_watermarks.get(at, 0), log.end_offset)
            replica.flushed = min(flushed.get(at, 0), log.end_offset)
            self.replicas[key] = replica
            files.write_epochs(directory, log.epochs)

    def die(self) -> None:
        """What is in memory is gone; the files stay as they are."""
        self.process, self.epoch, self.want_fence = Process.DEAD, -1, False
        self.replicas = {}

    def lose_unflushed(self) -> None:
        """What a machine loses with its power: records that were never synced."""
        for replica in self.replicas.values():
            self.truncate(replica, replica.flushed)

    def shut_down(self) -> None:
        """What a broker that stops in order leaves behind."""
        self.flush()
        self.checkpoint()
        files.write_clean_shutdown(self.directory, self.epoch)

    def flush(self) -> None:
        for replica in self.replicas.values():
            if replica.flushed < replica.log.end_offset:
                files.flush(replica.directory)
                replica.flushed = replica.log.end_offset

    def checkpoint(self) -> None:
        """Kafka does so every 5 s for high watermarks, every 60 s for recovery points."""
        replicas = self.replicas.values()
        marks = {r.topic_partition: r.high_watermark for r in replicas}
        files.write_high_watermarks(self.directory, marks)
        files.write_recovery_points(
            self.directory, {r.topic_partition: r.flushed for r in replicas}
        )

    # What the controller says.

    def take(
        self, key: TopicIdPartition, topic: str, partition: PartitionRegistration, now: float
    ) -> None:
        """A partition is as `partition` has it now."""
        if self.id not in partition.replicas:
            self.forget([key])
            return
        replica = self.replicas.get(key) or self._create(key, topic)
        known = replica.log.epochs[-1:]
        follow_metadata(replica, self.id, partition, now)
        if replica.log.epochs[-1:] != known:
            files.write_epochs(replica.directory, replica.log.epochs)

    def _create(self, key: TopicIdPartition, topic: str) -> Replica:
        directory = self.directory / f"{topic}-{key.partition}"
        files.create_replica(directory, key.topic_id)
        self.replicas[key] = Replica(key, topic, directory, Log())
        return self.replicas[key]

    def forget(self, keys: Iterable[TopicIdPartition]) -> None:
        """The partitions are deleted, or are elsewhere now."""
        for key in keys:
            replica = self.replicas.pop(key, None)
            if replica is not None:
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
        files.append(replica.directory, data)
        replica.log.append(batches)
        if replica.log.epochs[-1:] != known:
            files.write_epochs(replica.directory, replica.log.epochs)

    def truncate(self, replica: Replica, end_offset: int) -> None:
        """Cut off what lies behind; the high watermark never lies past the end."""
        replica.log.truncate(end_offset)
        end = replica.log.end_offset
        files.truncate(replica.directory, replica.log.size)
        files.write_epochs(replica.directory, replica.log.epochs)
        replica.high_watermark = min(replica.high_watermark, end)
        replica.flushed = min(replica.flushed, end)

    def records(self, replica: Replica, reading: Reading) -> bytes:
        return files.read(replica.directory, *reading.piece)
