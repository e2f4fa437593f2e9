"""A request on its way to its API: what intercepts it, and whether the controller is reached."""

from __future__ import annotations

import asyncio
from typing import Any

from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.error_codes import REQUEST_TIMED_OUT
from kafka_unclean_recovery.emulator.failure_answers import failed
from kafka_unclean_recovery.emulator.intercepts import Close, Delay, Fail, NoAnswer, Seen
from kafka_unclean_recovery.emulator.security import authorizing

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
"""Keys of requests that brokers pass on to the controller (KIP-590)."""

FORWARDING_SECONDS = 60.0
"""A broker gives up what it can't pass on with REQUEST_TIMED_OUT after that, whatever time-out the
request names; what reaches the controller before is carried out, be its sender gone or not."""


class HangUp(Exception):
    """The connection is to be closed without an answer."""


class Silence(Exception):
    """Nothing more is to be said on this connection."""


async def carry_out(context: Context, api: Api, request: Any) -> Fields | None:
    """The answer, None where none is wanted. Raises HangUp and Silence."""
    key = int(api.request.API_KEY)
    seen = Seen(api.name, key, request.version, context.broker.id, request)
    action = context.interceptions.take(seen)
    if action is None:
        return await _answer(context, api, request)
    match action:
        case Fail() if getattr(request, "acks", None) == 0:
            raise HangUp  # As Kafka tells a producer that wants no answer.
        case Fail(error):
            return failed(api.request, request, error)
        case Delay(seconds):
            await asyncio.sleep(seconds)
            return await _answer(context, api, request)
        case NoAnswer(carried_out) | Close(carried_out):
            if carried_out:
                await _answer(context, api, request)
    raise HangUp if isinstance(action, Close) else Silence


async def _answer(context: Context, api: Api, request: Any) -> Fields | None:
    if api.request.API_KEY in FORWARDED and not await _controller_reached(context):
        return failed(api.request, request, REQUEST_TIMED_OUT)
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
