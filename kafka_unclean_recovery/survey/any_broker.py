"""One question is put to any broker that answers: where one is silent, others are asked beside it.

Reads change nothing, so they are repeated freely until their deadline.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests.describe import RequestFailed
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.error_codes import UNAUTHORIZED
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, NoBrokerReachable
from kafka_unclean_recovery.deadline import Deadline

T = TypeVar("T")
Failure = ConnectionFailed | NoBrokerReachable | RequestFailed
FAILURES = (ConnectionFailed, NoBrokerReachable, RequestFailed)
"""What a look at the cluster may end with."""
Read = Callable[[Connection, Deadline], Awaitable[T]]
Over = Callable[[Connection, Deadline], AbstractAsyncContextManager[Connection]]
"""Given the connection to a broker, returns the connection over which to ask that broker."""

ATTEMPTS = 4
PAUSE_SECONDS = 0.1
_TICK_SECONDS = 0.25


def will_not_pass(error: Failure) -> bool:
    """Return True for a refused login: looking again is of no use."""
    return not isinstance(error, RequestFailed) and error.is_authentication


def shared(connection: Connection, deadline: Deadline) -> AbstractAsyncContextManager[Connection]:
    """Return the connection that all other reads use too."""
    return nullcontext(connection)


@dataclass(frozen=True, slots=True)
class AnyBroker:
    """Any broker that answers. silence: when those that were asked stay silent for so many seconds,
    one more is asked."""

    nodes: Nodes
    silence: float

    async def answer(self, read: Read[T], over: Over, deadline: Deadline) -> T:
        """Return the first answer. Raises NoBrokerReachable, RequestFailed, or the last
        ConnectionFailed."""
        asked: list[_Asked[T]] = []
        try:
            ask = partial(_Asked, self.nodes, read, over, deadline)
            return await self._first_answer(ask, asked, deadline)
        finally:
            for each in asked:
                each.task.cancel()
            await asyncio.gather(*(each.task for each in asked), return_exceptions=True)

    async def _first_answer(
        self, ask: Callable[[], _Asked[T]], asked: list[_Asked[T]], deadline: Deadline
    ) -> T:
        """Return the first answer of the brokers asked so far. Each time one fails, or all are
        silent, one more broker is asked."""
        failure: Failure | None = None
        for attempt in range(1, ATTEMPTS + 1):
            last = attempt == ATTEMPTS or deadline.expired
            if attempt == 1 or not deadline.expired:
                asked.append(ask())
            while (done := await _done_or_silent(asked, self.silence, last)) is not None:
                asked.remove(done)
                failure = done.failure
                if failure is None:
                    return done.task.result()
                done.forsake()
                if not last:
                    await asyncio.sleep(min(PAUSE_SECONDS, deadline.remaining()))
                    break
            for each in asked:
                each.forsake()
            if last or (isinstance(failure, NoBrokerReachable) and not asked):
                break
        assert failure is not None
        raise failure


class _Asked(Generic[T]):
    """One broker that was asked, or will be asked as soon as the connection is open."""

    def __init__(self, nodes: Nodes, read: Read[T], over: Over, deadline: Deadline) -> None:
        self.connection: Connection | None = None
        self._listening: Connection | None = None
        self._nodes = nodes
        self._begun = time.monotonic()
        self.task = asyncio.create_task(self._ask(read, over, deadline))

    async def _ask(self, read: Read[T], over: Over, deadline: Deadline) -> T:
        self.connection = await self._nodes.any(deadline)
        async with over(self.connection, deadline) as self._listening:
            return await read(self._listening, deadline)

    @property
    def quiet_for(self) -> float:
        """Return the seconds since the broker was asked in which nothing came from it."""
        waited = time.monotonic() - self._begun
        return waited if self._listening is None else min(waited, self._listening.silent_for)

    def forsake(self) -> None:
        if self.connection is not None:
            self._nodes.forsake(self.connection)

    @property
    def failure(self) -> Failure | None:
        """Return why the task ended without an answer that counts, or None. Raises RequestFailed
        when the caller lacks a right, because another broker would refuse too."""
        try:
            self.task.result()
        except (ConnectionFailed, NoBrokerReachable) as error:
            return error
        except RequestFailed as error:
            if error.code in UNAUTHORIZED:
                raise
            return error
        return None


async def _done_or_silent(
    asked: Sequence[_Asked[T]], silence: float, last: bool
) -> _Asked[T] | None:
    """Return one asked broker whose task is done. Return None when none is left, or, unless this is
    the `last` attempt, when all have been silent for `silence` seconds."""
    while asked:
        tasks = [each.task for each in asked]
        await asyncio.wait(tasks, timeout=_TICK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        done = [each for each in asked if each.task.done()]
        if done:
            return done[0]
        if not last and all(each.quiet_for >= silence for each in asked):
            return None
    return None
