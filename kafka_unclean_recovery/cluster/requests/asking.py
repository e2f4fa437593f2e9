"""Ask again for partitions that an answer left out.

A broker whose quota is used up answers a Fetch without partitions and says for how long it reads
nothing more from that connection (KIP-219; kafka.server.KafkaApis.handleFetchRequest). The broker
weighs the answer that it would have sent, so an answer as large as before may never fit. Each time
an answer is empty, fewer partitions are asked for at once from then on.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Generic, TypeVar

from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, FailureKind
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.model import TopicPartition

NOT_ANSWERED = (
    "the broker left it out of its answers until time was up, as it does where a client quota"
    " (consumer_byte_rate, request_percentage) is used up"
)

# Each request adds to the used-up quota, and Kafka forgets old use in about ten seconds.
_FIRST_PAUSE, _LONGER_BY, _LONGEST_PAUSE = 0.1, 3, 12.0
# A few partitions that are never answered must leave time for the later questions about the others:
# this share of the time there is when the first answer comes. Where none is answered, they must
# leave time to report that: a tenth, and of a long time these seconds, as a quota that counts over
# long windows passes only after minutes.
_SHARE_FOR_THE_REST = 0.5
_SHARE_FOR_ALL, _REPORT_SECONDS = 0.9, 3.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Portioned(Generic[T]):
    """The content of one answer. throttled_seconds: how long the broker will not read the next
    request."""

    found: Mapping[TopicPartition, T]
    throttled_seconds: float = 0.0


@dataclass(slots=True)
class Portion:
    """How many partitions a broker is asked for at once: all, until it holds answers back."""

    most: int = sys.maxsize

    def came(self, asked: int, told: int) -> None:
        if told == 0:
            self.most = max(1, asked // 2)


Ask = Callable[[Sequence[TopicPartition], Deadline], Awaitable[Portioned[T]]]
"""Sends one request for the given partitions. Raises ConnectionFailed."""


async def until_answered(
    wanted: Sequence[TopicPartition], ask: Ask[T], deadline: Deadline, portion: Portion
) -> dict[TopicPartition, T]:
    """Return the answer for each partition; a partition that no answer had in most of the time is
    missing. Raises ConnectionFailed."""
    found: dict[TopicPartition, T] = {}
    left = list(wanted)
    time_there_is = deadline.remaining()
    for_all = deadline.within(max(time_there_is * _SHARE_FOR_ALL, time_there_is - _REPORT_SECONDS))
    patience, pause = deadline, _FIRST_PAUSE
    while left:
        batch = sorted(left[: portion.most])
        try:
            answer = await ask(batch, patience)
        except ConnectionFailed as error:
            if patience is deadline or error.kind is not FailureKind.TIMED_OUT:
                raise
            break
        told = {tp: answer.found[tp] for tp in batch if tp in answer.found}
        if told and not found:
            for_all = deadline.within(deadline.remaining() * _SHARE_FOR_THE_REST)
        patience = for_all
        found |= told
        portion.came(len(batch), len(told))
        # A partition that is never answered must not keep the others from being asked for.
        left = [*left[len(batch) :], *(tp for tp in batch if tp not in told)]
        if told:
            pause = _FIRST_PAUSE
        if len(told) < len(batch):
            for_now = max(answer.throttled_seconds, pause)
            if for_now >= patience.remaining():
                break
            await asyncio.sleep(for_now)
            pause = min(pause * _LONGER_BY, _LONGEST_PAUSE)
    return found


def by_topic(wanted: Iterable[TopicPartition]) -> Iterable[tuple[str, list[TopicPartition]]]:
    """Return each topic with its partitions, as requests name them; `wanted` is sorted by topic."""
    return ((topic, list(tps)) for topic, tps in groupby(wanted, key=lambda tp: tp.topic))
