"""The data directory of a twin is written as if its cluster had lived and died in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID, uuid4

from kafka_unclean_recovery.emulator.broker.log import batches_in
from kafka_unclean_recovery.emulator.disks import log_files as files
from kafka_unclean_recovery.emulator.disks.indexes import NOTHING_INDEXED, index
from kafka_unclean_recovery.emulator.disks.log_directories import log_directories
from kafka_unclean_recovery.emulator.disks.metadata_log import MetadataLog
from kafka_unclean_recovery.emulator.disks.metadata_replicas import first_offset
from kafka_unclean_recovery.emulator.twin import Twin, TwinLog, TwinPartition
from kafka_unclean_recovery.kraft_rules import records as rec
from kafka_unclean_recovery.kraft_rules.records import NO_LEADER, Record, TopicIdPartition
from kafka_unclean_recovery.kraft_rules.releases import RELEASES
from kafka_unclean_recovery.log_dir.metadata.encoding import encode_batch

_VALUE = b"made up"


@dataclass(frozen=True, slots=True)
class Origin:
    """What a twin is of. made_at_ms: when it was planned, in ms since the Unix epoch, which is the
    time of all its records. release: a name of RELEASES."""

    cluster_id: str
    made_at_ms: int
    release: str


def write_twin(directory: Path, twin: Twin, origin: Origin) -> None:
    """Write the data directory, which `open_cluster` continues. Raises OSError, and ValueError
    where a cluster is in it."""
    log = MetadataLog(directory / "controller" / "metadata.jsonl")
    if log.header() is not None:
        raise ValueError(f"{directory} holds a cluster already; name another directory")
    directory.mkdir(parents=True, exist_ok=True)
    homes = {id_: _home(directory, id_, twin, origin) for id_ in twin.brokers}
    epochs = _broker_epochs(twin, origin)
    log.create(origin.cluster_id, origin.release)
    log.append(list(_records(twin, homes, epochs)))
    for id_ in twin.running:
        home = directory / f"broker-{id_}"
        _write_disk(home, id_, twin.partitions, origin.made_at_ms)
        if id_ in epochs:
            files.write_clean_shutdown(home, epochs[id_])


def _home(directory: Path, broker: int, twin: Twin, origin: Origin) -> UUID:
    """Return the id of the broker's first log directory. It is there only where the broker is to
    run, and its second one has failed."""
    if broker not in twin.running:
        (directory / f"broker-{broker}").touch()
        return uuid4()
    for number in range(1, twin.log_directories):
        (directory / f"broker-{broker}-disk-{number}").touch()
    disks = log_directories(directory, broker, twin.log_directories, origin.cluster_id)
    assert disks[0].id is not None
    return disks[0].id


def _records(twin: Twin, homes: Mapping[int, UUID], epochs: Mapping[int, int]) -> Iterator[Record]:
    """Yield what the controller decided, as a snapshot has it."""
    for id_, epoch in epochs.items():
        yield rec.RegisterBrokerRecord(id_, uuid4(), epoch, (homes[id_],))
    topics = {each.topic: each.topic_id for each in twin.partitions}
    for name, topic_id in topics.items():
        yield rec.TopicRecord(name, topic_id)
    for partition in twin.partitions:
        yield from _partition(partition, homes)
    for topic, configs in twin.configs.items():
        for key, value in configs.items():
            yield rec.ConfigRecord(topic, key, value)


def _broker_epochs(twin: Twin, origin: Origin) -> Mapping[int, int]:
    """Return the broker epochs, each the offset of the broker's registration."""
    registered = [id_ for id_ in twin.brokers if id_ not in twin.unregistered]
    return dict(zip(registered, range(first_offset(RELEASES[origin.release]), 2**31), strict=False))


def _partition(partition: TwinPartition, homes: Mapping[int, UUID]) -> Iterator[Record]:
    key = TopicIdPartition(partition.topic_id, partition.partition)
    directories = tuple(
        uuid4() if id_ in partition.lost else homes[id_] for id_ in partition.replicas
    )
    epoch = partition.leader_epoch
    yield rec.PartitionRecord(
        key, partition.replicas, directories, partition.isr, NO_LEADER, epoch, epoch
    )
    if partition.elr or partition.last_known_elr:
        yield rec.PartitionChangeRecord(
            key, elr=partition.elr, last_known_elr=partition.last_known_elr
        )


def _write_disk(home: Path, broker: int, partitions: Iterable[TwinPartition], time_ms: int) -> None:
    """Write the replicas of a broker, and its checkpoints."""
    ends: dict[tuple[str, int], int] = {}
    known: dict[tuple[str, int], int] = {}
    for partition in partitions:
        log = partition.logs.get(broker)
        if log is None:
            continue
        at = (partition.topic, partition.partition)
        directory = home / f"{partition.topic}-{partition.partition}"
        files.create_replica(directory, partition.topic_id)
        ends[at] = _write_log(directory, log, time_ms)
        known[at] = min(log.high_watermark, ends[at])
    files.write_high_watermarks(home, known)
    files.write_recovery_points(home, ends)


def _write_log(directory: Path, log: TwinLog, time_ms: int) -> int:
    """Write a log and return its end, exclusive."""
    data = b"".join(
        encode_batch([(None, _VALUE)], 0, offset, epoch, time_ms) for epoch, offset in log.records
    )
    _, entries = index(NOTHING_INDEXED, batches_in(data), files.BASE_OFFSET)
    files.append(directory, data, entries)
    files.write_epochs(directory, log.epochs)
    return log.records[-1][1] + 1 if log.records else 0
