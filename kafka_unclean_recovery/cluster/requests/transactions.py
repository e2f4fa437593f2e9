"""Describe transactions as partitions and as their coordinators have them, and write the markers
that end them.

DescribeProducers, ListTransactions and DescribeTransactions are KIP-664; they need READ on the
topic and DESCRIBE on the transactional id (without it a transaction is left out in silence).
WriteTxnMarkers is the request that coordinators send to leaders (KIP-98); it needs ALTER on the
cluster (KIP-1037), before that CLUSTER_ACTION.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_unclean_recovery.cluster.requests.asking import by_topic
from kafka_unclean_recovery.cluster.requests.describe import RequestFailed
from kafka_unclean_recovery.cluster.wire.api import Message
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.transaction_apis import (
    DESCRIBE_PRODUCERS,
    DESCRIBE_TRANSACTIONS,
    LIST_TRANSACTIONS,
    WRITE_TXN_MARKERS,
)
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.kafka_names import TRANSACTION_VERSION, Errors
from kafka_unclean_recovery.model import TopicPartition

_TRANSACTIONAL_ID_NOT_FOUND = 105
_NO_OFFSET = -1
_ENDS_BUMP_EPOCHS = 2


@dataclass(frozen=True, slots=True)
class OpenTransaction:
    """An unfinished transaction as one replica has it.

    start_offset: the offset of its first record, inclusive. last_timestamp_ms: the time of the
    producer's newest batch there, by the producer's clock unless the topic stamps; None where there
    is none. coordinator_epoch: the epoch in the last marker of this producer, -1 where there was
    none. last_sequence: the sequence of the newest record of that batch; None where there is none.
    """

    topic_partition: TopicPartition
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    start_offset: int
    last_timestamp_ms: int | None
    last_sequence: int | None = None


@dataclass(frozen=True, slots=True)
class ProducerState:
    """A producer with an id as one replica has it; org.apache.kafka.clients.admin.ProducerState.

    last_sequence: the sequence of its newest record there, None where only markers are left.
    last_timestamp_ms: as in OpenTransaction. transactional: False for a producer that is only
    idempotent, as the records of a transactional producer are in a transaction, or were until its
    marker.
    """

    producer_id: int
    producer_epoch: int
    last_sequence: int | None
    last_timestamp_ms: int | None
    transactional: bool


@dataclass(frozen=True, slots=True)
class Producers:
    """The open transactions of one partition and all its producers, by id, or Kafka's error
    code."""

    error: int
    open: tuple[OpenTransaction, ...] = ()
    states: tuple[ProducerState, ...] = ()


@dataclass(frozen=True, slots=True)
class ToldTransaction:
    """The newest transaction of a transactional id, as its coordinator has it.

    state: org.apache.kafka.coordinator.transaction.TransactionState. start_time_ms: by the
    coordinator's clock; None before the first transaction. partitions: the partitions that are in
    the transaction, or still lack its marker. ends_bump_epochs: whether its coordinator says that
    transaction.version 2 is finalized, with which the end of each transaction raises the producer's
    epoch (KIP-890).
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int
    state: str
    start_time_ms: int | None
    partitions: frozenset[TopicPartition] = frozenset()
    ends_bump_epochs: bool = False


async def describe_producers(
    connection: Connection, wanted: Sequence[TopicPartition], deadline: Deadline
) -> Mapping[TopicPartition, Producers]:
    """Return the producers of one broker's replicas, leading or not; `wanted` is sorted."""
    topics = [
        {"name": name, "partition_indexes": [tp.partition for tp in of_topic]}
        for name, of_topic in by_topic(wanted)
    ]
    asking = Message(DESCRIBE_PRODUCERS, {"topics": topics})
    found: Mapping[TopicPartition, Producers] = await connection.request(
        asking, deadline, made=_producers
    )
    return found


