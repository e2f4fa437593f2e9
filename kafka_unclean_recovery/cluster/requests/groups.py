"""Read groups that commit offsets as their coordinators have them, by ListGroups and OffsetFetch.

A group whose partition of __consumer_offsets has no leader is left out in silence, and so is a
group that the caller may not describe.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_unclean_recovery.cluster.requests.asking import by_topic
from kafka_unclean_recovery.cluster.requests.describe import RequestFailed
from kafka_unclean_recovery.cluster.wire.api import Message
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.layout import uuid_text
from kafka_unclean_recovery.cluster.wire.log_apis import LIST_GROUPS, OFFSET_FETCH
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.model import Commit, PartitionState, TopicPartition

_MANY_GROUPS, _BY_TOPIC_ID = 8, 10
_NO_COMMIT = -1
_SHARE = "share"


def without_leader(topic: str, partitions: Sequence[PartitionState]) -> str | None:
    """Return "2 of 3 partitions of ...", or None when all partitions have a leader. The groups of a
    partition without a leader are left out of answers in silence."""
    offline = sum(p.offline for p in partitions)
    return f"{offline} of {len(partitions)} partitions of {topic}" if offline else None


@dataclass(frozen=True, slots=True)
class Committed:
    """The commits that were read. errors: Kafka's error code by group."""

    commits: tuple[Commit, ...]
    errors: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Listed:
    """The groups that one broker coordinates. share: those of KIP-932, which commit no offsets."""

    committing: tuple[str, ...]
    share: tuple[str, ...]


async def list_by_kind(connection: Connection, deadline: Deadline) -> Listed:
    """Return the groups that one broker coordinates. Raises RequestFailed."""
    answer = await connection.request(Message(LIST_GROUPS, {}), deadline)
    if answer["error_code"] != Errors.NONE:
        raise RequestFailed("ListGroups", answer["error_code"])
    kinds = {g["group_id"]: (g["group_type"] or "").lower() for g in answer["groups"]}
    share = tuple(sorted(group for group, kind in kinds.items() if kind == _SHARE))
    return Listed(tuple(sorted(kinds.keys() - set(share))), share)


async def committed(
    connection: Connection,
    groups: Sequence[str],
    wanted: Sequence[TopicPartition],
    deadline: Deadline,
) -> Committed:
    """Return what groups committed for these partitions. `wanted` is sorted by topic."""
    version = connection.version_for(OFFSET_FETCH, at_most=_BY_TOPIC_ID - 1)
    topics = [
        {"name": name, "partition_indexes": [tp.partition for tp in of_topic]}
        for name, of_topic in by_topic(wanted)
    ]
    names = {tp.topic: tp.topic for tp in wanted}
    requests = _requests(groups, topics, version)
    return await _fetch(connection, requests, names, version, deadline)


async def committed_to(
    connection: Connection, groups: Sequence[str], topics: Mapping[str, str], deadline: Deadline
) -> Committed:
    """Return what groups committed for any partition of these topics; a topic that a group did not
    read is missing. topics: names by topic id. Where brokers tell ids (4.1 and newer), commits for
    an earlier topic of the same name are left out."""
    version = connection.version_for(OFFSET_FETCH)
    by_id = version is not None and version >= _BY_TOPIC_ID
    names = topics if by_id else {name: name for name in topics.values()}
    requests = _requests(groups, None, version)
    return await _fetch(connection, requests, names, version, deadline)


async def _fetch(
    connection: Connection,
    requests: Iterable[Message],
    names: Mapping[str, str],
    version: int | None,
    deadline: Deadline,
) -> Committed:
    """Send the requests and join the answers. names: the wanted topics, by the name or id that the
    answer has for them."""
    commits: list[Commit] = []
    errors: dict[str, int] = {}
    for message in requests:
        answer = await connection.request(message, deadline, version=version)
        for group, told in _by_group(answer, message, version):
            if told["error_code"] != Errors.NONE:
                errors[group] = told["error_code"]
            commits += _commits(group, told["topics"], names, errors)
    return Committed(tuple(commits), errors)


def _requests(
    groups: Sequence[str], topics: list[dict[str, Any]] | None, version: int | None
) -> Iterable[Message]:
    """Return one request for all groups where brokers take that (3.0 and newer), else one for each
    group. topics: None for all topics that the groups committed to."""
    every = [{"group_id": group, "topics": topics} for group in groups]
    if version is not None and version < _MANY_GROUPS:
        return [Message(OFFSET_FETCH, fields) for fields in every]
    return [Message(OFFSET_FETCH, {"groups": every})] if every else []


def _by_group(
    answer: Mapping[str, Any], message: Message, version: int | None
) -> Iterable[tuple[str, Mapping[str, Any]]]:
    if version is not None and version < _MANY_GROUPS:
        return [(message.fields["group_id"], answer)]
    return [(told["group_id"], told) for told in answer["groups"]]


def _commits(
    group: str,
    topics: Iterable[Mapping[str, Any]],
    names: Mapping[str, str],
    errors: dict[str, int],
) -> Iterable[Commit]:
    for topic in topics:
        name = names.get(topic["name"] or uuid_text(topic["topic_id"]))
        for p in topic["partitions"] if name is not None else ():
            if p["error_code"] != Errors.NONE:
                errors[group] = p["error_code"]
            elif name is not None and p["committed_offset"] != _NO_COMMIT:
                epoch = p["committed_leader_epoch"]
                tp = TopicPartition(name, p["partition_index"])
                yield Commit(group, tp, p["committed_offset"], epoch if epoch >= 0 else None)
