"""Locks that wait no longer than their caller may."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from kafka_unclean_recovery.cluster.wire.bootstrap import Address
from kafka_unclean_recovery.cluster.wire.dial import address_text, bounded
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, NoBrokerReachable
from kafka_unclean_recovery.deadline import Deadline


async def acquire(lock: asyncio.Lock, deadline: Deadline, address: str) -> None:
    """Wait for the lock. Raises ConnectionFailed at the deadline: whoever holds it may have more
    time than this caller."""
    async with bounded(deadline, address, "another connection to it is opened"):
        await lock.acquire()


@asynccontextmanager
async def one_at_a_time(
    lock: asyncio.Lock, deadline: Deadline, addresses: Sequence[Address]
) -> AsyncIterator[None]:
    """Hold the lock, to open a connection to one of the addresses. Raises NoBrokerReachable where
    another holds it until the deadline."""
    try:
        await acquire(lock, deadline, address_text(*addresses[0]))
    except ConnectionFailed as error:
        raise NoBrokerReachable([error]) from None
    try:
        yield
    finally:
        lock.release()
