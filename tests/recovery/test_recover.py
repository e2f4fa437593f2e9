"""A run's phases: whatever happens beside an election, the election is awaited and told."""

from __future__ import annotations

import asyncio

import pytest

from kafka_unclean_recovery.model import Cluster
from kafka_unclean_recovery.recovery.observe import Observation
from kafka_unclean_recovery.recovery.recover import _beside
from kafka_unclean_recovery.transport import Elections
from tests.cluster.fake_node import in_loop

SEEN = Observation(Cluster("c-1", {}), {}, {}, {}, problems=("before",))
MADE = Elections({}, {})


async def _elect() -> Elections:
    await asyncio.sleep(0)
    return MADE


async def _fail() -> Observation:
    raise RuntimeError("lost")


@in_loop
async def test_a_look_that_fails_beside_the_election_is_a_problem_and_no_more() -> None:
    made, seen = await _beside(_elect(), _fail(), SEEN)
    assert made is MADE
    assert seen.problems == (
        "before",
        "not all was looked at beside the election: RuntimeError: lost",
    )


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
