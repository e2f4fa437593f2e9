"""Knock at an address to learn whether the process there runs, is dead, or may be paused."""

from __future__ import annotations

import asyncio
import contextlib
from enum import StrEnum

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, FailureKind
from kafka_unclean_recovery.deadline import Deadline

_SECONDS = 5.0


class Knocked(StrEnum):
    """The result of a knock. RUNS: the process answers, even if it refuses. DEAD: nobody listens
    there. SILENT: the connection is taken, by the process or by its machine alone, and no answer
    comes. UNREACHABLE: no connection is taken."""

    RUNS = "runs"
    DEAD = "dead"
    SILENT = "silent"
    UNREACHABLE = "unreachable"


async def knock(address: str, config: ClientConfig, deadline: Deadline) -> Knocked:
    """Knock at `address`, which is "host:port", with brackets around an IPv6 address."""
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    within = deadline.within(_SECONDS)
    try:
        async with asyncio.timeout(within.remaining()):
            _, writer = await asyncio.open_connection(host, int(port))
    except ConnectionRefusedError:
        return Knocked.DEAD
    except (OSError, ValueError):  # ValueError: a host or a port that can't be one
        return Knocked.UNREACHABLE
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    try:
        connection = await Connection.open(host, int(port), config, deadline.within(_SECONDS))
    except ConnectionFailed as error:
        return Knocked.SILENT if error.kind is FailureKind.TIMED_OUT else Knocked.RUNS
    await connection.close()
    return Knocked.RUNS
