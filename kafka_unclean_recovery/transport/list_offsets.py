"""Read replica logs from released brokers, by ListOffsets and Fetch (requests/replica_probe.py).

Partitions go in batches of at most 1000, side by side over one connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests.asking import NOT_ANSWERED
from kafka_unclean_recovery.cluster.requests.replica_probe import (
    EndOffset,
    end_offsets,
)
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.error_codes import PASSING, error_name
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.model import Broker, PartitionState, ReplicaLog, TopicPartition
from kafka_unclean_recovery.transport.lineage_probe import LineageProbe
from kafka_unclean_recovery.transport.read_lineages import known_offset, read_lineages

SOURCE = "list-offsets"
BATCH = 1000
# A broker that has just been unfenced may not know its partitions for a moment.
_PASSING_SECONDS = 3.0
_PAUSE_SECONDS = 0.1

_Logs = dict[TopicPartition, ReplicaLog]


class ListOffsetsSource:
    """A ReplicaLogSource (the protocol in transport/__init__.py) for released brokers."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes

    async def replica_logs(
        self, broker: Broker, states: Sequence[PartitionState], deadline: Deadline
    ) -> Mapping[TopicPartition, ReplicaLog]:
        connection = await self._nodes.broker(broker, deadline)
        wanted = sorted(states, key=lambda state: state.topic_partition)
        batches = [wanted[i : i + BATCH] for i in range(0, len(wanted), BATCH)]
        answers = await asyncio.gather(
            *(_patiently(connection, broker.id, batch, deadline) for batch in batches)
        )
        return {tp: log for answer in answers for tp, log in answer.items()}

    async def log_ends(
        self, broker: Broker, states: Sequence[PartitionState], deadline: Deadline
    ) -> Mapping[TopicPartition, ReplicaLog]:
        connection = await self._nodes.broker(broker, deadline)
        wanted = sorted(state.topic_partition for state in states)
        ends = await end_offsets(connection, wanted, deadline)
        return {tp: _end(broker.id, ends.get(tp)) for tp in wanted}


async def _patiently(
    connection: Connection, broker: int, states: Sequence[PartitionState], deadline: Deadline
) -> _Logs:
    """Ask again, for a while, for the replicas whose error is one that passes."""
    patience = deadline.within(_PASSING_SECONDS)
    logs: _Logs = {}
    pending: Sequence[PartitionState] = states
    while pending:
        answered, passing = await _ask(connection, broker, pending, deadline)
        logs |= answered
        pending = [state for state in pending if state.topic_partition in passing]
        if patience.expired:
            break
        if pending:
            await asyncio.sleep(min(_PAUSE_SECONDS, patience.remaining()))
    return logs


async def _ask(
    connection: Connection, broker: int, states: Sequence[PartitionState], deadline: Deadline
) -> tuple[_Logs, set[TopicPartition]]:
    """Return (all logs, the partitions whose error may pass)."""
    by_partition = {state.topic_partition: state for state in states}
    ends = await end_offsets(connection, list(by_partition), deadline)
    probes = {
        tp: LineageProbe(end.log_end_offset, by_partition[tp].leader_epoch)
        for tp, end in ends.items()
        if end.error == Errors.NONE and tp in by_partition
    }
    await read_lineages(connection, probes, deadline)
    logs = {tp: _log(broker, ends.get(tp), probes.get(tp)) for tp in by_partition}
    errors = {tp: end.error for tp, end in ends.items()}
    errors |= {tp: probe.error for tp, probe in probes.items()}
    return logs, {tp for tp, error in errors.items() if error in PASSING}


def _end(broker: int, end: EndOffset | None) -> ReplicaLog:
    if end is None:
        return ReplicaLog(broker, live=True, source=SOURCE, problem=NOT_ANSWERED)
    if end.error != Errors.NONE:
        return ReplicaLog(broker, live=True, source=SOURCE, problem=error_name(end.error))
    return ReplicaLog(broker, live=True, source=SOURCE, log_end_offset=end.log_end_offset)


def _log(broker: int, end: EndOffset | None, probe: LineageProbe | None) -> ReplicaLog:
    if probe is None:
        return _end(broker, end)
    return ReplicaLog(
        broker,
        live=True,
        source=SOURCE,
        log_end_offset=probe.log_end_offset,
        last_written_leader_epoch=probe.last_written_leader_epoch,
        log_start_offset=known_offset(probe.log_start_offset),
        high_watermark=known_offset(probe.high_watermark),
        epochs=probe.epochs,
        problem=NOT_ANSWERED if probe.unanswered else probe.problem,
    )
