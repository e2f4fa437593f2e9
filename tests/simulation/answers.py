"""What the emulated brokers answer, changed on its way out, and who wants to know of requests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any
from unittest.mock import patch

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.listener import carrying_out, server
from kafka_unclean_recovery.emulator.listener.carrying_out import HangUp, Silence
from kafka_unclean_recovery.emulator.listener.failure_answers import failed

Meddle = Callable[[Context, Api, Any, Callable[[], Awaitable[Fields | None]]], Awaitable[Any]]
"""Gets the request and what would answer it."""

# In seconds, there and back.
_ON_THE_WAY = (0.0005, 0.005)
_THROTTLE = "throttle_time_ms"


@dataclass(eq=False)
class Rule:
    """To the next `times` requests of an API at one broker, or at any."""

    api: str
    meddle: Meddle
    broker: int | None = None
    times: int = 1


@dataclass
class Answers:
    """`random`: how long requests are on their way. `heard`: called before a request is carried out
    and after it, with the API, its broker, and whether it is done. `unchanged`: called with the API
    and its broker when a request was answered as it is."""

    random: Random
    rules: list[Rule] = field(default_factory=list)
    heard: list[Callable[[str, int, bool], None]] = field(default_factory=list)
    unchanged: list[Callable[[str, int], None]] = field(default_factory=list)

    def change(self) -> Any:
        """Return a context manager: from now on all brokers answer through this."""
        return patch.object(server, "carry_out", self._carry_out)

    async def _carry_out(self, context: Context, api: Api, request: Any) -> Fields | None:
        await asyncio.sleep(self.random.uniform(*_ON_THE_WAY))
        self._tell(api.name, context.broker.id, done=False)

        async def usual() -> Fields | None:
            answer = await carrying_out.carry_out(context, api, request)
            self._tell(api.name, context.broker.id, done=True)
            return answer

        rule = self._rule(api.name, context.broker.id)
        if rule is None:
            answer = await usual()
            for hear in self.unchanged:
                hear(api.name, context.broker.id)
            return answer
        rule.times -= 1
        meddled: Fields | None = await rule.meddle(context, api, request, usual)
        return meddled

    def _rule(self, api: str, broker: int) -> Rule | None:
        fit = (r for r in self.rules if r.times and r.api == api and r.broker in (None, broker))
        return next(fit, None)

    def _tell(self, api: str, broker: int, *, done: bool) -> None:
        for hear in list(self.heard):
            hear(api, broker, done)


def fails(error: int) -> Meddle:
    """Return what fails without carrying the request out."""

    async def meddle(_: Context, api: Api, request: Any, __: Any) -> Any:
        return failed(api.request, request, error)

    return meddle


def fails_some(error: int, seed: int) -> Meddle:
    """Return what carries the request out, and yet says of some rows that they failed."""
    random = Random(seed)

    async def meddle(_: Context, __: Api, ___: Any, usual: Any) -> Any:
        answer = await usual()
        for row in _rows(answer):
            if random.random() < 0.5:
                row["error_code"] = error
        return answer

    return meddle


def leaves_out(seed: int) -> Meddle:
    """Return what carries the request out, and leaves some rows out of the answer."""
    random = Random(seed)

    async def meddle(_: Context, __: Api, ___: Any, usual: Any) -> Any:
        answer = await usual()
        for rows in _lists(answer):
            rows[:] = [row for row in rows if random.random() < 0.5]
        return answer

    return meddle


def throttles(milliseconds: int) -> Meddle:
    """Return what answers a Fetch as a broker does over a quota: at once and without partitions."""

    async def meddle(_: Context, __: Api, ___: Any, usual: Any) -> Any:
        answer = await usual()
        if answer is not None and "responses" in answer:
            answer["responses"] = []
        if answer is not None:
            answer[_THROTTLE] = milliseconds
        return answer

    return meddle


def is_silent(carried_out: bool) -> Meddle:
    async def meddle(_: Context, __: Api, ___: Any, usual: Any) -> Any:
        if carried_out:
            await usual()
        raise Silence

    return meddle


def hangs_up(carried_out: bool) -> Meddle:
    async def meddle(_: Context, __: Api, ___: Any, usual: Any) -> Any:
        if carried_out:
            await usual()
        raise HangUp

    return meddle


def is_slow(seconds: float, carried_out: bool) -> Meddle:
    """Return what is slow, before the request is carried out, or after."""

    async def meddle(_: Context, __: Api, ___: Any, usual: Any) -> Any:
        if carried_out:
            answer = await usual()
            await asyncio.sleep(seconds)
            return answer
        await asyncio.sleep(seconds)
        return await usual()

    return meddle


def says_done() -> Meddle:
    """Return what says that it was a success, and does nothing."""
    return fails(0)


def _lists(value: Any) -> Iterator[list[Any]]:
    """Yield the innermost lists of rows: those of partitions, or of topics that have none."""
    if isinstance(value, dict):
        lists = [v for v in value.values() if isinstance(v, list) and v and isinstance(v[0], dict)]
        for found in lists:
            deeper = [inner for row in found for inner in _lists(row)]
            yield from deeper or [found]


def _rows(value: Any) -> Iterator[dict[str, Any]]:
    return (row for rows in _lists(value) for row in rows if "error_code" in row)
