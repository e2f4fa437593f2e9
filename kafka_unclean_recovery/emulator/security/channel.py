"""A Channel carries bytes to and from one client, plain or through TLS, and shows when the client
is gone."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol, TypeVar

from kafka_unclean_recovery.emulator.listener import wire

T = TypeVar("T")

_CHUNK = 64 << 10
# Java's TLS answers bytes that are no TLS with a fatal alert, internal_error. OpenSSL says nothing.
_NOT_TLS = bytes((21, 3, 3, 0, 2, 2, 80))
_LINGER_SECONDS = 1.0


class Incoming(asyncio.StreamReader):
    """The bytes that come from a client. `gone` is set when the client has closed or reset the
    connection, even if no task reads. `active_at`: the time of `clock` when bytes last came or
    went."""

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__()
        self.gone = asyncio.Event()
        self.active_at = clock()
        self._clock = clock

    def touch(self) -> None:
        self.active_at = self._clock()

    def feed_data(self, data: Any) -> None:
        self.touch()
        super().feed_data(data)

    def feed_eof(self) -> None:
        self.gone.set()
        super().feed_eof()

    def set_exception(self, exc: Any) -> None:
        self.gone.set()
        super().set_exception(exc)


class Channel(Protocol):
    async def read(self, count: int) -> bytes:
        """Return so many bytes. Raises EOFError or OSError when there are no more."""

    async def write(self, data: bytes) -> None:
        """Return when all is handed to the system. Raises OSError."""

    async def close(self) -> None:
        """Return when all written bytes are handed over and the connection is closed."""


async def read_frame(
    channel: Channel, most: int = wire.MAX_FRAME_BYTES, least: int = wire.LEAST_FRAME_BYTES
) -> bytes:
    """Return a frame without its length. Raises wire.NotAsked, EOFError, OSError."""
    prefix = await channel.read(wire.LENGTH_BYTES)
    return await channel.read(wire.frame_length(prefix, most, least))


async def connected(sock: socket.socket, incoming: Incoming) -> asyncio.StreamWriter:
    loop = asyncio.get_running_loop()
    protocol = asyncio.StreamReaderProtocol(incoming)
    transport, _ = await loop.connect_accepted_socket(lambda: protocol, sock)
    return asyncio.StreamWriter(transport, protocol, incoming, loop)


class Plain:
    def __init__(self, incoming: Incoming, writer: asyncio.StreamWriter) -> None:
        self._incoming = incoming
        self._writer = writer

    async def read(self, count: int) -> bytes:
        return await self._incoming.readexactly(count)

    async def write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()
        self._incoming.touch()

    async def close(self) -> None:
        self._writer.close()
        await self._writer.wait_closed()

    async def linger(self) -> None:
        """Read what is left before a close. Closing with unread bytes resets the connection, and
        the reset may overtake the bytes that were written."""
        self._writer.write_eof()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LINGER_SECONDS):
                while await self._incoming.read(_CHUNK):
                    pass


class Tls:
    """A TLS channel, done by hand: asyncio's TLS closes on a failed handshake without the alert
    that says why, and clients tell their users what the alert says."""

    def __init__(self, context: ssl.SSLContext, plain: Plain, incoming: Incoming) -> None:
        self._plain = plain
        self._incoming = incoming
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._in, self._out, server_side=True)

    async def shake_hands(self) -> Mapping[str, object] | None:
        """Shake hands, and return the client's certificate or None. Raises OSError, EOFError."""
        try:
            await self._through(self._tls.do_handshake)
        except ssl.SSLError as error:
            await self._say_why(error)
            raise
        return self._tls.getpeercert() or None

    async def read(self, count: int) -> bytes:
        found = bytearray()
        while len(found) < count:
            chunk = await self._through(partial(self._tls.read, min(_CHUNK, count - len(found))))
            if not chunk:
                raise EOFError
            found += chunk
        return bytes(found)

    async def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[await self._through(partial(self._tls.write, view[:_CHUNK])) :]

    async def close(self) -> None:
        with contextlib.suppress(ssl.SSLError):
            self._tls.unwrap()
        await self._flush()
        await self._plain.close()

    async def _through(self, step: Callable[[], T]) -> T:
        while True:
            try:
                done = step()
            except ssl.SSLWantReadError:
                await self._flush()
                data = await self._incoming.read(_CHUNK)
                if not data:
                    raise EOFError from None
                self._in.write(data)
            else:
                await self._flush()
                return done

    async def _flush(self) -> None:
        if self._out.pending:
            await self._plain.write(self._out.read())

    async def _say_why(self, error: ssl.SSLError) -> None:
        if not self._out.pending and error.reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST"):
            await self._plain.write(_NOT_TLS)
        await self._flush()
        await self._plain.linger()
