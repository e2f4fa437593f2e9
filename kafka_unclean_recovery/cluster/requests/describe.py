"""The brokers describe the cluster in these requests: brokers, partitions, reassignments and
rights.

Each function sends one kind of request over one connection and returns values of the model.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from msgspec import structs

from kafka_unclean_recovery.cluster.wire import failures
from kafka_unclean_recovery.cluster.wire.api import Message
from kafka_unclean_recovery.cluster.wire.cluster_apis import (
    DESCRIBE_CLUSTER,
    DESCRIBE_QUORUM,
    DESCRIBE_TOPIC_PARTITIONS,
    METADATA,
)
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.controller_apis import LIST_PARTITION_REASSIGNMENTS
from kafka_unclean_recovery.cluster.wire.error_codes import error_name
from kafka_unclean_recovery.cluster.wire.layout import Each, uuid_text
from kafka_unclean_recovery.cluster.wire.limits import MAX_FRAME_BYTES, most_memory
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.model import Broker, Cluster, PartitionState, TopicPartition

# The numbers are those of org.apache.kafka.common.acl.AclOperation.
READ = 3
ALTER = 7
DESCRIBE = 8
_OPERATIONS_UNKNOWN = -(2**31)

_BROKERS, _CONTROLLERS = 1, 2
# From this version of DescribeCluster on fenced brokers are listed (KIP-1073).
_LISTS_FENCED = 2
# A page has the size of Kafka's default and maximum (max.request.partition.size.limit).
_PAGE = 2000
_DETAIL_LIMIT = 200
_MOST_MEMORY = most_memory("Metadata", MAX_FRAME_BYTES)
_A_TOPIC, _A_PARTITION, _AN_ID = 600, 300, 36
_TOO_MANY = "it describes more partitions than any cluster has, or longer names: is this Kafka?"
# A partition with one of these errors is described all the same.
_TOLD = frozenset({Errors.NONE, Errors.LEADER_NOT_AVAILABLE, Errors.REPLICA_NOT_AVAILABLE})
_LEFT_OUT = "it is missing in the answer"


class RequestFailed(Exception):
    """A broker answered a whole request with an error; `code` is Kafka's error code."""

    def __init__(self, what: str, code: int, detail: str | None = None) -> None:
        said = f" ({_last_sentence(detail)})" if detail else ""
        super().__init__(f"{what}: {error_name(code)}{said}")
        self.code = code


def _last_sentence(detail: str) -> str:
    """Return the last sentence of a long error. A forwarded refusal is a Java toString of
    kilobytes, and its message comes after that."""
    if len(detail) <= _DETAIL_LIMIT:
        return detail
    return detail.rpartition(")")[2].strip() or detail[-_DETAIL_LIMIT:]


async def zookeeper_controller(connection: Connection, deadline: Deadline) -> int | None:
    """Return the broker that is the controller, -1 for none, of a cluster that runs on ZooKeeper;
    None with KRaft, where every broker passes requests on to the controller."""
    if connection.version_for(DESCRIBE_QUORUM) is not None:
        return None
    answer = await connection.request(Message(METADATA, {"topics": []}), deadline)
    controller: int = answer["controller_id"]
    return controller


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic as described: its partitions, or the error that stands in their place. untold:
    Kafka's error by partition, for partitions whose leader could not be told."""

    name: str
    topic_id: str
    error: int
    authorized_operations: frozenset[int]
    partitions: tuple[PartitionState, ...]
    untold: Mapping[int, int] = field(default_factory=dict)

    @property
    def told(self) -> Iterator[PartitionState]:
        """Return the partitions whose leader was told."""
        return (state for state in self.partitions if state.partition not in self.untold)


def not_told(topics: Iterable[Topic]) -> dict[str, str]:
    """Return the error of each topic or partition that could not be described. Topics that are
    gone do not count; a partition that a broker lists is not gone, whatever the broker says."""
    found = {}
    for topic in topics:
        if topic.error not in (Errors.NONE, Errors.UNKNOWN_TOPIC_OR_PARTITION):
            found[topic.name] = error_name(topic.error)
        for number, error in topic.untold.items():
            found[f"{topic.name}-{number}"] = error_name(error)
    return found


