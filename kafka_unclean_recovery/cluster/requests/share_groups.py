"""Read how far share groups have come, and set them back (KIP-932).

Below its start offset a share group is done with all records. Beyond that it is done with those
that its state has batches for. DescribeShareGroupOffsets does not tell these batches.
ReadShareGroupState does, the request by which a leader begins: it needs CLUSTER_ACTION on the
cluster, and changes nothing as long as it names the leader epoch that the state has already.
Source: org.apache.kafka.coordinator.share.ShareCoordinatorShard.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from typing import Any
from uuid import UUID

from kafka_unclean_recovery.cluster.wire.api import Message
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.error_codes import error_name
from kafka_unclean_recovery.cluster.wire.layout import uuid_text
from kafka_unclean_recovery.cluster.wire.share_apis import (
    ALTER_SHARE_GROUP_OFFSETS,
    DESCRIBE_SHARE_GROUP_OFFSETS,
    READ_SHARE_GROUP_STATE,
)
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.model import Commit, PartitionState, TopicPartition

_NOWHERE = -1
# The delivery states of records that are never delivered again: acknowledged, and archived.
_DONE = frozenset({2, 4})


@dataclass(frozen=True, slots=True)
class SharePosition:
    """Where a share group begins to read a partition. leader_epoch: the epoch of the leader that
    wrote this state, or read it last; 0 also where no leader has since the offset was set (-1 in
    4.1)."""

    group: str
    topic_partition: TopicPartition
    topic_id: str
    start_offset: int
    leader_epoch: int


@dataclass(slots=True)
class Positions:
    """The positions that were told. errors: Kafka's error code by group."""

    found: list[SharePosition] = field(default_factory=list)
    errors: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Reached:
    """How far share groups have come. found: two ends, exclusive: below the first a group is done
    with everything, up to the second with something. errors: Kafka's error codes, NOT_COORDINATOR
    from all brokers but one."""

    found: dict[SharePosition, tuple[int, int]] = field(default_factory=dict)
    errors: dict[SharePosition, int] = field(default_factory=dict)


async def positions_of(
    connection: Connection,
    groups: Sequence[str],
    states: Iterable[PartitionState],
    deadline: Deadline,
) -> tuple[list[SharePosition], list[str]]:
    """Return (positions in these partitions, sentences on what is unknown) of the share groups that
    one broker lists. A broker tells of them from Kafka 4.1 on. Raises ConnectionFailed."""
    if not groups:
        return [], []
    if connection.version_for(DESCRIBE_SHARE_GROUP_OFFSETS) is None:
        return [], [
            f"what share group {group} had read is unknown: its broker does not tell it"
            " (DescribeShareGroupOffsets, from Kafka 4.1 on)"
            for group in groups
        ]
    ids = {state.topic_partition: state.topic_id for state in states}
    told = await share_positions(connection, groups, deadline)
    return [each for each in told.found if ids.get(each.topic_partition) == each.topic_id], [
        f"what share group {group} had read is unknown: {error_name(code)}"
        for group, code in sorted(told.errors.items())
    ]


async def share_positions(
    connection: Connection, groups: Sequence[str], deadline: Deadline
) -> Positions:
    """Return the positions of groups that this broker coordinates. A partition that a group has not
    begun to read is missing."""
    asked = [{"group_id": group, "topics": None} for group in groups]
    message = Message(DESCRIBE_SHARE_GROUP_OFFSETS, {"groups": asked})
    answer = await connection.request(message, deadline)
    told = Positions()
    for group in answer["groups"]:
        name = group["group_id"]
        if group["error_code"] != Errors.NONE:
            told.errors[name] = group["error_code"]
        for topic in group["topics"]:
            for p in topic["partitions"]:
                where = TopicPartition(topic["topic_name"], p["partition_index"])
                at = uuid_text(topic["topic_id"]), p["start_offset"], p["leader_epoch"]
                if p["error_code"] != Errors.NONE:
                    told.errors[name] = p["error_code"]
                elif p["start_offset"] != _NOWHERE:
                    told.found.append(SharePosition(name, where, *at))
    return told


