"""A run's phases: whatever happens beside an election, the election is awaited and told."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, cast

import pytest

from kafka_unclean_recovery.cluster.requests.describe import RequestFailed
from kafka_unclean_recovery.cluster.wire.errors import (
    ConnectionFailed,
    FailureKind,
    NoBrokerReachable,
)
from kafka_unclean_recovery.model import Cluster, Outcome, OutcomeKind, TopicPartition
from kafka_unclean_recovery.planning.plan import plan_partition
from kafka_unclean_recovery.recovery.consent import Consent
from kafka_unclean_recovery.recovery.observe import Observation
from kafka_unclean_recovery.recovery.partitions import (
    Stage,
    carried_out,
    consented,
    observed,
    planned,
)
from kafka_unclean_recovery.recovery.recover import Power, _beside, _consent, _verify
from kafka_unclean_recovery.survey.currency import Behind
from kafka_unclean_recovery.transport import Elections
from tests.cluster.fake_node import in_loop
from tests.transport.scripted import offline

STATE = offline(0)
PLANS = {STATE.topic_partition: plan_partition(STATE, [])}
SEEN = Observation(Cluster("c-1", {}), {}, {}, {}, problems=("before",))
MADE = Elections({}, {})


async def _elect() -> Elections:
    await asyncio.sleep(0)
    return MADE


async def _fail() -> Observation:
    raise RuntimeError("lost")


@in_loop
async def test_nothing_is_begun_nor_noted_without_consent() -> None:
    async def refuse(*_: object) -> Consent:
        return Consent(given=False, how="the answer was no")

    # Whatever else is touched fails: the journal before all.
    nothing = cast(Any, None)
    power = Power(nothing, nothing, nothing, nothing, consent=refuse)
    offline_now = replace(SEEN, states={STATE.topic_partition: STATE})
    rows, lost = await _consent(power, SEEN.cluster, planned(observed(offline_now), PLANS))
    (row,) = rows.values()
    assert (row.stage, lost) == (Stage.SETTLED, ())
    assert row.outcome == Outcome(
        OutcomeKind.FAILED, "its election was not begun: the answer was no"
    )


@in_loop
async def test_a_look_that_fails_beside_the_election_is_a_problem_and_no_more() -> None:
    made, seen = await _beside(_elect(), _fail(), SEEN)
    assert made is MADE
    assert seen.problems == (
        "before",
        "not all was looked at beside the election: RuntimeError: lost",
    )


@pytest.mark.parametrize(
    "error",
    [
        ConnectionFailed(FailureKind.CLOSED_PORT, "b1:9092", "gone"),
        NoBrokerReachable([ConnectionFailed(FailureKind.CLOSED_PORT, "b1:9092", "gone")]),
        RequestFailed("Metadata", 31),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_can_not_be_read_back_in_the_end_is_a_problem_and_no_more(error: Exception) -> None:
    class Reader:
        async def partitions_in_the_end(self, _: object) -> Any:
            raise error

    tp = STATE.topic_partition
    now = replace(SEEN, states={tp: STATE, TopicPartition("orders", 1): offline(1)})
    rows = carried_out(consented(planned(observed(now), PLANS)), {})

    @in_loop
    async def go() -> None:
        seen, told = await _verify(cast(Any, Reader()), now, rows, {tp: STATE})
        assert seen.problems == ("before", f"the partitions could not be read back: {error}")
        assert told.keys() == rows.keys()

    go()


class _Unread:
    async def partitions_in_the_end(self, _: object) -> Any:
        raise RequestFailed("Metadata", 31)


class _Lagging:
    async def partitions_in_the_end(self, _: object) -> Any:
        raise Behind("every broker is behind")


class _Lacking:
    async def partitions_in_the_end(self, _: object) -> Any:
        return {}


@in_loop
@pytest.mark.parametrize(
    "reader",
    [_Unread(), _Lagging(), _Lacking()],
    ids=["no answer", "brokers behind", "not in the answer"],
)
@pytest.mark.parametrize("success", [OutcomeKind.ELECTED, OutcomeKind.ALREADY_ONLINE])
async def test_what_an_earlier_wave_elected_and_nobody_can_read_in_the_end_is_no_success(
    success: OutcomeKind, reader: object
) -> None:
    """Its row has the state from before, which has no leader."""
    tp = STATE.topic_partition
    now = replace(SEEN, states={tp: STATE})
    elected = {tp: Outcome(success)}
    rows = carried_out(consented(planned(observed(now), PLANS)), elected)
    _, told = await _verify(cast(Any, reader), now, rows, {})
    outcome = told[tp].outcome
    assert outcome is not None
    assert (outcome.kind, outcome.in_doubt) == (OutcomeKind.FAILED, True)
    assert outcome.reason is not None
    assert outcome.reason.startswith("it got a leader, and who leads could not be read back")


@in_loop
async def test_an_election_that_fails_ends_the_look_beside_it() -> None:
    begun = asyncio.Event()
    ended = asyncio.Event()

    async def look() -> Observation:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return SEEN

    async def elect() -> Elections:
        await begun.wait()
        raise RuntimeError("lost")

    with pytest.raises(RuntimeError):
        await _beside(elect(), look(), SEEN)
    async with asyncio.timeout(5):
        await ended.wait()
