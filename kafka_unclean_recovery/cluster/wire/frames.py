"""Encode requests to bytes and decode bytes to answers, on kafka-python's codec; no I/O.

A frame is a big-endian int32 length and that many bytes. kafka-python is wrapped here because its
registry of response classes is one per process where the last definition wins, and because its own
header decoding copies the whole answer.
"""

from __future__ import annotations

import struct
import sys
from typing import Any

MAX_FRAME_BYTES = 256 * 1024 * 1024

API_VERSIONS_KEY = 18

DECODE_ERRORS = (struct.error, IndexError, ValueError, TypeError, AttributeError, OverflowError)
"""kafka-python's decoders raise these on bytes that aren't the answer they expect."""

_CORRELATION_ID_BYTES = 4


def response_class(request: Any) -> Any:
    """Return the XxxResponse that stands in the same module as the request's class XxxRequest."""
    cls = type(request)
    name = cls.__name__.removesuffix("Request") + "Response"
    return getattr(sys.modules[cls.__module__], name)


def encode_request(request: Any, version: int, correlation_id: int, client_id: str) -> bytearray:
    """Return one frame, length included. Overwrites the request's own version."""
    request.API_VERSION = version
    request.with_header(correlation_id, client_id)
    frame: bytearray = request.encode(header=True, framed=True)
    return frame


def frame_length(prefix: bytes) -> int:
    """Return the length in bytes that the first four bytes of a frame announce.

    Raises ValueError, with a guess at what the peer speaks, when no Kafka node sends such a frame:
    TLS and HTTP peers look like frames of hundreds of megabytes.
    """
    length: int = struct.unpack(">i", prefix)[0]
    if _CORRELATION_ID_BYTES <= length <= MAX_FRAME_BYTES:
        return length
    raise ValueError(_what_speaks_so(prefix, length))


def correlation_id_of(frame: bytes) -> int:
    correlation_id: int = struct.unpack_from(">i", frame)[0]
    return correlation_id


def decode_answer(request: Any, version: int, frame: bytes) -> Any:
    """Decode the response in a frame without its length. Raises one of DECODE_ERRORS."""
    cls = response_class(request)
    body = memoryview(frame)[_header_length(cls, version, frame) :]
    return cls.decode(body, version=version)


def _header_length(cls: Any, version: int, frame: bytes) -> int:
    # ApiVersions always answers with the old header: the client doesn't yet know what is spoken.
    if cls.API_KEY == API_VERSIONS_KEY or not cls.flexible_version_q(version):
        return _CORRELATION_ID_BYTES
    return _end_of_tagged_fields(frame, _CORRELATION_ID_BYTES)


def _end_of_tagged_fields(frame: bytes, position: int) -> int:
    count, position = _unsigned_varint(frame, position)
    for _ in range(count):
        _tag, position = _unsigned_varint(frame, position)
        size, position = _unsigned_varint(frame, position)
        position += size
    return position


def _unsigned_varint(frame: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = frame[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
        if shift > 28:
            raise ValueError("a varint of more than five bytes")


def _what_speaks_so(prefix: bytes, length: int) -> str:
    if prefix[:2] in (b"\x15\x03", b"\x16\x03"):
        return "it speaks TLS: set security.protocol to SSL or SASL_SSL"
    if prefix == b"HTTP":
        return "it speaks HTTP: this is not a Kafka port"
    return f"it announced a frame of {length} bytes: is this a Kafka port, without TLS?"