@dataclass(frozen=True, slots=True)
class Described:
    """Partitions as one broker describes them. gone: the partitions that do not exist, as the
    broker says (UNKNOWN_TOPIC_OR_PARTITION); untold: why others could not be described; topic_ids:
    the ids by name of all topics that were described; errors: Kafka's code for those of `untold`
    that have one; operations: what this user may do (AclOperation codes) by name of these topics,
    empty where that is not told."""

    states: Mapping[TopicPartition, PartitionState]
    gone: frozenset[TopicPartition] = frozenset()
    untold: Mapping[TopicPartition, str] = field(default_factory=dict)
    topic_ids: Mapping[str, str] = field(default_factory=dict)
    errors: Mapping[TopicPartition, int] = field(default_factory=dict)
    operations: Mapping[str, frozenset[int]] = field(default_factory=dict)


def operations(bits: int) -> frozenset[int]:
    """Return the AclOperation codes of an authorized-operations bit field; empty when unknown."""
    if bits == _OPERATIONS_UNKNOWN:
        return frozenset()
    return frozenset(code for code in range(32) if bits >> code & 1)


async def describe_cluster(
    connection: Connection, deadline: Deadline
) -> tuple[Cluster, frozenset[int]]:
    """Return the live brokers and the caller's rights on the cluster (AclOperation codes)."""
    # Fields that a lower version lacks are not sent. That is right here: version 1 can't tell the
    # fenced brokers.
    fields = {
        "include_cluster_authorized_operations": True,
        "endpoint_type": _BROKERS,
        "include_fenced_brokers": True,
    }
    answer = await connection.request(Message(DESCRIBE_CLUSTER, fields), deadline, made=_told)
    brokers = [
        Broker(b["broker_id"], b["host"], b["port"], b["is_fenced"], b["rack"])
        for b in answer["brokers"]
    ]
    cluster = Cluster(
        answer["cluster_id"],
        {b.id: b for b in brokers if not b.fenced},
        tuple(sorted(b.id for b in brokers if b.fenced)),
        (connection.version_for(DESCRIBE_CLUSTER) or 0) >= _LISTS_FENCED,
        {b.id: b for b in brokers if b.fenced},
    )
    return cluster, operations(answer["cluster_authorized_operations"])


async def cluster_of_controller(connection: Connection, deadline: Deadline) -> str:
    """Return the id of the cluster that a controller is of (KIP-919). Raises RequestFailed."""
    fields = {"endpoint_type": _CONTROLLERS}
    answer = await connection.request(Message(DESCRIBE_CLUSTER, fields), deadline, made=_told)
    return str(answer["cluster_id"])


