"""Ask leaders how far their logs go, and where leader epochs end in them.

It is the Fetch by which the lineages of leaderless replicas are read, so it tells the end also
where ListOffsets does not (OFFSET_NOT_AVAILABLE, while a new leader's ISR is too small).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TypeVar

from msgspec import Struct

from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests.asking import NOT_ANSWERED, Portion
from kafka_unclean_recovery.cluster.requests.replica_probe import (
    NO_EPOCH,
    EpochEnd,
    end_offsets,
    epoch_ends,
)
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.error_codes import PASSING, error_name
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.model import Broker, TopicPartition
from kafka_unclean_recovery.transport.list_offsets import BATCH

# A leader learns of its election a moment after the controller has made it.
_PASSING_SECONDS = 3.0
_PAUSE_SECONDS = 0.1
_UNKNOWN = -1

T = TypeVar("T")

NextEpoch = Callable[[Mapping[int, tuple[int, int]]], int | None]
"""Given the answers so far, returns the leader epoch to ask for next; None at the end."""


class LedLog(Struct, frozen=True):
    """What a leader told of its log: `ends` as planning.seen_logs.EpochEnds has them. problem: why
    it did not tell all."""

    ends: Mapping[int, tuple[int, int]]
    problem: str | None = None


class LedLogs:
    """Asks the leaders of partitions, each broker over the connection of its replicas' logs."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes

    def throttled(self, broker: int) -> bool:
        """Return True where a client quota holds back what this broker answers."""
        return self._nodes.throttled(broker) is not None

    async def ask(
        self, broker: Broker, wanted: Mapping[TopicPartition, NextEpoch], deadline: Deadline
    ) -> Mapping[TopicPartition, LedLog]:
        """Return what the broker told of each partition; `wanted` is sorted. Needs READ."""
        told: dict[TopicPartition, dict[int, tuple[int, int]]] = {tp: {} for tp in wanted}
        problems: dict[TopicPartition, str] = {}
        try:
            connection = await self._nodes.broker(broker, deadline)
            batches = [dict(batch) for batch in _batches(list(wanted.items()))]
            found = await asyncio.gather(
                *(_ask_all(connection, batch, told, deadline) for batch in batches)
            )
            problems = {tp: why for each in found for tp, why in each.items()}
        except ConnectionFailed as error:
            problems = {tp: str(error) for tp in wanted}
        return {tp: LedLog(told[tp], problems.get(tp)) for tp in wanted}


def _batches(wanted: list[T]) -> list[list[T]]:
    return [wanted[i : i + BATCH] for i in range(0, len(wanted), BATCH)]


async def _ask_all(
    connection: Connection,
    wanted: Mapping[TopicPartition, NextEpoch],
    told: Mapping[TopicPartition, dict[int, tuple[int, int]]],
    deadline: Deadline,
) -> dict[TopicPartition, str]:
    """Add the answers to `told`, and return why some partitions did not answer all. Each request
    asks each partition that has a question left for one epoch."""
    portion = Portion()
    patience = deadline.within(_PASSING_SECONDS)
    problems: dict[TopicPartition, str] = {}
    while asking := _questions(wanted, told, problems):
        answers = dict(await epoch_ends(connection, asking, deadline, portion))
        first = {tp: epoch for tp, epoch in asking.items() if epoch > max(told[tp], default=-1)}
        answers |= await _not_leading_yet(connection, first, answers, deadline)
        passing = False
        for tp, epoch in asking.items():
            answer = answers.get(tp)
            if answer is not None and answer.error == Errors.NONE and answer.epoch != NO_EPOCH:
                told[tp][epoch] = answer.epoch, answer.end_offset
            elif answer is not None and _may_pass(answer) and not patience.expired:
                passing = True
            else:
                problems[tp] = _problem(answer)
        if passing:
            await asyncio.sleep(min(_PAUSE_SECONDS, patience.remaining()))
    return problems


async def _not_leading_yet(
    connection: Connection,
    asking: Mapping[TopicPartition, int],
    answers: Mapping[TopicPartition, EpochEnd],
    deadline: Deadline,
) -> Mapping[TopicPartition, EpochEnd]:
    """Return the ends of logs whose broker does not know yet that it leads, as when it is cut off
    from the controller: nothing is written in the epoch that it is to lead in, so the log ends
    where that epoch begins. asking: the leaders' epochs."""
    unknown = {
        tp: epoch
        for tp, epoch in asking.items()
        if tp in answers and answers[tp].error == Errors.OFFSET_OUT_OF_RANGE
    }
    ends = await end_offsets(connection, list(unknown), deadline) if unknown else {}
    return {
        tp: EpochEnd(Errors.NONE, unknown[tp], end.log_end_offset, _UNKNOWN, _UNKNOWN)
        for tp, end in ends.items()
        if end.error == Errors.NONE
    }


def _questions(
    wanted: Mapping[TopicPartition, NextEpoch],
    told: Mapping[TopicPartition, dict[int, tuple[int, int]]],
    problems: Mapping[TopicPartition, str],
) -> dict[TopicPartition, int]:
    return {
        tp: epoch
        for tp, next_epoch in wanted.items()
        if tp not in problems and (epoch := next_epoch(told[tp])) is not None
    }


def _may_pass(answer: EpochEnd) -> bool:
    """Return True for an answer of a broker that has not become the leader yet: it does not know an
    epoch as new."""
    return answer.error in PASSING or answer.error == Errors.OFFSET_OUT_OF_RANGE


def _problem(answer: EpochEnd | None) -> str:
    if answer is None:
        return NOT_ANSWERED
    if answer.error == Errors.NONE:
        return "the broker compares no leader epochs"
    return error_name(answer.error)
