"""Salvaged records of __consumer_offsets are decoded into the commits that they are; no I/O.

Source: OffsetCommitKey and OffsetCommitValue of org.apache.kafka.coordinator.group, versions 0 to 1
and 0 to 4.
"""

from __future__ import annotations

import struct
from base64 import urlsafe_b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kafka_unclean_recovery.cluster.wire.layout import (
    INT16,
    INT32,
    INT64,
    TEXT,
    UUID,
    Field,
    Row,
    reader,
)
from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.salvage.replay.records import Fate, SavedRecord, fate

_KEY = Row((Field("group", TEXT), Field("topic", TEXT), Field("partition", INT32)))
_VALUE = Row(
    (
        Field("offset", INT64),
        Field("leader_epoch", INT32, since=3, default=-1),
        Field("metadata", TEXT),
        Field("committed_at", INT64),
        Field("expires_at", INT64, since=1, until=1, default=-1),
        Field("topic_id", UUID, since=4, tag=0),
    )
)
# Keys of later versions are of groups themselves.
_NEWEST_KEY, _NEWEST_VALUE, _FLEXIBLE_VALUE = 1, 4, 4
_VERSION = reader(INT16, 0, flexible=False)


@dataclass(frozen=True, slots=True)
class SavedCommit:
    """A commit as a record says it. offset: the next one that the group reads, None where the
    record deletes the commit. committed_at: ms since 1970. saved_at: the offset of the record in
    its partition of __consumer_offsets. topic_id: as Kafka writes it, None where the record does
    not tell, as before 4.1."""

    group: str
    topic_partition: TopicPartition
    offset: int | None
    leader_epoch: int | None
    metadata: str
    committed_at: int | None
    saved_at: int
    topic_id: str | None = None


def newest_commits(records: Iterable[SavedRecord], source: str) -> list[SavedCommit]:
    """Return the newest commit of each group for each partition, by group and partition.

    records: in the order of their log. Only what is settled counts, as in a coordinator. Raises
    InputError, which names `source`, at a record that is no record of __consumer_offsets.
    """
    newest: dict[tuple[str, TopicPartition], SavedCommit] = {}
    for record in records:
        commit = commit_of(record, source) if fate(record) is Fate.SETTLED else None
        if commit is not None:
            newest[commit.group, commit.topic_partition] = commit
    return [commit for _, commit in sorted(newest.items())]


def commit_of(record: SavedRecord, source: str) -> SavedCommit | None:
    """Return the commit that a record is; None for a record on a group itself. Raises InputError,
    which names `source`."""
    try:
        key = _key(record.key or b"")
        if key is None:
            return None
        value = None if record.value is None else _value(record.value)
    except (struct.error, ValueError, IndexError) as error:
        raise InputError(
            f"{source}: offset {record.offset} is no record of __consumer_offsets ({error}); leave"
            " the partition out"
        ) from None
    where = TopicPartition(key["topic"], key["partition"])
    if value is None:
        return SavedCommit(key["group"], where, None, None, "", None, record.offset)
    epoch = value["leader_epoch"]
    return SavedCommit(
        key["group"],
        where,
        value["offset"],
        None if epoch < 0 else epoch,
        value["metadata"],
        value["committed_at"],
        record.offset,
        _topic_id(value["topic_id"]),
    )


def _topic_id(told: bytes | None) -> str | None:
    return None if not told or not any(told) else urlsafe_b64encode(told).decode().rstrip("=")


def _key(data: bytes) -> dict[str, Any] | None:
    version, at = _VERSION(data, 0)
    if version > _NEWEST_KEY:
        return None
    return _whole(reader(_KEY, version, flexible=False)(data, at), data)


def _value(data: bytes) -> dict[str, Any]:
    version, at = _VERSION(data, 0)
    if not 0 <= version <= _NEWEST_VALUE:
        raise ValueError(f"its value is of version {version}")
    flexible = version >= _FLEXIBLE_VALUE
    return _whole(reader(_VALUE, version, flexible=flexible)(data, at), data)


def _whole(read: tuple[Any, int], data: bytes) -> dict[str, Any]:
    value, end = read
    if end != len(data):
        raise ValueError(f"{len(data) - end} bytes too many")
    found: dict[str, Any] = value
    return found