async def share_reached(
    connection: Connection, positions: Iterable[SharePosition], deadline: Deadline
) -> Reached:
    """Return how far groups have come from these positions, of those whose state this broker
    coordinates."""
    told = Reached()
    askable = (each for each in positions if each.leader_epoch >= 0)
    ordered = sorted(askable, key=lambda p: (p.group, p.topic_id, p.topic_partition))
    for group, its in groupby(ordered, key=attrgetter("group")):
        mine = {(p.topic_id, p.topic_partition.partition): p for p in its}
        topics = [
            {
                "topic_id": UUID(topic_id).bytes,
                "partitions": [
                    {"partition": p.topic_partition.partition, "leader_epoch": p.leader_epoch}
                    for p in of_topic
                ],
            }
            for topic_id, of_topic in groupby(mine.values(), key=attrgetter("topic_id"))
        ]
        fields = {"group_id": group, "topics": topics}
        answer = await connection.request(Message(READ_SHARE_GROUP_STATE, fields), deadline)
        for topic in answer["results"]:
            for p in topic["partitions"]:
                position = mine.get((uuid_text(topic["topic_id"]), p["partition"]))
                if position is not None:
                    _note(position, p, told)
    return told


def _note(position: SharePosition, state: Mapping[str, Any], told: Reached) -> None:
    if state["error_code"] == Errors.FENCED_LEADER_EPOCH and position.leader_epoch == 0:
        # The offset was set after a newer leader had read the state, and no leader has since.
        told.found[position] = position.start_offset, position.start_offset
        return
    if state["error_code"] != Errors.NONE:
        told.errors[position] = state["error_code"]
        return
    done = (batch for batch in state["state_batches"] if batch["delivery_state"] in _DONE)
    everything = something = position.start_offset
    for first, last in sorted((batch["first_offset"], batch["last_offset"]) for batch in done):
        something = max(something, last + 1)
        everything = max(everything, last + 1) if first <= everything else everything
    told.found[position] = everything, something


def commits_of(
    positions: Sequence[SharePosition], answers: Sequence[Reached | str]
) -> tuple[list[Commit], list[str]]:
    """Return (how far each group has come, sentences on what is unknown). answers: of all brokers,
    or why one did not answer. A group of which nobody tells more is told of at its position."""
    told = [answer for answer in answers if isinstance(answer, Reached)]
    failures = [answer for answer in answers if isinstance(answer, str)]
    found = {position: ends for answer in told for position, ends in answer.found.items()}
    codes = {
        p: c for answer in told for p, c in answer.errors.items() if c != Errors.NOT_COORDINATOR
    }
    # Without a leader since the offset was set nothing is done with beyond it.
    untold = (p for p in positions if p not in found and p.leader_epoch >= 0)
    unknown = {position.group: _why(codes.get(position), failures) for position in untold}
    return [_commit(each, *found.get(each, (each.start_offset,) * 2)) for each in positions], [
        f"what share group {group} has read beyond its start offsets is unknown: {why}"
        for group, why in sorted(unknown.items())
    ]


def _why(code: int | None, failures: Sequence[str]) -> str:
    if code == Errors.CLUSTER_AUTHORIZATION_FAILED:
        return f"{error_name(code)}; grant Cluster:CLUSTER_ACTION"
    if code is not None:
        return error_name(code)
    return failures[0] if failures else "no broker coordinates its state"


def _commit(position: SharePosition, everything: int, something: int) -> Commit:
    # With nothing done beyond it, an offset was set by hand rather than read up to in epoch 0.
    by_hand = position.leader_epoch <= 0 and something == position.start_offset
    epoch = None if by_hand else position.leader_epoch
    return Commit(position.group, position.topic_partition, something, epoch, everything)


async def set_share_group(
    connection: Connection, group: str, where: TopicPartition, offset: int, deadline: Deadline
) -> int:
    """Let a share group begin at this offset, as if it had read nothing from there on, and return
    Kafka's error code. The broker coordinates the group, which must be without members; needs READ
    on the group and the topic."""
    partition = {"partition_index": where.partition, "start_offset": offset}
    topics = [{"topic_name": where.topic, "partitions": [partition]}]
    fields = {"group_id": group, "topics": topics}
    answer = await connection.request(Message(ALTER_SHARE_GROUP_OFFSETS, fields), deadline)
    if answer["error_code"] != Errors.NONE:
        return int(answer["error_code"])
    codes: list[int] = [p["error_code"] for t in answer["responses"] for p in t["partitions"]]
    return codes[0] if codes else Errors.UNKNOWN_TOPIC_OR_PARTITION
