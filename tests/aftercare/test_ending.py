"""Markers go to transactions that are open right before, with the verdict that was found."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from kafka_unclean_recovery.aftercare import ending
from kafka_unclean_recovery.aftercare.ending import end_transactions
from kafka_unclean_recovery.aftercare.leader_answers import still_open
from kafka_unclean_recovery.aftercare.transactions import Ending, Hanging, Judgement
from kafka_unclean_recovery.cluster.requests.transactions import OpenTransaction, Producers
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, FailureKind
from kafka_unclean_recovery.model import Broker, TopicPartition

WHERE = TopicPartition("orders", 0)
HERE = OpenTransaction(WHERE, 7, 3, -1, 100, 5)
OTHER = replace(HERE, producer_id=8)
LEADER = Broker(3, "h", 1)
SILENT = ConnectionFailed(FailureKind.TIMED_OUT, "h:1", "no answer in time")


class Leader:
    """A broker as far as ending goes: what is open on it, and the markers that it got."""

    def __init__(self, *open_: OpenTransaction, code: int = 0, error: int = 0) -> None:
        self.open, self.code, self.error = open_, code, error
        self.markers: list[tuple[int, bool]] = []
        self.failure: ConnectionFailed | None = None
        self.proof_missing: str | None = None

    def unproven(self, broker: int) -> str | None:
        assert broker == LEADER.id
        return self.proof_missing

    async def broker(self, broker: Broker, deadline: Any) -> Leader:
        assert broker is LEADER
        return self

    async def tell(self, wanted: Sequence[TopicPartition]) -> dict[TopicPartition, Producers]:
        return {tp: Producers(self.error, self.open) for tp in wanted}

    async def take(self, transaction: OpenTransaction, commit: bool) -> int:
        if self.failure is not None:
            raise self.failure
        self.markers.append((transaction.producer_id, commit))
        return self.code


@pytest.fixture(autouse=True)
def _requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "describe_producers", lambda on, wanted, _: on.tell(wanted))
    monkeypatch.setattr(ending, "write_marker", lambda on, t, commit, _: on.take(t, commit))


def end(leader: Leader, *chosen: tuple[OpenTransaction, Ending], go: int = 9) -> list[str | None]:
    hanging = [Hanging(3, here, None, Judgement(how, "")) for here, how in chosen]
    left = iter([True] * go + [False])
    nodes: Any = leader
    done = asyncio.run(end_transactions(nodes, {WHERE: LEADER}, hanging, 5.0, lambda: next(left)))
    return [each.problem for each in done]


def test_each_gets_the_marker_of_its_verdict() -> None:
    leader = Leader(HERE, OTHER)
    assert end(leader, (HERE, Ending.COMMIT), (OTHER, Ending.ABORT)) == [None, None]
    assert leader.markers == [(7, True), (8, False)]


@pytest.mark.parametrize(
    "now",
    [
        pytest.param((), id="ended"),
        pytest.param((replace(HERE, start_offset=200),), id="another began"),
        pytest.param((replace(HERE, last_timestamp_ms=6),), id="its producer goes on"),
    ],
)
def test_what_changed_meanwhile_is_left_alone(now: tuple[OpenTransaction, ...]) -> None:
    leader = Leader(*now)
    (problem,) = end(leader, (HERE, Ending.COMMIT))
    assert problem is not None
    assert "changed before its marker was sent" in problem
    assert leader.markers == []


def test_a_refusal_and_a_silence_are_told() -> None:
    refusing = Leader(HERE, code=6)
    assert end(refusing, (HERE, Ending.ABORT)) == [
        "broker 3 refused the marker: NOT_LEADER_FOR_PARTITION"
    ]
    silent = Leader(HERE)
    silent.failure = SILENT
    (problem,) = end(silent, (HERE, Ending.ABORT))
    assert problem is not None
    assert problem.endswith("see whether its marker was written")


def test_who_may_be_another_broker_gets_none() -> None:
    leader = Leader(HERE)
    leader.proof_missing = "nothing proves that broker 3 answered"
    assert end(leader, (HERE, Ending.COMMIT)) == ["nothing proves that broker 3 answered"]
    assert leader.markers == []


def test_a_stop_leaves_the_rest() -> None:
    leader = Leader(HERE, OTHER)
    assert end(leader, (HERE, Ending.COMMIT), (OTHER, Ending.ABORT), go=1) == [None]
    assert leader.markers == [(7, True)]


def test_a_partition_whose_leader_is_gone_gets_none() -> None:
    leader = Leader()
    elsewhere = replace(HERE, topic_partition=TopicPartition("orders", 1))
    assert end(leader, (elsewhere, Ending.COMMIT)) == ["its leader is not live"]


def test_only_the_very_transactions_that_were_open_before_hang() -> None:
    # A coordinator that was asked between tells of what has ended since, or has begun.
    grown = replace(HERE, last_timestamp_ms=9)
    assert still_open([HERE, OTHER], [grown, replace(OTHER, start_offset=101)]) == (grown,)
    assert still_open([HERE], [replace(HERE, producer_epoch=4)]) == ()
