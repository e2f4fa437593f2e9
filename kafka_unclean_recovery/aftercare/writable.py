"""A partition with a leader takes acks=all only while enough replicas are in the ISR. Leaders are
asked for min.insync.replicas where some are not.

A leader goes by its own value, in which brokers may differ without eligible leader replicas, and
never asks for more than the replicas (kafka.cluster.Partition.effectiveMinIsr).
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests.configs import ConfigValue, number, topic_configs
from kafka_unclean_recovery.cluster.wire.error_codes import UNAUTHORIZED, error_name
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.kafka_names import MIN_INSYNC_REPLICAS, Errors
from kafka_unclean_recovery.model import Broker, PartitionState, TopicPartition


@dataclass(frozen=True, slots=True)
class MinIsrs:
    """min.insync.replicas by partition, as its leader has it and at most the number of replicas.
    untold: why it is not known."""

    known: Mapping[TopicPartition, int] = field(default_factory=dict)
    untold: Mapping[TopicPartition, str] = field(default_factory=dict)


async def ask_min_isrs(
    nodes: Nodes, brokers: Mapping[int, Broker], states: Iterable[PartitionState], timeout: float
) -> MinIsrs:
    """Ask live leaders where replicas are missing in the ISR; all others take what is written.
    timeout: the seconds that it may take."""
    by_leader: dict[int, list[PartitionState]] = defaultdict(list)
    for state in states:
        if state.leader in brokers and len(state.isr) < len(state.replicas):
            by_leader[state.leader].append(state)
    known: dict[TopicPartition, int] = {}
    untold: dict[TopicPartition, str] = {}

    async def ask(leader: int, its: Sequence[PartitionState]) -> None:
        topics = sorted({state.topic for state in its})
        deadline = Deadline.after(timeout)
        try:
            connection = await nodes.broker(brokers[leader], deadline)
            told = await topic_configs(connection, topics, MIN_INSYNC_REPLICAS, deadline)
        except ConnectionFailed as error:
            untold.update((state.topic_partition, str(error)) for state in its)
            return
        for state in its:
            found = told.get(state.topic)
            value = number(found)
            if value is None:
                untold[state.topic_partition] = _why(found, state.topic)
            else:
                known[state.topic_partition] = min(value, len(state.replicas))

    await asyncio.gather(*(ask(leader, its) for leader, its in by_leader.items()))
    return MinIsrs(known, untold)


def _why(found: ConfigValue | None, topic: str) -> str:
    if found is None:
        return "its leader did not tell"
    if found.error == Errors.NONE:
        return "its leader told no number"
    grant = f"; grant Topic({topic}):DESCRIBE_CONFIGS" if found.error in UNAUTHORIZED else ""
    return f"{error_name(found.error)}{grant}"
