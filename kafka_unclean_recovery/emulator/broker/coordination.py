"""This module decides which broker coordinates a group, and lets requests about the group wait.

Kafka keeps groups in a topic that outlives a broker; here the cluster's memory keeps them. When a
coordinator dies, the next coordinator knows all that it knew.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from zlib import crc32

from kafka_unclean_recovery.emulator.apis.api import Context
from kafka_unclean_recovery.emulator.broker.groups import Group, tick
from kafka_unclean_recovery.kafka_names import Errors

# The wait is in seconds. Sessions end by the passing of time, so a waiting request must look again.
_LOOK_EVERY = 0.25


def coordinator_of(context: Context, group_id: str) -> int | None:
    """Return the group's broker while it is live, else the next live one, or None."""
    brokers, live = sorted(context.emulation.brokers), context.live()
    first = crc32(group_id.encode()) % len(brokers)
    in_turn = (*brokers[first:], *brokers[:first])
    return next((broker for broker in in_turn if broker in live), None)


def refusal_here(context: Context, group_id: str) -> int:
    """Return the error of a request that only the group's coordinator answers, or NONE."""
    if not group_id:
        return Errors.INVALID_GROUP_ID
    return (
        Errors.NONE
        if coordinator_of(context, group_id) == context.broker.id
        else Errors.NOT_COORDINATOR
    )


def known_group(context: Context, group_id: str) -> Group | None:
    """Return the group in its state at the present time, or None if there is none."""
    group = context.emulation.groups.get(group_id)
    if group is not None:
        _pass_time(context, group)
    return group


def group_of(context: Context, group_id: str) -> Group:
    """Return the group in its state at the present time, and create it if there is none."""
    context.emulation.groups.setdefault(group_id, Group(group_id))
    group = known_group(context, group_id)
    assert group is not None
    return group


async def wait_while(context: Context, group: Group, is_open: Callable[[], bool]) -> None:
    """Wait until `is_open` is false, which the group's own deadlines bring about at the latest."""
    while is_open():
        left = group.deadline - time.monotonic()
        await context.moved(min(_LOOK_EVERY, max(0.0, left)))
        _pass_time(context, group)


def _pass_time(context: Context, group: Group) -> None:
    before = group.state, group.generation
    tick(group, time.monotonic())
    if before != (group.state, group.generation):
        context.emulation.settled()
