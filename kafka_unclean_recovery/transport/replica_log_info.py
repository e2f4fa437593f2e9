"""Read replica logs by GetReplicaLogInfo (KIP-966, KIP-1275): the log end offset, the epochs as far
as the dialect tells them, and the broker epoch.

No dialect tells the lineage, without which losses can't be counted. The epoch of the last record is
missing in one dialect, and one broker (krabka) answers the current epoch instead. So the lineage is
probed as well, with the Fetch of released brokers, and the probe decides the epoch of the last
record. Where the lineage can't be probed, the answer of the RPC stands, if there is one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from msgspec.structs import replace

from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests.asking import NOT_ANSWERED
from kafka_unclean_recovery.cluster.requests.replica_log_info import (
    LIMIT,
    IdPartition,
    LogInfo,
    LogInfos,
    id_partition,
    replica_log_info,
    speaks,
    unspoken,
)
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.error_codes import PASSING, error_name, is_assigned
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, FailureKind
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.mechanisms import Dialect
from kafka_unclean_recovery.model import Broker, PartitionState, ReplicaLog, TopicPartition
from kafka_unclean_recovery.transport.lineage_probe import LineageProbe
from kafka_unclean_recovery.transport.read_lineages import known_offset, read_lineages

SOURCE = "replica-log-info"
# Metadata reaches a broker a moment late, so some answers pass.
_PASSING_SECONDS = 3.0
_PAUSE_SECONDS = 0.1
_NEVER_WROTE = -1
_NO_PROBE = frozenset({FailureKind.TIMED_OUT, FailureKind.UNSUPPORTED_VERSION})

T = TypeVar("T")

_Logs = dict[TopicPartition, ReplicaLog]
_Answers = dict[TopicPartition, tuple[int | None, LogInfo | None]]
"""The answers by partition, as (broker epoch, the broker's answer or None when there is none)."""


class ReplicaLogInfoSource:
    """A ReplicaLogSource (the protocol in transport/__init__.py) that asks in one dialect."""

    def __init__(self, nodes: Nodes, dialect: Dialect) -> None:
        self._nodes = nodes
        self._dialect = dialect

    async def replica_logs(
        self, broker: Broker, states: Sequence[PartitionState], deadline: Deadline
    ) -> Mapping[TopicPartition, ReplicaLog]:
        connection = await self._nodes.broker(broker, deadline)
        logs = await self._ends(connection, broker.id, states, deadline)
        usable = [s for s in states if logs[s.topic_partition].problem is None]
        batches = _batches(usable)
        found = await asyncio.gather(
            *(_with_lineages(connection, batch, logs, deadline) for batch in batches)
        )
        return logs | _joined(found)

    async def log_ends(
        self, broker: Broker, states: Sequence[PartitionState], deadline: Deadline
    ) -> Mapping[TopicPartition, ReplicaLog]:
        connection = await self._nodes.broker(broker, deadline)
        return await self._ends(connection, broker.id, states, deadline)

    async def _ends(
        self,
        connection: Connection,
        broker: int,
        states: Sequence[PartitionState],
        deadline: Deadline,
    ) -> _Logs:
        """Return the logs without their lineages."""
        nameless = ReplicaLog(broker, live=True, source=SOURCE, problem="its topic has no id")
        if not speaks(connection, self._dialect):
            silent = replace(nameless, problem=_not_spoken(connection, self._dialect))
            return {state.topic_partition: silent for state in states}
        named = [state for state in states if id_partition(state) is not None]
        answers = await self._patiently(connection, broker, named, deadline)
        logs = {state.topic_partition: nameless for state in states}
        for state in named:
            epoch, info = answers[state.topic_partition]
            log = ReplicaLog(broker, live=True, source=SOURCE, broker_epoch=epoch)
            logs[state.topic_partition] = _told(log, state, info)
        return _current(logs)

    async def _patiently(
        self,
        connection: Connection,
        broker: int,
        states: Sequence[PartitionState],
        deadline: Deadline,
    ) -> _Answers:
        """Ask again where there is no answer, and for a while where the answer is stale or its
        error is one that passes."""
        patience = _half(deadline)
        passing = patience.within(_PASSING_SECONDS)
        answers: _Answers = {}
        pending = states
        while pending:
            found = await asyncio.gather(
                *(self._serve(connection, broker, b, deadline) for b in _batches(pending))
            )
            answers |= _joined(found)
            newest = _newest(epoch for epoch, _ in answers.values())
            pending = [s for s in states if _may_change(s, *answers[s.topic_partition], newest)]
            unanswered = any(answers[s.topic_partition][1] is None for s in pending)
            left = patience if unanswered else passing
            if left.expired:
                break
            if pending:
                await asyncio.sleep(min(_PAUSE_SECONDS, left.remaining()))
        return answers

    async def _serve(
        self,
        connection: Connection,
        broker: int,
        states: Sequence[PartitionState],
        deadline: Deadline,
    ) -> _Answers:
        """Ask for one batch, and again for the rest if the broker serves only a part of it."""
        names = {name: s.topic_partition for s in states if (name := id_partition(s)) is not None}
        answers: _Answers = dict.fromkeys(names.values(), (None, None))
        pending = set(names)
        while pending:
            infos = await replica_log_info(
                connection, self._dialect, broker, sorted(pending), deadline
            )
            answers |= {names[name]: (infos.broker_epoch, infos.logs.get(name)) for name in pending}
            served = _served(infos) & pending
            if not served:
                break
            pending -= served
        return answers


def _half(deadline: Deadline) -> Deadline:
    """Return half the time for a step that need not succeed, so that its failure does not cost the
    earlier results."""
    return deadline.within(deadline.remaining() / 2)


def _batches(states: Sequence[PartitionState]) -> list[list[PartitionState]]:
    wanted = sorted(states, key=lambda state: state.topic_partition)
    return [wanted[i : i + LIMIT] for i in range(0, len(wanted), LIMIT)]


def _joined(found: Iterable[Mapping[TopicPartition, T]]) -> dict[TopicPartition, T]:
    return {tp: value for answer in found for tp, value in answer.items()}


def _served(infos: LogInfos) -> set[IdPartition]:
    """Return the partitions that the broker served.

    KIP-966 answers REQUEST_LIMIT_REACHED for partitions it leaves out, and gives that error no
    number: any number that is not assigned is taken for it, and the partition is asked for again.
    """
    return {name for name, info in infos.logs.items() if is_assigned(info.error)}


def _newest(epochs: Iterable[int | None]) -> int | None:
    return max((epoch for epoch in epochs if epoch is not None), default=None)


def _may_change(
    state: PartitionState, epoch: int | None, info: LogInfo | None, newest: int | None
) -> bool:
    if info is None:
        return True
    if info.error != Errors.NONE:
        return info.error in PASSING
    return info.current_leader_epoch < state.leader_epoch or _older(epoch, newest)


def _older(epoch: int | None, newest: int | None) -> bool:
    return epoch is not None and newest is not None and epoch < newest


def _not_spoken(connection: Connection, dialect: Dialect) -> str:
    return (
        f"the broker does not speak {unspoken(connection, dialect)}, nothing was sent; --transport"
        " list-offsets reads it without"
    )


def _told(log: ReplicaLog, state: PartitionState, info: LogInfo | None) -> ReplicaLog:
    if info is None:
        return replace(log, problem=NOT_ANSWERED)
    if info.error != Errors.NONE:
        words = f" ({info.message})" if info.message else ""
        return replace(log, problem=error_name(info.error) + words)
    if info.log_end_offset < 0:
        return replace(log, problem="the broker answered no log end offset")
    if info.current_leader_epoch < state.leader_epoch:
        # KIP-966 has the current epoch in the answer so that stale answers are told apart.
        stale = f"{info.current_leader_epoch}, the controller {state.leader_epoch}"
        return replace(log, problem=f"its answer is stale: the broker has leader epoch {stale}")
    epoch = _written_epoch(info)
    return replace(log, last_written_leader_epoch=epoch, log_end_offset=info.log_end_offset)


def _written_epoch(info: LogInfo) -> int | None:
    """Return the epoch of the last record as far as the broker can be believed.

    A partition lost its leader by the latest change of its epoch, so nothing was written in the
    current epoch: a broker that answers the current one lacks the written one.
    """
    if info.log_end_offset == 0:
        return _NEVER_WROTE
    written = info.last_written_leader_epoch
    return None if written is None or written >= info.current_leader_epoch else written


def _current(logs: _Logs) -> _Logs:
    """Return the logs, with a problem for answers of an earlier process of the broker, which may
    have lost its tail since."""
    newest = _newest(log.broker_epoch for log in logs.values())
    return {
        tp: replace(log, problem="its answer is stale: the broker has started again since")
        if _older(log.broker_epoch, newest)
        else log
        for tp, log in logs.items()
    }


async def _with_lineages(
    connection: Connection, states: Sequence[PartitionState], logs: _Logs, deadline: Deadline
) -> _Logs:
    probes = {}
    for state in states:
        end = logs[state.topic_partition].log_end_offset
        assert end is not None
        probes[state.topic_partition] = LineageProbe(end, state.leader_epoch)
    why = await _why_unread(connection, probes, deadline)
    return {tp: _with_lineage(logs[tp], probe, why) for tp, probe in probes.items()}


async def _why_unread(
    connection: Connection, probes: Mapping[TopicPartition, LineageProbe], deadline: Deadline
) -> str | None:
    """Read the lineages, and return why some probes did not come to an end; None when all did."""
    try:
        await read_lineages(connection, probes, _half(deadline))
    except ConnectionFailed as error:
        if error.kind not in _NO_PROBE:
            raise
        return str(error)
    return None


def _with_lineage(log: ReplicaLog, probe: LineageProbe, why: str | None) -> ReplicaLog:
    """Return the log with the probe's results. why: the reason, if the probe may be unfinished."""
    if probe.error == Errors.TOPIC_AUTHORIZATION_FAILED:
        return _unprobed(log, error_name(probe.error))
    if probe.problem is not None:
        return replace(log, problem=probe.problem)
    if probe.unanswered:
        return _unprobed(log, why or NOT_ANSWERED)
    written = probe.last_written_leader_epoch
    return replace(
        log,
        last_written_leader_epoch=log.last_written_leader_epoch if written is None else written,
        log_start_offset=known_offset(probe.log_start_offset),
        high_watermark=known_offset(probe.high_watermark),
        epochs=probe.epochs,
    )


def _unprobed(log: ReplicaLog, why: str) -> ReplicaLog:
    if log.last_written_leader_epoch is not None:
        return log
    return replace(
        log,
        problem=f"the broker tells only the partition's current leader epoch, and the lineage"
        f" could not be probed: {why}",
    )
