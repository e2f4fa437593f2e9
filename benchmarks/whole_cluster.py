"""The disks of a whole cluster that is down: many small replicas, which share their files.

Their data is read from few blocks of the disk, so this is for what a replica costs, not a byte.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path

from kafka_unclean_recovery.log_dir.metadata.encoding import encode_batch
from kafka_unclean_recovery.log_dir.small_files.properties_files import kafka_uuid
from tests.log_dir.cluster_metadata_encoder import partition, register, topic
from tests.log_dir.replica_directories import Log, Segment, replica_files, write_files
from tests.log_dir.segments import checkpoint, v2
from tests.metadata_quorum.disks import (
    METADATA,
    NOBODY,
    SEGMENT,
    TIME_MS,
    Batches,
    static_log,
    write_node,
)

REPLICAS, COPIES = 300, 3
"""Of a broker, and of a partition."""
PARTITIONS_OF_A_TOPIC = 100
# ext4 gives a file 65,000 names at most.
_BROKERS_THAT_SHARE = 100
_BATCH_RECORDS = 5
# Without its brokers and its topic.
_HEAD = Batches(static_log().parts[:2])
_RECORDS = 10 * _BATCH_RECORDS


def write_cluster(top: Path, brokers: int) -> list[Path]:
    """Write a log directory for each broker, and return them. Of each tenth partition one replica
    has a batch more than the others."""
    shared = top.with_name(f"{top.name}-shared")
    topics = _topics(shared, brokers * REPLICAS // COPIES)
    metadata = shared / SEGMENT
    metadata.write_bytes(b"".join(_metadata(topics, brokers)))
    return [_write_broker(top, broker, brokers, topics, shared) for broker in range(brokers)]


def _topics(shared: Path, partitions: int) -> dict[int, Path]:
    """Return the partition.metadata of each topic, by its number."""
    made = {}
    for number in range(-(-partitions // PARTITIONS_OF_A_TOPIC)):
        text = f"version: 0\ntopic_id: {kafka_uuid(_topic_id(number))}"
        file = f"partition.metadata-{number}"
        write_files(shared, {file: text.encode()})
        made[number] = shared / file
    return made


def _topic_id(number: int) -> uuid.UUID:
    return uuid.UUID(int=5000 + number)


def _metadata(topics: Iterable[int], brokers: int) -> Iterator[bytes]:
    """Yield the batches of the metadata log; a topic is one."""
    registered = tuple(register(1 + number, 10 + number, at=NOBODY) for number in range(brokers))
    head = _HEAD.and_then(1, *registered)
    yield from head.encoded()
    end = head.end
    for number in topics:
        id_ = _topic_id(number)
        first = number * PARTITIONS_OF_A_TOPIC
        places = range(first, first + PARTITIONS_OF_A_TOPIC)
        values = [topic(f"topic-{number:05}", id_)]
        values += [
            partition(place - first, _brokers_of(place, brokers), topic_id=id_) for place in places
        ]
        yield encode_batch([(None, value) for value in values], 0, end, 1, TIME_MS)
        end += len(values)


def _brokers_of(place: int, brokers: int) -> list[int]:
    """Return who has the partition at this place of all."""
    return [(place + copy) % brokers + 1 for copy in range(COPIES)]


def _write_broker(
    top: Path, broker: int, brokers: int, topics: dict[int, Path], shared: Path
) -> Path:
    home = write_node(top, broker + 1, _HEAD)
    (home / METADATA / SEGMENT).unlink()
    (home / METADATA / SEGMENT).hardlink_to(shared / SEGMENT)
    short, long = (
        _template(shared / f"{broker // _BROKERS_THAT_SHARE}-{more}", _RECORDS + more)
        for more in (0, _BATCH_RECORDS)
    )
    ends = {}
    for place, copy in _held(broker, brokers):
        number, index = divmod(place, PARTITIONS_OF_A_TOPIC)
        ahead = place % 10 == 0 and copy == 1
        ends[f"topic-{number:05} {index}"] = _RECORDS + _BATCH_RECORDS * ahead
        _link(home / f"topic-{number:05}-{index}", long if ahead else short, topics[number])
    high = [f"{name} {_RECORDS}" for name in ends]
    zero = checkpoint(*(f"{name} 0" for name in ends))
    write_files(
        home,
        {
            "replication-offset-checkpoint": checkpoint(*high),
            "recovery-point-offset-checkpoint": zero,
            "log-start-offset-checkpoint": zero,
        },
    )
    return home


def _held(broker: int, brokers: int) -> Iterator[tuple[int, int]]:
    """Yield the place of each partition that the broker has a replica of, and which replica."""
    for turn in range(REPLICAS // COPIES):
        for copy in range(COPIES):
            yield (broker - copy) % brokers + turn * brokers, copy


def _template(home: Path, records: int) -> list[Path]:
    """Return the files that replicas share, made where they are not."""
    batches = (v2(base, _BATCH_RECORDS, body=bytes(300)) for base in range(0, records, 5))
    files = replica_files(Log("", (Segment(0, tuple(batches)),), ((0, 0),)))
    del files["partition.metadata"]
    if not home.exists():
        write_files(home, files)
    return [home / name for name in files]


def _link(replica: Path, files: list[Path], topic_file: Path) -> None:
    replica.mkdir()
    for file in files:
        (replica / file.name).hardlink_to(file)
    (replica / "partition.metadata").hardlink_to(topic_file)
