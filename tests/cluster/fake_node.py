"""Nodes that misbehave to order, and one that answers as Kafka does."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import socket
import ssl
import struct
import threading
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterator,
    Mapping,
    Sequence,
)
from typing import Any, NamedTuple, ParamSpec

from kafka.protocol.metadata import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    MetadataRequest,
    MetadataResponse,
)
from kafka.protocol.sasl import SaslAuthenticateRequest, SaslHandshakeRequest

from kafka_unclean_recovery.deadline import Deadline

Behaviour = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
P = ParamSpec("P")

REQUESTS: dict[int, Any] = {
    cls.API_KEY: cls
    for cls in (ApiVersionsRequest, MetadataRequest, SaslHandshakeRequest, SaslAuthenticateRequest)
}
# Rounds of the loop from the accepted socket to whom it is given.
_UNTIL_IT_IS_MADE = 3
VERSIONS = {3: (0, 12), 17: (0, 1), 18: (0, 4), 36: (0, 2)}


class Received(NamedTuple):
    key: int
    version: int
    correlation_id: int
    message: Any


def soon() -> Deadline:
    """Return a deadline for stalls: it passes while the test waits."""
    return Deadline.after(0.2)


def ample() -> Deadline:
    """Return a deadline for answers: it never passes in a test that works."""
    return Deadline.after(30)


def in_loop(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run an async test; what asyncio would only have logged fails it."""

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        complaints: list[dict[str, Any]] = []

        async def main() -> None:
            loop = asyncio.get_running_loop()
            loop.set_exception_handler(lambda _, context: complaints.append(context))
            await test(*args, **kwargs)
            gc.collect()
            assert len(asyncio.all_tasks()) == 1, asyncio.all_tasks()

        # Only what this test leaves behind is looked for: to go through all that the tests before
        # it have left in memory takes a second where those were many.
        gc.freeze()
        try:
            asyncio.run(main())
            gc.collect()
        finally:
            gc.unfreeze()
        assert complaints == [], complaints

    return run


@contextlib.asynccontextmanager
async def listening(behaviour: Behaviour, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Yield the port, on 127.0.0.1, of a node that treats each connection so."""
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, EOFError, asyncio.CancelledError):
            await behaviour(reader, writer)
        writer.transport.abort()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(serve(reader, writer))
        # One that is cancelled before its first step runs nothing of `serve`.
        task.add_done_callback(lambda _: writer.transport.abort())
        tasks.add(task)

    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        # A connection whose server is closed before it is made is never closed (CPython 3.11).
        asyncio.get_running_loop().remove_reader(server.sockets[0].fileno())
        for _ in range(_UNTIL_IT_IS_MADE):
            await asyncio.sleep(0)
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()


@contextlib.contextmanager
def refusing_handshakes(tls: ssl.SSLContext) -> Iterator[int]:
    """Yield the port of a node whose TLS fails with an alert, which asyncio's never send."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_refuse_one_handshake, args=(server, tls))
        thread.start()
        yield server.getsockname()[1]
        thread.join()


def _refuse_one_handshake(server: socket.socket, tls: ssl.SSLContext) -> None:
    server.settimeout(30)
    plain, _ = server.accept()
    plain.settimeout(30)
    # A duplicate, because wrap_socket closes what it was given when the handshake fails.
    with plain.dup() as kept:
        with contextlib.suppress(ssl.SSLError):
            tls.wrap_socket(plain, server_side=True).close()
        # Closing with bytes unread would reset the connection and may overtake the alert.
        with contextlib.suppress(OSError):
            kept.shutdown(socket.SHUT_WR)
            while kept.recv(65536):
                pass
    plain.close()


async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Accept, read and never say a word."""
    while await reader.read(65536):
        pass


async def deaf(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Stay half-open: take nothing from the socket any more."""
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    await asyncio.Event().wait()


async def hanging_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Close as soon as something arrives."""
    await reader.read(1)


def saying(text: bytes) -> Behaviour:
    """Return a node that answers whatever arrives with these bytes, then stays silent."""

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(text)
        await silent(reader, writer)

    return behave


class Kafka:
    """Answers as a broker: ApiVersions itself, everything else by `answer`.

    `answer` gives a response message built with version=, or None for no answer at all.
    `features` are those that it says to support. `received` lists every request.
    """

    def __init__(
        self,
        answer: Callable[[Received], Any] | None = None,
        versions: Mapping[int, tuple[int, int]] = VERSIONS,
        features: Sequence[str] = (),
    ) -> None:
        self.versions = versions
        self.features = features
        self.received: list[Received] = []
        self._answer = answer or metadata

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            request = await read_request(reader)
            self.received.append(request)
            if request.key == ApiVersionsRequest.API_KEY:
                writer.write(framed(self._api_versions(request.version), request.correlation_id))
            elif (response := self._answer(request)) is not None:
                writer.write(framed(response, request.correlation_id))

    def _api_versions(self, version: int) -> Any:
        low, high = self.versions[ApiVersionsRequest.API_KEY]
        supported = low <= version <= high
        return ApiVersionsResponse(
            version=version if supported else 0,
            error_code=0 if supported else 35,
            api_keys=[
                ApiVersionsResponse.ApiVersion(api_key=key, min_version=low, max_version=high)
                for key, (low, high) in self.versions.items()
            ],
            supported_features=[
                ApiVersionsResponse.SupportedFeatureKey(
                    version=3, name=name, min_version=1, max_version=1
                )
                for name in self.features
            ],
        )


async def read_request(reader: asyncio.StreamReader) -> Received:
    frame = await reader.readexactly(struct.unpack(">i", await reader.readexactly(4))[0])
    key, version, correlation_id = struct.unpack_from(">hhi", frame)
    message = REQUESTS[key].decode(frame, version=version, header=True)
    return Received(key, version, correlation_id, message)


def framed(response: Any, correlation_id: int) -> bytes:
    response.with_header(correlation_id)
    return bytes(response.encode(header=True, framed=True))


def metadata(request: Received, cluster_id: str = "the-cluster") -> Any:
    return MetadataResponse(
        version=request.version, brokers=[], cluster_id=cluster_id, controller_id=1, topics=[]
    )
