"""The Listener of one broker reads frames and writes answers, one request of a connection at a
time.

Bytes that are no request close their connection, and do nothing else.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from kafka_unclean_recovery.emulator.apis import api_versions
from kafka_unclean_recovery.emulator.apis.api import Api, Context, Muted
from kafka_unclean_recovery.emulator.listener import wire
from kafka_unclean_recovery.emulator.listener.carrying_out import HangUp, Silence, carry_out
from kafka_unclean_recovery.emulator.security.channel import (
    Channel,
    Incoming,
    Plain,
    connected,
    read_frame,
)
from kafka_unclean_recovery.emulator.security.entrance import Entrance
from kafka_unclean_recovery.emulator.security.sasl import LoginFailed
from kafka_unclean_recovery.kraft_rules.state import ControllerFault

MAX_IDLE_SECONDS = 600.0
"""This is the default of connections.max.idle.ms, in seconds."""

_BACKLOG = 1024
_CHUNK = 64 << 10
# accept fails with these errors when the process or the machine has no room for one more
# connection.
_FULL = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_PAUSE_WHEN_FULL = 0.2


class Listener:
    """A listener on a port of the loopback, which stays its broker's while the broker is down.

    `resumed` is set while the broker runs and its clients reach it; otherwise connections are
    accepted, and nothing is read or answered. Answers come `delay` seconds late. `max_idle`:
    seconds of `clock` after which `close_idle` closes a connection on which no byte came or went.
    """

    def __init__(
        self,
        host: str,
        port: int,
        entrance: Entrance | None = None,
        max_idle: float = MAX_IDLE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._reserved = _bound(host, port)
        self.address: tuple[str, int] = self._reserved.getsockname()[:2]
        self.resumed = asyncio.Event()
        self.delay = 0.0
        self._entrance = entrance or Entrance()
        self._max_idle = max_idle
        self._clock = clock
        self._listening: socket.socket | None = None
        self._connections: dict[asyncio.Task[None], tuple[socket.socket, Incoming]] = {}

    @property
    def listening(self) -> bool:
        return self._listening is not None

    def open(self, context: Context, apis: Mapping[int, Api]) -> None:
        self._listening = _bound(*self.address)
        self._listening.listen(_BACKLOG)
        self._watch(self._listening, context, apis)

    def _watch(self, listening: socket.socket, context: Context, apis: Mapping[int, Api]) -> None:
        if listening is self._listening:
            asyncio.get_running_loop().add_reader(listening, self._accept, listening, context, apis)

    def _accept(self, listening: socket.socket, context: Context, apis: Mapping[int, Api]) -> None:
        # Connections are accepted by hand, because asyncio's servers lose a connection that they
        # accept while they are closed.
        try:
            connection, _ = listening.accept()
        except OSError as error:
            if error.errno in _FULL:
                # The connection stays in the backlog, and would be announced without end.
                loop = asyncio.get_running_loop()
                loop.remove_reader(listening)
                loop.call_later(_PAUSE_WHEN_FULL, self._watch, listening, context, apis)
            return
        connection.setblocking(False)
        incoming = Incoming(self._clock)
        task = asyncio.create_task(self._serve(connection, incoming, context, apis))
        self._connections[task] = connection, incoming
        task.add_done_callback(self._connections.pop)

    def close_idle(self) -> None:
        """Close connections that have been idle for too long. To be called from time to time."""
        if not self.resumed.is_set():
            return
        now = self._clock()
        for task, (_, incoming) in self._connections.items():
            if now - incoming.active_at > self._max_idle:
                task.cancel()

    async def close(self) -> None:
        """Reset all connections and accept no more, as when a process dies."""
        if self._listening is not None:
            asyncio.get_running_loop().remove_reader(self._listening)
            self._listening.close()
            self._listening = None
        closing = dict(self._connections)
        for task in closing:
            task.cancel()
        await asyncio.gather(*closing, return_exceptions=True)
        for connection, _ in closing.values():
            connection.close()  # The connection's task may never have begun.

    def release(self) -> None:
        """Give the reserved port back."""
        self._reserved.close()

    async def _serve(
        self,
        connection: socket.socket,
        incoming: Incoming,
        context: Context,
        apis: Mapping[int, Api],
    ) -> None:
        writer = await connected(connection, incoming)
        try:
            await self.resumed.wait()
            plain = Plain(incoming, writer)
            channel, principal = await self._entrance.channel(plain, incoming)
            try:
                before = partial(answer_to, context=context, apis=apis)
                rights = await self._entrance.rights(channel, principal, before)
                known = replace(context, rights=rights, gone=incoming.gone, muted=Muted())
                await self._converse(channel, known, apis)
            except Silence:
                await _until_closed(incoming)
            except (EOFError, wire.NotAsked, LoginFailed, HangUp, ControllerFault):
                pass  # A controller that fails resigns, and the client asks the next one.
            await channel.close()
        except (OSError, EOFError):
            pass  # The client is gone, or speaks no TLS.
        finally:
            writer.transport.abort()

    async def _converse(self, channel: Channel, context: Context, apis: Mapping[int, Api]) -> None:
        while True:
            frame = await read_frame(channel)
            await self.resumed.wait()
            if self.delay:
                await asyncio.sleep(self.delay)
            answer = await answer_to(frame, context, apis)
            await self.resumed.wait()
            if answer is not None:
                await channel.write(answer)
            if context.muted.until is not None:
                await asyncio.sleep(context.muted.until.remaining())
                context.muted.until = None


async def _until_closed(incoming: Incoming) -> None:
    """Discard what the client sends until it closes the connection."""
    while await incoming.read(_CHUNK):
        pass


def _bound(host: str, port: int) -> socket.socket:
    """Return a socket that is bound and not listening, so connections are refused. Several sockets
    can hold the port."""
    # The protocol is named, because asyncio does not recognise the socket as TCP otherwise and lets
    # small answers be held back.
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    sock.setblocking(False)
    sock.bind((host, port))
    return sock


async def answer_to(frame: bytes, context: Context, apis: Mapping[int, Api]) -> bytes | None:
    """Return the framed answer, None if unwanted. Raises NotAsked, HangUp and Silence."""
    key, version, correlation_id = wire.header_of(frame)
    api = apis.get(key)
    if api is None:
        raise wire.NotAsked(f"api key {key}")
    if not api.lowest <= version <= api.highest:
        if key != wire.API_VERSIONS_KEY:
            raise wire.NotAsked(f"version {version} of api key {key}")
        fields = api_versions.unsupported_version(context)
        return wire.encode(api.request, 0, correlation_id, fields)
    request = wire.decoded(api.request, version, frame)
    answer = await carry_out(context, api, request)
    return None if answer is None else wire.encode(api.request, version, correlation_id, answer)