def _producers(answer: Mapping[str, Any]) -> Mapping[TopicPartition, Producers]:
    found = {}
    for topic in answer["topics"]:
        for p in topic["partitions"]:
            tp = TopicPartition(topic["name"], p["partition_index"])
            every = tuple(
                OpenTransaction(
                    tp,
                    producer["producer_id"],
                    producer["producer_epoch"],
                    producer["coordinator_epoch"],
                    producer["current_txn_start_offset"],
                    _told(producer["last_timestamp"]),
                    _told(producer["last_sequence"]),
                )
                for producer in p["active_producers"]
                if producer["current_txn_start_offset"] != _NO_OFFSET
            )
            states = sorted(map(_producer_state, p["active_producers"]), key=_producer_id)
            found[tp] = Producers(p["error_code"], every, tuple(states))
    return found


def _told(number: int) -> int | None:
    return number if number >= 0 else None


async def open_transactions(
    connection: Connection, topic_partition: TopicPartition, deadline: Deadline
) -> Mapping[int, int]:
    """Return the first offset of each transaction that a replica's log leaves open, by producer id.
    A follower without a leader answers too; needs READ on the topic. Raises ConnectionFailed,
    RequestFailed."""
    told = await describe_producers(connection, [topic_partition], deadline)
    found = told.get(topic_partition, Producers(Errors.UNKNOWN_TOPIC_OR_PARTITION))
    if found.error != Errors.NONE:
        raise RequestFailed("DescribeProducers", found.error)
    return {each.producer_id: each.start_offset for each in found.open}


def _producer_id(state: ProducerState) -> int:
    return state.producer_id


def _producer_state(producer: Mapping[str, Any]) -> ProducerState:
    return ProducerState(
        producer["producer_id"],
        producer["producer_epoch"],
        _told(producer["last_sequence"]),
        _told(producer["last_timestamp"]),
        producer["coordinator_epoch"] >= 0 or producer["current_txn_start_offset"] != _NO_OFFSET,
    )


async def told_transactions(
    connection: Connection, producer_ids: Collection[int], deadline: Deadline
) -> list[ToldTransaction]:
    """Return the newest transactions of these producer ids that one broker coordinates.

    Raises RequestFailed.
    """
    if not producer_ids:  # an empty filter would let every producer through
        return []
    filters = {"state_filters": [], "producer_id_filters": sorted(producer_ids)}
    listed = await connection.request(Message(LIST_TRANSACTIONS, filters), deadline)
    if listed["error_code"] != Errors.NONE:
        raise RequestFailed("ListTransactions", listed["error_code"])
    names = sorted({each["transactional_id"] for each in listed["transaction_states"]})
    if not names:
        return []
    describing = Message(DESCRIBE_TRANSACTIONS, {"transactional_ids": names})
    answer = await connection.request(describing, deadline)
    version = connection.finalized_features.get(TRANSACTION_VERSION, 0)
    found = []
    for told in answer["transaction_states"]:
        if told["error_code"] == _TRANSACTIONAL_ID_NOT_FOUND:
            continue  # the transactional id expired between the two requests
        if told["error_code"] != Errors.NONE:
            what = f"DescribeTransactions of {told['transactional_id']!r}"
            raise RequestFailed(what, told["error_code"])
        partitions = {
            TopicPartition(t["topic"], n) for t in told["topics"] for n in t["partitions"]
        }
        found.append(
            ToldTransaction(
                told["transactional_id"],
                told["producer_id"],
                told["producer_epoch"],
                told["transaction_state"],
                _told(told["transaction_start_time_ms"]),
                frozenset(partitions),
                version >= _ENDS_BUMP_EPOCHS,
            )
        )
    return found


async def write_marker(
    connection: Connection, transaction: OpenTransaction, commit: bool, deadline: Deadline
) -> int:
    """End a transaction on one partition, through its leader, and return Kafka's error code.

    The marker ends any open transaction of this producer there.
    """
    where = transaction.topic_partition
    marker = {
        "producer_id": transaction.producer_id,
        "producer_epoch": transaction.producer_epoch,
        "transaction_result": commit,
        "topics": [{"name": where.topic, "partition_indexes": [where.partition]}],
        "coordinator_epoch": max(transaction.coordinator_epoch, 0),
    }
    answer = await connection.request(Message(WRITE_TXN_MARKERS, {"markers": [marker]}), deadline)
    codes: list[int] = [
        p["error_code"] for m in answer["markers"] for t in m["topics"] for p in t["partitions"]
    ]
    return codes[0] if codes else Errors.UNKNOWN_TOPIC_OR_PARTITION
