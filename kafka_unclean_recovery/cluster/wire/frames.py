"""Encode requests to bytes and decode bytes to answers, by our layouts (api.py) or by the codec of
kafka-python; no I/O.

A frame is a big-endian int32 length and that many bytes. kafka-python is wrapped here because its
registry of response classes is one per process where the last definition wins, and because its own
header decoding copies the whole answer.
"""

from __future__ import annotations

import struct
import sys
from typing import Any

from kafka_unclean_recovery.cluster.wire.api import Message, answer_reader, request_writer
from kafka_unclean_recovery.cluster.wire.layout import behind_tags
from kafka_unclean_recovery.cluster.wire.limits import MAX_FRAME_BYTES, bounded

API_VERSIONS_KEY = 18
_UNSUPPORTED_VERSION = struct.pack(">h", 35)

DECODE_ERRORS = (struct.error, IndexError, ValueError, TypeError, AttributeError, OverflowError)
"""Decoders raise these on bytes that aren't the answer they expect."""

CORRELATION_ID_BYTES = 4


def response_class(request: Any) -> Any:
    """Return the XxxResponse that stands in the same module as the request's class XxxRequest."""
    cls = type(request)
    name = cls.__name__.removesuffix("Request") + "Response"
    return getattr(sys.modules[cls.__module__], name)


def encode_request(request: Any, version: int, correlation_id: int, client_id: str) -> bytearray:
    """Return one frame, length included. Overwrites the own version of a request of
    kafka-python."""
    if isinstance(request, Message):
        return _encode_message(request, version, correlation_id, client_id)
    request.API_VERSION = version
    request.with_header(correlation_id, client_id)
    frame: bytearray = request.encode(header=True, framed=True)
    return frame


def _encode_message(
    message: Message, version: int, correlation_id: int, client_id: str
) -> bytearray:
    api, client = message.api, client_id.encode()
    frame = bytearray(4)
    frame += struct.pack(">hhih", api.API_KEY, version, correlation_id, len(client)) + client
    if api.is_flexible(version):
        frame.append(0)
    request_writer(api, version)(frame, message.fields)
    struct.pack_into(">i", frame, 0, len(frame) - 4)
    return frame


def frame_length(prefix: bytes) -> int:
    """Return the length in bytes that the first four bytes of a frame announce.

    Raises ValueError, with a guess at what the peer speaks, when no Kafka node sends such a frame:
    TLS and HTTP peers look like frames of hundreds of megabytes.
    """
    length: int = struct.unpack(">i", prefix)[0]
    if CORRELATION_ID_BYTES <= length <= MAX_FRAME_BYTES:
        return length
    raise ValueError(_what_speaks_so(prefix, length))


def correlation_id_of(frame: bytes) -> int:
    correlation_id: int = struct.unpack_from(">i", frame)[0]
    return correlation_id


def decode_answer(request: Any, version: int, frame: bytes) -> Any:
    """Decode the response in a frame without its length; a dict for a Message. Raises one of
    DECODE_ERRORS."""
    if isinstance(request, Message):
        api = request.api
        start = _header_length(api.API_KEY, api.is_flexible(version), frame)
        if api.API_KEY == API_VERSIONS_KEY and frame[start : start + 2] == _UNSUPPORTED_VERSION:
            # A node that does not speak the version says so in version 0 (KIP-511). Any other
            # refusal, such as that of a node which is not the one that was named, is in the version
            # that was asked.
            version = 0
        return answer_reader(api, version, request.each)(bounded(request, frame), start)[0]
    cls = response_class(request)
    start = _header_length(cls.API_KEY, cls.flexible_version_q(version), frame)
    return cls.decode(memoryview(frame)[start:], version=version)


def _header_length(key: int, flexible: bool, frame: bytes) -> int:
    # ApiVersions always answers with the old header: the client doesn't yet know what is spoken.
    if key == API_VERSIONS_KEY or not flexible:
        return CORRELATION_ID_BYTES
    return behind_tags(frame, CORRELATION_ID_BYTES)


def _what_speaks_so(prefix: bytes, length: int) -> str:
    if prefix[:2] in (b"\x15\x03", b"\x16\x03"):
        return "it speaks TLS: set security.protocol to SSL or SASL_SSL"
    if prefix == b"HTTP":
        return "it speaks HTTP: this is not a Kafka port"
    return f"it announced a frame of {length} bytes: is this a Kafka port, without TLS?"
