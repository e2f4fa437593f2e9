"""Attempts at the same thing run side by side, and the first success wins."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Protocol, TypeVar

from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed

STAGGER_SECONDS = 0.15
"""The time one attempt has to itself before the next one starts beside it."""


class Closeable(Protocol):
    async def close(self) -> None: ...


T = TypeVar("T", bound=Closeable)
Attempt = Callable[[], Coroutine[Any, Any, T]]


async def first_success(
    attempts: Iterable[Attempt[T]], stagger: float = STAGGER_SECONDS
) -> T | tuple[ConnectionFailed, ...]:
    """Return the first result, or why none succeeded, in the order of failing. stagger: as
    STAGGER_SECONDS.

    Losers are cancelled, and closed if they had succeeded too. A refused authentication ends the
    race: repeating a wrong password against every node may lock the user out. Attempts bound
    themselves; any exception but ConnectionFailed is raised.
    """
    waiting, tasks, failures = deque(attempts), list[asyncio.Task[T]](), list[ConnectionFailed]()
    winner: asyncio.Task[T] | None = None
    try:
        while (waiting or _running(tasks)) and not any(f.is_authentication for f in failures):
            winner = await _next_round(waiting, tasks, failures, stagger)
            if winner is not None:
                return winner.result()
        return tuple(failures)
    finally:
        losers = [task for task in tasks if task is not winner]
        clearing = asyncio.create_task(_clear_away(losers))
        try:
            await asyncio.shield(clearing)
        except asyncio.CancelledError:
            # Nobody takes the winner any more.
            await clearing
            await _clear_away([] if winner is None else [winner])
            raise


async def _next_round(
    waiting: deque[Attempt[T]],
    tasks: list[asyncio.Task[T]],
    failures: list[ConnectionFailed],
    stagger: float,
) -> asyncio.Task[T] | None:
    """Start one more attempt, wait for any to end, and note its failure."""
    if waiting:
        tasks.append(asyncio.create_task(waiting.popleft()()))
    running = _running(tasks)
    patience = stagger if waiting else None
    done, _ = await asyncio.wait(running, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
    winner = None
    for task in (task for task in running if task in done):
        if (failure := _failure_of(task)) is None:
            winner = winner or task
        else:
            failures.append(failure)
    return winner


def _running(tasks: Iterable[asyncio.Task[T]]) -> list[asyncio.Task[T]]:
    return [task for task in tasks if not task.done()]


def _failure_of(task: asyncio.Task[T]) -> ConnectionFailed | None:
    try:
        task.result()
    except ConnectionFailed as failure:
        return failure
    return None


async def _clear_away(tasks: list[asyncio.Task[T]]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)
    for task in tasks:
        if not task.cancelled() and task.exception() is None:
            await task.result().close()
