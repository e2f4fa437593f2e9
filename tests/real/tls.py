"""TLS taken off before a tap and put on again behind it: a tap reads requests as they are.

What a client is told is a name of the test's own, with a certificate of its own, so that it can't
reach a broker past the tap: no broker has a certificate of that name.
"""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.real.certificates import Authority

LOOPBACK = "127.0.0.1"
TIMEOUT = 30.0
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class TlsEnds:
    """Both ends of the taps of one secured cluster."""

    # What clients know the taps as.
    host: str
    # The authority that clients have to trust.
    authority: Path
    _to_clients: ssl.SSLContext
    _to_brokers: ssl.SSLContext

    @classmethod
    def made(cls, directory: Path, host: str, authority_of_brokers: Path) -> TlsEnds:
        authority = Authority.new()
        ours, paper = directory / "taps-ca.pem", directory / "taps.pem"
        ours.write_bytes(authority.certificate_pem)
        paper.write_bytes(authority.issue("taps", [host]))
        to_clients = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        to_clients.load_cert_chain(paper)
        to_brokers = ssl.create_default_context(cafile=authority_of_brokers)
        return cls(host, ours, to_clients, to_brokers)

    @contextmanager
    def plain(self, broker: str) -> Iterator[str]:
        """Yield an address at which this broker is reached without TLS."""
        with _carried(broker, None, self._to_brokers) as port:
            yield f"{LOOPBACK}:{port}"

    @contextmanager
    def secured(self, tap: str) -> Iterator[str]:
        """Yield an address at which this tap is reached by TLS."""
        with _carried(tap, self._to_clients, None) as port:
            yield f"{self.host}:{port}"


@contextmanager
def _carried(
    target: str, accepted: ssl.SSLContext | None, connected: ssl.SSLContext | None
) -> Iterator[int]:
    """Yield a port of the loopback from which all is carried to the target and back."""
    ready: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event, int]] = Future()

    async def serve() -> None:
        writers: list[asyncio.StreamWriter] = []

        async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writers.append(writer)
            host, _, port = target.rpartition(":")
            with suppress(OSError):
                theirs = await asyncio.open_connection(host, int(port), ssl=connected)
                writers.append(theirs[1])
                await asyncio.gather(_pump(reader, theirs[1]), _pump(theirs[0], writer))
            writer.close()

        stop = asyncio.Event()
        server = await asyncio.start_server(carry, LOOPBACK, 0, ssl=accepted)
        ready.set_result((asyncio.get_running_loop(), stop, server.sockets[0].getsockname()[1]))
        await stop.wait()
        server.close()
        # A close waits for the other end, beyond the end of this loop.
        for each in writers:
            each.transport.abort()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    loop, stop, port = ready.result(TIMEOUT)
    try:
        yield port
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(TIMEOUT)


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    try:
        with suppress(OSError):
            while data := await source.read(_CHUNK):
                sink.write(data)
                await sink.drain()
    finally:
        # TLS has no end in one direction alone.
        sink.close()
