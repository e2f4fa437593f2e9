"""Send one POST over HTTP/1.1 with every wait bounded; no redirect is followed."""

from __future__ import annotations

import http.client
import io
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from kafka_unclean_recovery.cluster.wire import failures
from kafka_unclean_recovery.cluster.wire.dial import (
    Stream,
    address_text,
    bounded,
    connect,
    open_stream,
    resolve,
)
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed
from kafka_unclean_recovery.deadline import Deadline

_LARGEST_ANSWER = 1 << 20
_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True)
class HttpResponse:
    status: int
    body: bytes = field(repr=False)


async def post(
    url: str,
    tls: ssl.SSLContext | None,
    headers: Mapping[str, str],
    body: bytes,
    deadline: Deadline,
) -> HttpResponse:
    """Send the request and return the answer, whatever its status. `tls` is used for https alone.
    Raises ConnectionFailed."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    address = address_text(host, port)
    stream = await _open(host, port, tls if parts.scheme == "https" else None, deadline)
    _, writer = stream
    try:
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        writer.write(_request(target, parts.netloc, headers, body))
        async with bounded(deadline, address, "waiting for its answer"):
            return await _answer(stream, address)
    except OSError as error:
        raise failures.disconnected(address, "it closed the connection") from error
    finally:
        writer.transport.abort()


async def _open(host: str, port: int, tls: ssl.SSLContext | None, deadline: Deadline) -> Stream:
    """Open a stream to the first address of the host that accepts a connection."""
    address = address_text(host, port)
    *others, last = await resolve(host, port, deadline)
    for endpoint in others:
        try:
            sock = await connect(endpoint, address, deadline)
        except ConnectionFailed:
            continue
        return await open_stream(sock, host, address, tls, deadline)
    return await open_stream(await connect(last, address, deadline), host, address, tls, deadline)


def _request(target: str, host: str, headers: Mapping[str, str], body: bytes) -> bytes:
    lines = [f"POST {target} HTTP/1.1", f"Host: {host}", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    lines += [f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(lines).encode("ascii") + body


async def _answer(stream: Stream, address: str) -> HttpResponse:
    reader, _ = stream
    received = b""
    while len(received) <= _LARGEST_ANSWER:
        data = await reader.read(1 << 16)
        received += data
        try:
            answer = _parsed(received, ended=not data)
        except (http.client.HTTPException, ValueError) as error:
            raise failures.bad_answer(address, "its answer is no HTTP") from error
        if answer is not None:
            return answer
    raise failures.bad_answer(address, f"its answer is longer than {_LARGEST_ANSWER} bytes")


def _parsed(received: bytes, *, ended: bool) -> HttpResponse | None:
    """Return the answer, None while it may be cut short. Raises HTTPException, ValueError."""
    if b"\r\n\r\n" not in received and not ended:
        return None
    response = http.client.HTTPResponse(_Received(received))  # type: ignore[arg-type]
    try:
        response.begin()
        if response.length is None and not response.chunked and not ended:
            return None  # the answer ends where the connection ends
        return HttpResponse(response.status, response.read())
    except http.client.IncompleteRead:
        if ended:
            raise
        return None


class _Received:
    """Received bytes behind the part of a socket's interface that HTTPResponse uses."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, _mode: str) -> Any:
        return io.BytesIO(self._data)
