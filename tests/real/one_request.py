"""One request to one broker and its answer, by a codec that is not ours (kio).

A client of librdkafka takes 50 ms, and may ask another broker than the one that was meant; this
takes 3 ms. It can't log in.
"""

from __future__ import annotations

import socket
import struct
from io import BytesIO
from typing import Any

from kio.schema.request_header.v2.header import RequestHeader
from kio.schema.response_header.v1.header import ResponseHeader
from kio.serial import entity_reader, entity_writer
from kio.static.primitive import i32

from kafka_unclean_recovery.deadline import Deadline

CORRELATION_ID = 1
CHUNK = 64 << 10
LENGTH = struct.Struct(">i")


def answer(address: str, request: Any, response: type[Any], deadline: Deadline) -> Any:
    """Return what the broker at this address answers, as a value of `response`. Raises OSError."""
    with connected(address, deadline) as connection:
        frame = exchanged(connection, framed(request), deadline)
    return decoded(frame, response)


def connected(address: str, deadline: Deadline) -> socket.socket:
    host, _, port = address.rpartition(":")
    return socket.create_connection((host, int(port)), deadline.remaining())


def exchanged(connection: socket.socket, frame: bytes, deadline: Deadline) -> bytes:
    """Send a request that `framed` made, and return the frame of its answer. Raises OSError."""
    connection.sendall(frame)
    (length,) = LENGTH.unpack(_take(connection, LENGTH.size, deadline))
    return _take(connection, length, deadline)


def decoded(frame: bytes, response: type[Any]) -> Any:
    header, size = entity_reader(ResponseHeader)(frame, 0)
    if header.correlation_id != CORRELATION_ID:
        raise ConnectionError("the answer is to another request")
    return entity_reader(response)(frame, size)[0]


def framed(request: Any) -> bytes:
    header = RequestHeader(
        request_api_key=request.__api_key__,
        request_api_version=request.__version__,
        correlation_id=i32(CORRELATION_ID),
        client_id="tests",
    )
    frame = _encoded(header) + _encoded(request)
    return LENGTH.pack(len(frame)) + frame


def _encoded(entity: Any) -> bytes:
    buffer = BytesIO()
    entity_writer(type(entity))(buffer, entity)
    return buffer.getvalue()


def _take(connection: socket.socket, length: int, deadline: Deadline) -> bytes:
    """Return so many bytes; the deadline ends the wait for a paused broker."""
    taken = bytearray()
    while len(taken) < length:
        connection.settimeout(deadline.remaining())
        chunk = connection.recv(min(length - len(taken), CHUNK))
        if not chunk:
            raise ConnectionResetError("the broker closed the connection")
        taken += chunk
    return bytes(taken)
