"""Consumer groups as their coordinators have them: ListGroups and OffsetFetch.

A group whose partition of __consumer_offsets has no leader is left out in silence, and so is one
that the caller may not describe.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka.protocol.admin.groups import ListGroupsRequest
from kafka.protocol.consumer.group import OffsetFetchRequest

from kafka_unclean_recovery.cluster.connection import Connection
from kafka_unclean_recovery.cluster.describe import RequestFailed
from kafka_unclean_recovery.cluster.error_codes import NONE
from kafka_unclean_recovery.cluster.replica_probe import by_topic
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.model import Commit, TopicPartition

# From 10 on topics have ids in place of names.
_FETCH_VERSION = 9
_MANY_GROUPS = 8
_NO_COMMIT = -1


@dataclass(frozen=True, slots=True)
class Committed:
    """errors: Kafka's code, by the group that it is of."""

    commits: tuple[Commit, ...]
    errors: Mapping[str, int]


async def list_groups(connection: Connection, deadline: Deadline) -> list[str]:
    """The groups that one broker coordinates. Raises RequestFailed."""
    version = connection.version_for(ListGroupsRequest)
    answer = await connection.request(ListGroupsRequest(version=version), deadline, version=version)
    if answer.error_code != NONE:
        raise RequestFailed("ListGroups", answer.error_code)
    return sorted(group.group_id for group in answer.groups)


async def committed(
    connection: Connection,
    groups: Sequence[str],
    wanted: Sequence[TopicPartition],
    deadline: Deadline,
) -> Committed:
    """What groups committed for these partitions. `wanted` is sorted by topic."""
    version = connection.version_for(OffsetFetchRequest, at_most=_FETCH_VERSION)
    topics = [
        {"name": name, "partition_indexes": [tp.partition for tp in of_topic]}
        for name, of_topic in by_topic(wanted)
    ]
    commits: list[Commit] = []
    errors: dict[str, int] = {}
    for message in _requests(groups, topics, version):
        answer = await connection.request(message, deadline, version=version)
        for group, told in _by_group(answer, message, version):
            error = getattr(told, "error_code", NONE)
            if error != NONE:
                errors[group] = error
            commits += _commits(group, told.topics, errors)
    return Committed(tuple(commits), errors)


def _requests(
    groups: Sequence[str], topics: list[dict[str, Any]], version: int | None
) -> Iterable[Any]:
    """One for all groups where brokers take that (3.0 and newer), else one for each."""
    request = OffsetFetchRequest
    if version is not None and version < _MANY_GROUPS:
        named = [request.OffsetFetchRequestTopic(**topic) for topic in topics]
        return [request(version=version, group_id=group, topics=named) for group in groups]
    of_group = request.OffsetFetchRequestGroup
    every = [
        of_group(
            group_id=group, topics=[of_group.OffsetFetchRequestTopics(**topic) for topic in topics]
        )
        for group in groups
    ]
    return [request(version=version, groups=every)] if every else []


def _by_group(answer: Any, message: Any, version: int | None) -> Iterable[tuple[str, Any]]:
    if version is not None and version < _MANY_GROUPS:
        return [(message.group_id, answer)]
    return [(told.group_id, told) for told in answer.groups]


def _commits(group: str, topics: Any, errors: dict[str, int]) -> Iterable[Commit]:
    for topic in topics or ():
        for p in topic.partitions:
            if p.error_code != NONE:
                errors[group] = p.error_code
            elif p.committed_offset != _NO_COMMIT:
                epoch = getattr(p, "committed_leader_epoch", -1)
                tp = TopicPartition(topic.name, p.partition_index)
                yield Commit(group, tp, p.committed_offset, epoch if epoch >= 0 else None)
