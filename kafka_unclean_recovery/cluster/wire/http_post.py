"""Send one POST over HTTP/1.1 with every wait bounded; no redirect is followed."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from http.client import (
    HTTP_PORT,
    HTTPS_PORT,
    HTTPConnection,
    HTTPException,
    HTTPSConnection,
    IncompleteRead,
)
from urllib.parse import SplitResult, urlsplit

from kafka_unclean_recovery.cluster.wire import failures
from kafka_unclean_recovery.cluster.wire.daemon_thread import in_daemon_thread
from kafka_unclean_recovery.cluster.wire.dial import address_text, bounded
from kafka_unclean_recovery.deadline import Deadline

_LARGEST_ANSWER = 1 << 20


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
    seconds = max(deadline.remaining(), 0.001)  # 0 would mean that the socket does not block
    # Without a port the classes would look for one in an IPv6 address.
    host, port = parts.hostname or "", parts.port
    connection = (
        HTTPSConnection(host, port or HTTPS_PORT, timeout=seconds, context=tls)
        if parts.scheme == "https"
        else HTTPConnection(host, port or HTTP_PORT, timeout=seconds)
    )
    address = address_text(connection.host, connection.port)
    # The socket's time-out bounds each of its waits, and this one all of them.
    async with bounded(deadline, address, "waiting for its answer"):
        return await asyncio.wrap_future(
            in_daemon_thread(lambda: _exchange(connection, address, parts, headers, body))
        )


def _exchange(
    connection: HTTPConnection,
    address: str,
    parts: SplitResult,
    headers: Mapping[str, str],
    body: bytes,
) -> HttpResponse:
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    with closing(connection):
        _connect(connection, address)
        try:
            connection.request("POST", target, body, {"Connection": "close", **headers})
            with connection.getresponse() as response:
                answer = response.read(_LARGEST_ANSWER + 1)
                if response.length and len(answer) <= _LARGEST_ANSWER:
                    raise IncompleteRead(answer, response.length)
        except (HTTPException, ValueError) as error:
            raise failures.bad_answer(address, "its answer is no HTTP") from error
        except TimeoutError as error:
            raise failures.timed_out(address, "waiting for its answer") from error
        except OSError as error:
            raise failures.disconnected(address, "it closed the connection") from error
    if len(answer) > _LARGEST_ANSWER:
        raise failures.bad_answer(address, f"its answer is longer than {_LARGEST_ANSWER} bytes")
    return HttpResponse(response.status, answer)


def _connect(connection: HTTPConnection, address: str) -> None:
    try:
        connection.connect()
    except (socket.gaierror, UnicodeError) as error:
        raise failures.unresolved(address, error) from error
    except OSError as error:
        # With a socket, TCP was connected, and TLS was not agreed on.
        why = failures.unreachable if connection.sock is None else failures.tls_failed
        raise why(address, error) from error
