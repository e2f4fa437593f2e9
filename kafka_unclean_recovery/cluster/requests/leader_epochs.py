"""OffsetForLeaderEpoch tells where a leader epoch ends in the leader's log (KIP-101, KIP-320)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kafka_unclean_recovery.cluster.requests.asking import by_topic
from kafka_unclean_recovery.cluster.wire.api import Message
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.log_apis import OFFSET_FOR_LEADER_EPOCH
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.model import TopicPartition

_CONSUMER = -1
_UNKNOWN = -1

Epoch = tuple[TopicPartition, int]


@dataclass(frozen=True, slots=True)
class EpochEnds:
    """The answers about epochs. found: the end offset (exclusive) of the largest epoch up to each
    wanted one, where the leader knows one. errors: Kafka's code by partition that got no answer.
    epochs: that largest epoch, the wanted one where the leader knows only newer ones."""

    found: Mapping[Epoch, int]
    errors: Mapping[TopicPartition, int]
    epochs: Mapping[Epoch, int] = field(default_factory=dict)


async def epoch_end_offsets(
    connection: Connection, wanted: Iterable[Epoch], deadline: Deadline
) -> EpochEnds:
    """Ask the leader where epochs end. Needs DESCRIBE on the topics."""
    left = sorted(set(wanted))
    found: dict[Epoch, int] = {}
    errors: dict[TopicPartition, int] = {}
    epochs: dict[Epoch, int] = {}
    while left:  # one request can ask for only one epoch of a partition
        round_ = dict(left)
        left = [(tp, epoch) for tp, epoch in left if round_[tp] != epoch]
        told = await _ask(connection, round_, deadline)
        found |= told.found
        errors |= told.errors
        epochs |= told.epochs
    return EpochEnds(found, errors, epochs)


async def _ask(
    connection: Connection, wanted: Mapping[TopicPartition, int], deadline: Deadline
) -> EpochEnds:
    topics = [
        {
            "topic": topic,
            "partitions": [
                {"partition": tp.partition, "leader_epoch": wanted[tp]} for tp in of_topic
            ],
        }
        for topic, of_topic in by_topic(wanted)
    ]
    asking = Message(OFFSET_FOR_LEADER_EPOCH, {"replica_id": _CONSUMER, "topics": topics})
    answer = await connection.request(asking, deadline)
    found: dict[Epoch, int] = {}
    errors: dict[TopicPartition, int] = {}
    epochs: dict[Epoch, int] = {}
    for topic in answer["topics"]:
        for p in topic["partitions"]:
            tp = TopicPartition(topic["topic"], p["partition"])
            if tp not in wanted:
                continue
            if p["error_code"] != Errors.NONE:
                errors[tp] = p["error_code"]
            elif p["end_offset"] != _UNKNOWN:
                found[tp, wanted[tp]] = p["end_offset"]
                epochs[tp, wanted[tp]] = p["leader_epoch"]
    return EpochEnds(found, errors, epochs)
