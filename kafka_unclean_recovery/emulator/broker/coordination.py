"""Which broker coordinates a group, and how requests about it wait.

Kafka keeps groups in a topic that outlives a broker; here the cluster's memory does. A coordinator
that dies is followed by another, which knows all that it knew.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from zlib import crc32

from kafka_unclean_recovery.emulator.apis.api import Context
from kafka_unclean_recovery.emulator.broker.groups import Group, tick
from kafka_unclean_recovery.emulator.error_codes import INVALID_GROUP_ID, NONE, NOT_COORDINATOR

# Seconds; sessions end by themselves.
_LOOK_EVERY = 0.25


def coordinator_of(context: Context, group_id: str) -> int | None:
    """Always the same broker while it is live, else the next that is; None if none is."""
    brokers, live = sorted(context.emulation.brokers), context.live()
    first = crc32(group_id.encode()) % len(brokers)
    in_turn = (*brokers[first:], *brokers[:first])
    return next((broker for broker in in_turn if broker in live), None)


def refusal_here(context: Context, group_id: str) -> int:
    """Of a request that only the group's coordinator answers."""
    if not group_id:
        return INVALID_GROUP_ID
    return NONE if coordinator_of(context, group_id) == context.broker.id else NOT_COORDINATOR


def known_group(context: Context, group_id: str) -> Group | None:
    """As it is by now."""
    group = context.emulation.groups.get(group_id)
    if group is not None:
        _pass_time(context, group)
    return group


def group_of(context: Context, group_id: str) -> Group:
    """As it is by now; a new one if there is none."""
    context.emulation.groups.setdefault(group_id, Group(group_id))
    group = known_group(context, group_id)
    assert group is not None
    return group


async def wait_while(context: Context, group: Group, is_open: Callable[[], bool]) -> None:
    """Ends by the group's own deadlines."""
    while is_open():
        left = group.deadline - time.monotonic()
        await context.moved(min(_LOOK_EVERY, max(0.0, left)))
        _pass_time(context, group)


def _pass_time(context: Context, group: Group) -> None:
    before = group.state, group.generation
    tick(group, time.monotonic())
    if before != (group.state, group.generation):
        context.emulation.settled()
