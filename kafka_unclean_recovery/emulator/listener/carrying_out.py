"""A request is intercepted here, or carried out if the controller it needs is reached."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from copy import deepcopy
from functools import partial
from typing import Any
from uuid import UUID

from kafka.protocol.consumer.fetch import FetchRequest

from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.listener.entries import (
    has_any,
    joined,
    left_out,
    only,
    without,
)
from kafka_unclean_recovery.emulator.listener.failure_answers import failed, with_errors
from kafka_unclean_recovery.emulator.listener.intercepts import (
    Close,
    Delay,
    Fail,
    Hold,
    LeaveOut,
    NoAnswer,
    Rewrite,
    Seen,
    Throttle,
    Where,
)
from kafka_unclean_recovery.emulator.listener.wire import build, response_class
from kafka_unclean_recovery.emulator.security import authorizing
from kafka_unclean_recovery.kafka_names import Errors

FORWARDED = frozenset(
    {
        *(19, 20, 37),  # CreateTopics, DeleteTopics, CreatePartitions
        *(30, 31),  # CreateAcls, DeleteAcls
        *(33, 44),  # AlterConfigs, IncrementalAlterConfigs
        *(43, 45, 46),  # ElectLeaders, AlterPartitionReassignments, ListPartitionReassignments
        *(51, 55),  # AlterUserScramCredentials, DescribeQuorum
        *(57, 64),  # UpdateFeatures, UnregisterBroker
    }
)
"""Brokers pass on requests with these keys to the controller (KIP-590)."""

FORWARDING_SECONDS = 60.0
"""A broker answers REQUEST_TIMED_OUT when it could not pass on a request for so many seconds,
whatever time-out the request names. A request that reaches the controller before is carried out,
even if its sender is gone."""

_HELD_POLL_SECONDS = 0.01


class HangUp(Exception):
    """The connection must be closed without an answer."""


class Silence(Exception):
    """The connection gets no more answers."""


async def carry_out(context: Context, api: Api, request: Any) -> Fields | None:
    """Carry out a request. Return its answer, None if unwanted. Raises HangUp and Silence."""
    key = int(api.request.API_KEY)
    seen = Seen(api.name, key, request.version, context.broker.id, request)
    action = context.interceptions.take(seen)
    if action is None:
        return await _answer(context, api, request)
    match action:
        case Fail():
            return await _failed(context, api, request, action)
        case LeaveOut() | Rewrite():
            return await _changed(context, api, request, action)
        case Throttle(seconds):
            return await _throttled(context, api, request, seconds)
        case Delay(seconds, carried_out):
            return await _late(context, api, request, seconds, carried_out)
        case Hold(until, seconds):
            await _held(until, seconds)
            return await _answer(context, api, request)
        case NoAnswer(carried_out) | Close(carried_out):
            if carried_out:
                await _answer(context, api, request)
    raise HangUp if isinstance(action, Close) else Silence


async def _failed(context: Context, api: Api, request: Any, how: Fail) -> Fields | None:
    if getattr(request, "acks", None) == 0:
        raise HangUp  # Kafka closes the connection of a producer that wants no answer.
    if how.of is None:
        return failed(api.request, request, how.error, how.where)
    return await _partly_failed(context, api, request, how.error, how.of)


async def _partly_failed(
    context: Context, api: Api, request: Any, error: int, of: Collection[str]
) -> Fields | None:
    """Fail the entries of these names, and carry out the others."""
    called = partial(_called, context)
    asked = request.to_dict(json=False)
    rest, refused = without(asked, of, called), only(asked, of, called)
    if has_any(refused) and not has_any(rest):
        # An empty list would mean all, so the request can't be carried out without its entries.
        return failed(api.request, request, error, Where.ENTRIES)
    answer = await _answer(context, api, build(api.request, request.version, rest))
    if answer is None:
        return None
    errors = failed(api.request, build(api.request, request.version, refused), error, Where.ENTRIES)
    of_all = with_errors(response_class(api.request), only(answer, of, called), error)
    return joined(joined(without(answer, of, called), of_all, called), errors, called)


async def _changed(
    context: Context, api: Api, request: Any, how: LeaveOut | Rewrite
) -> Fields | None:
    answer = await _answer(context, api, request)
    if answer is None:
        return None
    if isinstance(how, Rewrite):
        # Some of an answer may be a constant, which all answers share.
        return how.change(deepcopy(answer))
    return left_out(answer, how.of, partial(_called, context))


def _called(context: Context, value: Any) -> str:
    """Return the name of a value of a field, as entries.Called demands."""
    known = context.topic(None, value) if isinstance(value, UUID) else None
    return str(value) if known is None else known.name


async def _throttled(context: Context, api: Api, request: Any, seconds: float) -> Fields | None:
    """Throttle a client as ClientQuotaManager does: a fetch gets no records
    (FetchContext.getThrottledResponse), any other request is carried out. The answer says for how
    long the channel is muted."""
    told = {"throttle_time_ms": round(seconds * 1000)}
    if api.request is FetchRequest:
        answer: Fields | None = {"responses": []}
    else:
        answer = await _answer(context, api, request)
    context.muted.until = Deadline.after(seconds)
    if answer is None or "throttle_time_ms" not in response_class(api.request).fields:
        return answer
    return answer | told


async def _late(
    context: Context, api: Api, request: Any, seconds: float, carried_out: bool
) -> Fields | None:
    if not carried_out:
        await asyncio.sleep(seconds)
        return await _answer(context, api, request)
    answer = await _answer(context, api, request)
    await asyncio.sleep(seconds)
    return answer


async def _held(until: Callable[[], bool], seconds: float) -> None:
    deadline = Deadline.after(seconds)
    while not until():
        if deadline.expired:
            raise HangUp
        await asyncio.sleep(_HELD_POLL_SECONDS)


async def _answer(context: Context, api: Api, request: Any) -> Fields | None:
    if api.request.API_KEY in FORWARDED and not await _controller_reached(context):
        return failed(api.request, request, Errors.REQUEST_TIMED_OUT)
    return await authorizing.answer(api, context, request)


async def _controller_reached(context: Context) -> bool:
    faults, broker = context.emulation.faults, context.broker.id
    deadline = Deadline.after(FORWARDING_SECONDS)
    while not faults.reaches_controller(broker):
        if deadline.expired:
            return False
        await context.moved(deadline.remaining())
    if seconds := faults.controller_delay(broker):
        await asyncio.sleep(seconds)
    return True
