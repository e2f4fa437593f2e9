"""Hold the state that a copy of the metadata log has against brokers' data on disk: replicas there
tell of records of the metadata log that the copy lacks.

A broker creates a replica, raises its leader epoch and deletes it only after it has read so in the
metadata log. So a topic on a disk that the copy does not know, a leader epoch above the copy's, and
a replica to be deleted that the copy still has are each a sign of a gap.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kafka_unclean_recovery.log_dir.directory_names import (
    DirectoryKind,
    PartitionDirectory,
    parse_partition_directory,
)
from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.metadata.image import MetadataImage, PartitionRegistration
from kafka_unclean_recovery.log_dir.small_files.checkpoints import (
    LEADER_EPOCHS,
    parse_leader_epochs,
)
from kafka_unclean_recovery.log_dir.small_files.properties_files import (
    META_PROPERTIES,
    PARTITION_METADATA,
    parse_meta_properties,
    parse_partition_metadata,
)
from kafka_unclean_recovery.log_dir.tree import Folder, Location, Unreadable
from kafka_unclean_recovery.model import ReplicaInfo


@dataclass(frozen=True, slots=True)
class Signs:
    """ahead: sentences on what shows that the copy lacks records. strays: of replicas that the copy
    knows and has elsewhere, which a broker puts aside at its start. problems: of what could not be
    read. replicas: how many were looked at."""

    ahead: tuple[str, ...]
    strays: tuple[str, ...]
    problems: tuple[str, ...]
    replicas: int


@dataclass(slots=True)
class _Signs:
    image: MetadataImage
    ahead: list[str]
    strays: list[str]
    problems: list[str]
    replicas: int = 0


def signs_of(directories: Iterable[Location], image: MetadataImage) -> Signs:
    """Look at the replicas in these log directories."""
    found = _Signs(image, [], [], [])
    for location in directories:
        try:
            with location.open() as folder:
                _look(location, folder, found)
        except (BadFormat, Unreadable) as error:
            found.problems.append(f"{location}: {error}")
    return Signs(tuple(found.ahead), tuple(found.strays), tuple(found.problems), found.replicas)


def signs_of_scan(info: ReplicaInfo, image: MetadataImage) -> Signs:
    """Hold the replicas that `scan-log-dirs` found against the copy; directories that are to be
    deleted are not told by a scan."""
    found = _Signs(image, [], [], list(info.problems))
    for part in info.partitions:
        for log in part.replica_logs:
            if log.scanned is None or log.scanned.topic_id is None:
                continue
            found.replicas += 1
            topic_id = uuid.UUID(log.scanned.topic_id)
            known = image.partitions.get(topic_id, {}).get(part.topic_partition.partition)
            where = f"{log.scanned.directory} of broker {log.broker}"
            newest = log.epochs[-1].epoch if log.epochs else log.last_written_leader_epoch
            _judge_live(where, log.broker, topic_id, known, newest, found)
    return Signs(tuple(found.ahead), tuple(found.strays), tuple(found.problems), found.replicas)


def joined(signs: Sequence[Signs]) -> Signs:
    return Signs(
        tuple(each for one in signs for each in one.ahead),
        tuple(each for one in signs for each in one.strays),
        tuple(each for one in signs for each in one.problems),
        sum(one.replicas for one in signs),
    )


def _look(location: Location, folder: Folder, found: _Signs) -> None:
    data = folder.read_whole(META_PROPERTIES)
    if data is None:
        raise Unreadable(f"{META_PROPERTIES}: there is none")
    broker = parse_meta_properties(data).node_id
    for entry in folder.entries():
        parsed = parse_partition_directory(entry.name) if entry.is_directory else None
        if parsed is None or parsed.is_cluster_metadata:
            continue
        found.replicas += 1
        try:
            with folder.folder(entry.name) as replica:
                _judge(f"{location}/{entry.name}", broker, parsed, replica, found)
        except (BadFormat, Unreadable) as error:
            found.problems.append(f"{location}/{entry.name}: {error}")


def _judge(
    where: str, broker: int, directory: PartitionDirectory, replica: Folder, found: _Signs
) -> None:
    data = replica.read_whole(PARTITION_METADATA)
    if data is None:
        # A broker that is killed may not have flushed it yet: no sign of anything.
        return
    topic_id = uuid.UUID(parse_partition_metadata(data))
    number = directory.topic_partition.partition
    known = found.image.partitions.get(topic_id, {}).get(number)
    if directory.kind is DirectoryKind.DELETED:
        if known is not None and broker in known.replicas:
            found.ahead.append(f"{where} is to be deleted, and the copy has it as a replica")
    elif directory.kind is DirectoryKind.LIVE:
        _judge_live(where, broker, topic_id, known, _newest_epoch(replica), found)


def _judge_live(
    where: str,
    broker: int,
    topic_id: uuid.UUID,
    known: PartitionRegistration | None,
    newest_epoch: int | None,
    found: _Signs,
) -> None:
    if known is None:
        found.ahead.append(f"{where} is of topic id {topic_id}, which the copy does not have")
        return
    if broker not in known.replicas:
        found.strays.append(f"{where}: the copy has this partition on {list(known.replicas)}")
    if newest_epoch is not None and newest_epoch > known.leader_epoch:
        found.ahead.append(
            f"{where} has seen leader epoch {newest_epoch}, and the copy {known.leader_epoch}"
        )


def _newest_epoch(replica: Folder) -> int | None:
    data = replica.read_whole(LEADER_EPOCHS)
    epochs = () if data is None else parse_leader_epochs(data)
    return epochs[-1][0] if epochs else None


def shortened(sentences: Sequence[str], most: int = 5) -> Iterator[str]:
    """Yield the first sentences, and one on how many more there are."""
    yield from sentences[:most]
    if len(sentences) > most:
        yield f"and {len(sentences) - most} more"
