"""What the tests of connections rest on."""

from __future__ import annotations

import asyncio

import pytest

from tests.cluster.fake_node import in_loop


def test_an_exception_that_nobody_looks_at_fails_the_test_that_left_it() -> None:
    @in_loop
    async def careless() -> None:
        async def failing() -> None:
            raise OSError("lost")

        # Nothing but the collector frees a list that holds itself.
        kept: list[object] = [asyncio.create_task(failing())]
        kept.append(kept)
        await asyncio.sleep(0)

    with pytest.raises(AssertionError, match="lost"):
        careless()


def test_a_task_that_still_runs_fails_the_test_that_left_it() -> None:
    @in_loop
    async def careless() -> None:
        running = asyncio.create_task(asyncio.sleep(60))
        await asyncio.sleep(0)
        assert not running.done()

    with pytest.raises(AssertionError, match="sleep"):
        careless()
