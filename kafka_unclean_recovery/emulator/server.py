"""The listener of one broker: frames in, answers out, one request of a connection at a time.

What is no request closes its connection, and nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import Mapping

from kafka_unclean_recovery.emulator import wire
from kafka_unclean_recovery.emulator.apis import api_versions
from kafka_unclean_recovery.emulator.apis.api import Api, Context
from kafka_unclean_recovery.emulator.carrying_out import HangUp, Silence, carry_out
from kafka_unclean_recovery.emulator.controller.state import ControllerFault

_LENGTH = struct.Struct(">i")
_BACKLOG = 1024
_CHUNK = 64 << 10


class NotAsked(Exception):
    """Bytes that are no request which is answered here."""


class Listener:
    """A port of the loopback that stays this broker's while it is down.

    `resumed` is set while the broker runs and its clients reach it; otherwise connections are
    accepted, and nothing is read or answered. Answers come `delay` seconds late.
    """

    def __init__(self, host: str, port: int) -> None:
        self._reserved = _bound(host, port)
        self.address: tuple[str, int] = self._reserved.getsockname()[:2]
        self.resumed = asyncio.Event()
        self.delay = 0.0
        self._listening: socket.socket | None = None
        self._connections: dict[asyncio.Task[None], socket.socket] = {}

    @property
    def listening(self) -> bool:
        return self._listening is not None

    def open(self, context: Context, apis: Mapping[int, Api]) -> None:
        self._listening = _bound(*self.address)
        self._listening.listen(_BACKLOG)
        asyncio.get_running_loop().add_reader(
            self._listening, self._accept, self._listening, context, apis
        )

    def _accept(self, listening: socket.socket, context: Context, apis: Mapping[int, Api]) -> None:
        # By hand: asyncio's servers lose a connection that they accept while they are closed.
        with contextlib.suppress(OSError):
            connection, _ = listening.accept()
            task = asyncio.create_task(self._serve(connection, context, apis))
            self._connections[task] = connection
            task.add_done_callback(self._connections.pop)

    async def close(self) -> None:
        """As when a process dies: connections are reset, and none is accepted."""
        if self._listening is not None:
            asyncio.get_running_loop().remove_reader(self._listening)
            self._listening.close()
            self._listening = None
        closing = dict(self._connections)
        for task in closing:
            task.cancel()
        await asyncio.gather(*closing, return_exceptions=True)
        for connection in closing.values():
            connection.close()  # Its task may never have begun.

    def release(self) -> None:
        """Give the port back."""
        self._reserved.close()

    async def _serve(
        self, connection: socket.socket, context: Context, apis: Mapping[int, Api]
    ) -> None:
        reader, writer = await asyncio.open_connection(sock=connection)
        try:
            while True:
                frame = await _frame(reader)
                await self.resumed.wait()
                if self.delay:
                    await asyncio.sleep(self.delay)
                answer = await answer_to(frame, context, apis)
                await self.resumed.wait()
                if answer is not None:
                    writer.write(answer)
                    await writer.drain()
        except Silence:
            await _until_closed(reader)
        except (OSError, EOFError, NotAsked, HangUp, ControllerFault):
            # A controller that fails resigns, and the client asks the next one.
            writer.close()
        finally:
            if not writer.is_closing():
                writer.transport.abort()


def _bound(host: str, port: int) -> socket.socket:
    """Bound and not listening: connections are refused. Several sockets can hold the port."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    sock.setblocking(False)
    sock.bind((host, port))
    return sock


async def _frame(reader: asyncio.StreamReader) -> bytes:
    length: int = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))[0]
    if not wire.LEAST_FRAME_BYTES <= length <= wire.MAX_FRAME_BYTES:
        raise NotAsked(f"a frame of {length} bytes")
    return await reader.readexactly(length)


async def _until_closed(reader: asyncio.StreamReader) -> None:
    """Until the client gives up. What it sends meanwhile is for nobody."""
    with contextlib.suppress(OSError):
        while await reader.read(_CHUNK):
            pass


async def answer_to(frame: bytes, context: Context, apis: Mapping[int, Api]) -> bytes | None:
    """The framed answer, None where none is wanted. Raises NotAsked, HangUp and Silence."""
    key, version, correlation_id = wire.header_of(frame)
    api = apis.get(key)
    if api is None:
        raise NotAsked(f"api key {key}")
    if not api.lowest <= version <= api.highest:
        if key != wire.API_VERSIONS_KEY:
            raise NotAsked(f"version {version} of api key {key}")
        fields = api_versions.unsupported_version(context)
        return wire.encode(api.request, 0, correlation_id, fields)
    try:
        request = wire.decode(api.request, version, frame)
    except wire.DECODE_ERRORS as error:
        raise NotAsked(f"{error!r} in a request of api key {key}") from error
    answer = await carry_out(context, api, request)
    return None if answer is None else wire.encode(api.request, version, correlation_id, answer)
