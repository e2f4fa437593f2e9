"""Resolve names to addresses, open TCP connections to them, and start TLS; every wait is
bounded."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

from kafka_unclean_recovery.cluster.wire import failures
from kafka_unclean_recovery.cluster.wire.daemon_thread import in_daemon_thread
from kafka_unclean_recovery.deadline import Deadline

READ_AHEAD_BYTES = 1024 * 1024

Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Endpoint(NamedTuple):
    """One address that a host name stands for."""

    family: int
    sockaddr: tuple[Any, ...]


def address_text(host: str, port: int) -> str:
    """Return "host:port", with brackets around an IPv6 address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


@contextlib.asynccontextmanager
async def bounded(
    deadline: Deadline, address: str, doing: str, *, taken: bool = False
) -> AsyncIterator[None]:
    """Raise ConnectionFailed(TIMED_OUT) if the deadline passes inside. taken: as in
    ConnectionFailed."""
    try:
        async with asyncio.timeout(deadline.remaining()):
            yield
    except TimeoutError:
        raise failures.timed_out(address, doing, taken=taken) from None


async def resolve(host: str, port: int, deadline: Deadline) -> list[Endpoint]:
    """Return every address of a host, in the resolver's order. Raises ConnectionFailed."""
    address = address_text(host, port)
    async with bounded(deadline, address, "resolving the host name"):
        try:
            return await _look_up(host, port)
        except (OSError, ValueError) as error:
            raise failures.unresolved(address, error) from error


async def connect(endpoint: Endpoint, address: str, deadline: Deadline) -> socket.socket:
    """Return a connected TCP socket. Raises ConnectionFailed."""
    try:
        # asyncio sets TCP_NODELAY only on a socket whose protocol is named; without it small
        # requests are held back.
        sock = socket.socket(endpoint.family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    except OSError as error:
        raise failures.unreachable(address, error) from error
    try:
        sock.setblocking(False)
        async with bounded(deadline, address, "connecting"):
            await asyncio.get_running_loop().sock_connect(sock, endpoint.sockaddr)
    except OSError as error:
        sock.close()
        raise failures.unreachable(address, error) from error
    except BaseException:
        sock.close()
        raise
    return sock


async def open_stream(
    sock: socket.socket, host: str, address: str, tls: ssl.SSLContext | None, deadline: Deadline
) -> Stream:
    """Return reader and writer of a connected socket, behind a TLS handshake where asked."""
    # asyncio's own limit of 60 s would look like a peer that hung up.
    patience = deadline.remaining() + 1 if tls else None
    async with bounded(deadline, address, "shaking hands over TLS", taken=True):
        try:
            return await asyncio.open_connection(
                sock=sock,
                ssl=tls,
                server_hostname=host if tls else None,
                ssl_handshake_timeout=patience,
                limit=READ_AHEAD_BYTES,
            )
        except OSError as error:
            raise failures.tls_failed(address, error) from error


async def _look_up(host: str, port: int) -> list[Endpoint]:
    with contextlib.suppress(socket.gaierror):
        return _endpoints(host, port, socket.AI_NUMERICHOST)  # an address asks nobody, so at once
    return await asyncio.wrap_future(in_daemon_thread(lambda: _endpoints(host, port, 0)))


def _endpoints(host: str, port: int, flags: int) -> list[Endpoint]:
    infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags)
    return list(dict.fromkeys(Endpoint(info[0], info[4]) for info in infos))
