"""Asking again for what an answer left out, when the connection fails meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from kafka_unclean_recovery.cluster.requests.asking import Portion, Portioned, until_answered
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, FailureKind
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.model import TopicPartition
from tests.cluster.fake_node import ample, in_loop

PARTITIONS = [TopicPartition("orders", number) for number in range(3)]


def _failing_at(number: int, kind: FailureKind) -> dict[TopicPartition, int]:
    """Return what is found where each answer has one partition, and one of the requests fails."""
    asked: list[Sequence[TopicPartition]] = []
    found: dict[TopicPartition, int] = {}

    async def ask(wanted: Sequence[TopicPartition], _: Deadline) -> Portioned[int]:
        asked.append(wanted)
        if len(asked) == number:
            raise ConnectionFailed(kind, "b1:9092", f"{kind} it is")
        return Portioned({wanted[0]: len(asked)})

    @in_loop
    async def go() -> None:
        found.update(await until_answered(PARTITIONS, ask, ample(), Portion()))

    go()
    return found


@pytest.mark.parametrize("number", [1, 2])
def test_a_connection_that_breaks_is_no_broker_that_leaves_partitions_out(number: int) -> None:
    with pytest.raises(ConnectionFailed, match="disconnected it is"):
        _failing_at(number, FailureKind.DISCONNECTED)


def test_a_broker_that_answers_nothing_at_all_in_time_has_failed() -> None:
    with pytest.raises(ConnectionFailed, match="timed-out it is"):
        _failing_at(1, FailureKind.TIMED_OUT)


def test_what_was_answered_before_the_broker_fell_silent_is_kept() -> None:
    assert _failing_at(2, FailureKind.TIMED_OUT) == {PARTITIONS[0]: 1}


def test_everything_is_asked_for_until_it_is_answered() -> None:
    assert _failing_at(0, FailureKind.TIMED_OUT) == {tp: n for n, tp in enumerate(PARTITIONS, 1)}


@pytest.mark.parametrize(("answered", "until"), [(True, 50), (False, 97)])
def test_a_few_that_are_never_answered_leave_time_for_what_is_to_be_asked_next(
    monkeypatch: pytest.MonkeyPatch, answered: bool, until: int
) -> None:
    """Each request takes a second of a hundred."""
    seconds = [0.0]
    asked: list[float] = []

    async def ask(wanted: Sequence[TopicPartition], _: Deadline) -> Portioned[int]:
        asked.append(seconds[0])
        seconds[0] += 1
        return Portioned({tp: 1 for tp in wanted if answered and tp.partition != 2})

    async def sleep(pause: float) -> None:
        seconds[0] += pause

    @in_loop
    async def go() -> None:
        monkeypatch.setattr(asyncio, "sleep", sleep)
        deadline = Deadline.after(100, lambda: seconds[0])
        await until_answered(PARTITIONS, ask, deadline, Portion())
        monkeypatch.undo()

    go()
    assert until - 20 < asked[-1] < until