def _told(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    if answer["error_code"] != Errors.NONE:
        raise RequestFailed("DescribeCluster", answer["error_code"], answer["error_message"])
    _brokers([broker["broker_id"] for broker in answer["brokers"]])
    return answer


async def describe_topics(
    connection: Connection, topics: Sequence[str] | None, deadline: Deadline
) -> list[Topic]:
    """Return the named topics, or all that the caller may see, with every partition. Raises
    RequestFailed for a list of no topic where Metadata lists some: an answer about no topic has no
    place for an error."""
    if connection.version_for(DESCRIBE_TOPIC_PARTITIONS) is None:
        return await describe_topics_by_metadata(connection, topics, deadline)
    pages = [page async for page in _pages(connection, topics or [], None, _PAGE, deadline)]
    found = _joined(topic for page in pages for topic in page)
    if not found and topics is None:
        known = len(await describe_topics_by_metadata(connection, None, deadline))
        if known:
            detail = f"it lists no topic, and Metadata lists {known}"
            raise RequestFailed("DescribeTopicPartitions", Errors.UNKNOWN_SERVER_ERROR, detail)
    return found


async def describe_partitions(
    connection: Connection, wanted: Sequence[TopicPartition], deadline: Deadline
) -> Described:
    """Return the wanted partitions; `wanted` is in order of topic and partition.

    Pages start at the first wanted partition and end with the last, so that a batch out of a huge
    topic does not cost the whole topic.
    """
    if not wanted:
        return Described({})
    names = sorted({tp.topic for tp in wanted})
    if connection.version_for(DESCRIBE_TOPIC_PARTITIONS) is None:
        topics = await describe_topics_by_metadata(connection, names, deadline)
        return _described(wanted, topics)
    found: list[Topic] = []
    async for page in _pages(connection, names, wanted[0], _page_of(wanted), deadline):
        found.extend(page)
        if _reaches(page, wanted[-1]):
            break
    return _described(wanted, found)


def _page_of(wanted: Sequence[TopicPartition]) -> int:
    """Return the size of a page that spans the wanted partitions: a few that lie far apart are no
    reason for many pages."""
    first, last = wanted[0], wanted[-1]
    return min(_PAGE, last.partition - first.partition + 1) if first.topic == last.topic else _PAGE


def _reaches(page: Sequence[Topic], last: TopicPartition) -> bool:
    newest = page[-1].partitions[-1:] if page else ()
    return bool(newest) and newest[0].topic_partition >= last


def _described(wanted: Sequence[TopicPartition], topics: Iterable[Topic]) -> Described:
    told = {topic.name: topic for topic in _joined(topics)}
    every = {p.topic_partition: p for topic in told.values() for p in topic.partitions}
    gone = frozenset(tp for tp in wanted if tp not in every and _is_gone(told.get(tp.topic)))
    untold = {
        tp: why
        for tp in wanted
        if tp not in gone and (why := _why_untold(tp, told.get(tp.topic), tp in every))
    }
    states = {tp: every[tp] for tp in wanted if tp not in gone and tp not in untold}
    ids = {name: topic.topic_id for name, topic in told.items() if topic.error == Errors.NONE}
    codes = {tp: _error(tp, told.get(tp.topic)) for tp in untold}
    errors = {tp: code for tp, code in codes.items() if code != Errors.NONE}
    rights = {name: told[name].authorized_operations for name in ids}
    return Described(states, gone, untold, ids, errors, rights)


def _is_gone(topic: Topic | None) -> bool:
    """Return whether a partition that this answer does not list is no more."""
    if topic is None:
        return False
    # Other partitions of the topic, and not this number: the partition is gone.
    return topic.error == Errors.UNKNOWN_TOPIC_OR_PARTITION or bool(
        not topic.error and topic.partitions
    )


def _why_untold(wanted: TopicPartition, topic: Topic | None, listed: bool) -> str | None:
    """Return why a partition that is not gone is not described, None when it is."""
    error = _error(wanted, topic)
    if error == Errors.NONE:
        return None if topic is not None and listed else _LEFT_OUT
    return error_name(error)


def _error(wanted: TopicPartition, topic: Topic | None) -> int:
    return (
        Errors.NONE
        if topic is None
        else topic.error or topic.untold.get(wanted.partition, Errors.NONE)
    )


async def _pages(
    connection: Connection,
    topics: Sequence[str],
    start: TopicPartition | None,
    limit: int,
    deadline: Deadline,
) -> AsyncIterator[list[Topic]]:
    """Send DescribeTopicPartitions (KIP-966) page by page along its cursor."""
    cursor = {"topic_name": start.topic, "partition_index": start.partition} if start else None
    held = 0
    while True:
        fields = {
            "topics": [{"name": name} for name in topics],
            "response_partition_limit": limit,
            "cursor": cursor,
        }
        before = cursor
        asking = Message(DESCRIBE_TOPIC_PARTITIONS, fields, EACH_TOPIC)
        answer = await connection.request(asking, deadline)
        told, cursor = answer["topics"], answer["next_cursor"]
        held += sum(map(_kept, told))
        if held > _MOST_MEMORY:
            raise failures.bad_answer(connection.address, _TOO_MANY)
        yield told
        if cursor is None:
            return
        if before is not None and _place(cursor) <= _place(before):
            sentence = "its pages of DescribeTopicPartitions do not go on: is this Kafka?"
            raise failures.bad_answer(connection.address, sentence)


def _place(cursor: Mapping[str, Any]) -> tuple[str, int]:
    return cursor["topic_name"], cursor["partition_index"]


def _topic(topic: Mapping[str, Any]) -> Topic:
    topic_id = uuid_text(topic["topic_id"])
    partitions = topic["partitions"]
    untold = ((p["partition_index"], p["error_code"]) for p in partitions)
    return Topic(
        topic["name"],
        topic_id,
        topic["error_code"],
        operations(topic["topic_authorized_operations"]),
        tuple(_partition(topic["name"], topic_id, p) for p in partitions),
        {number: error for number, error in untold if error not in _TOLD},
    )


def _partition(topic: str, topic_id: str, p: Mapping[str, Any]) -> PartitionState:
    return PartitionState(
        topic=topic,
        topic_id=topic_id,
        partition=p["partition_index"],
        leader=p["leader_id"],
        leader_epoch=p["leader_epoch"],
        replicas=_brokers(p["replica_nodes"]),
        isr=_brokers(p["isr_nodes"]),
        elr=_brokers(p["eligible_leader_replicas"]),
        last_known_elr=_brokers(p["last_known_elr"]),
        offline_replicas=_brokers(p["offline_replicas"]),
    )


def _brokers(ids: list[int]) -> tuple[int, ...]:
    """Return the ids, shared with all equal ones. Raises ValueError for what can't be brokers."""
    return _shared(tuple(ids))


@lru_cache(maxsize=4096)
def _shared(ids: tuple[int, ...]) -> tuple[int, ...]:
    # Many partitions have the same brokers: one tuple for all keeps 50,000 states small.
    if len(set(ids)) < len(ids) or any(broker < 0 for broker in ids):
        raise ValueError(f"{ids[:10]} are no brokers")
    return ids


def _kept(topic: Topic) -> int:
    """Return about how many bytes a topic takes if it shares no broker list with others."""
    ids = sum(
        len(p.replicas) + len(p.isr) + len(p.elr) + len(p.last_known_elr) + len(p.offline_replicas)
        for p in topic.partitions
    )
    texts = len(topic.name or "") * 4
    return _A_TOPIC + texts + _A_PARTITION * len(topic.partitions) + _AN_ID * ids


EACH_TOPIC = Each("topics", _topic, _kept)


def _joined(topics: Iterable[Topic]) -> list[Topic]:
    """Return the topics, with a topic that a page boundary cut in two joined to one."""
    parts: dict[str, list[Topic]] = {}
    for topic in topics:
        parts.setdefault(topic.name, []).append(topic)
    return [_whole(of_one) for of_one in parts.values()]


def _whole(parts: Sequence[Topic]) -> Topic:
    if len(parts) == 1:
        return parts[0]
    untold = {number: error for part in parts for number, error in part.untold.items()}
    partitions = tuple(state for part in parts for state in part.partitions)
    return replace(parts[-1], partitions=partitions, untold=untold)


async def describe_topics_by_metadata(
    connection: Connection, topics: Sequence[str] | None, deadline: Deadline
) -> list[Topic]:
    """Describe topics by Metadata, without ELR: brokers before 3.7 have nothing newer."""
    fields = {
        "topics": None if topics is None else [{"name": name} for name in topics],
        "include_topic_authorized_operations": True,
    }
    answer = await connection.request(Message(METADATA, fields, EACH_TOPIC), deadline)
    told: list[Topic] = answer["topics"]
    return told


Reassignment = tuple[tuple[int, ...], tuple[int, ...]]
"""A reassignment is (adding replicas, removing replicas)."""


async def list_reassignments(
    connection: Connection, deadline: Deadline, timeout_ms: int = 60_000
) -> Mapping[TopicPartition, Reassignment]:
    """Return every reassignment in progress, as some controller has them. An answer does not prove
    that the quorum has a leader (quorum_state.py). Raises RequestFailed."""
    fields = {"timeout_ms": timeout_ms, "topics": None}
    asking = Message(LIST_PARTITION_REASSIGNMENTS, fields)
    found: Mapping[TopicPartition, Reassignment] = await connection.request(
        asking, deadline, made=_reassignments
    )
    return found


def _reassignments(answer: Mapping[str, Any]) -> Mapping[TopicPartition, Reassignment]:
    if answer["error_code"] != Errors.NONE:
        what = "ListPartitionReassignments"
        raise RequestFailed(what, answer["error_code"], answer["error_message"])
    return {
        TopicPartition(topic["name"], p["partition_index"]): (
            _brokers(p["adding_replicas"]),
            _brokers(p["removing_replicas"]),
        )
        for topic in answer["topics"]
        for p in topic["partitions"]
    }


def with_reassignment(
    state: PartitionState, reassignments: Mapping[TopicPartition, Reassignment]
) -> PartitionState:
    found = reassignments.get(state.topic_partition)
    if found is None:
        return state
    return structs.replace(state, adding_replicas=found[0], removing_replicas=found[1])
