"""Frames to requests and answers to frames, on kafka-python's codec. No I/O."""

from __future__ import annotations

import struct
import sys
from collections.abc import Mapping
from typing import Any

API_VERSIONS_KEY = 18
# socket.request.max.bytes
MAX_FRAME_BYTES = 100 << 20
LEAST_FRAME_BYTES = 8
_HEADER = struct.Struct(">hhi")

DECODE_ERRORS = (
    struct.error,
    IndexError,
    ValueError,
    TypeError,
    AttributeError,
    OverflowError,
    MemoryError,
)
"""What kafka-python's decoders raise on bytes that are no such request."""


def header_of(frame: bytes) -> tuple[int, int, int]:
    """(api key, version, correlation id), where every version of every request has them."""
    key, version, correlation_id = _HEADER.unpack_from(frame)
    return key, version, correlation_id


def decode(request_class: Any, version: int, frame: bytes) -> Any:
    """Raises one of DECODE_ERRORS."""
    return request_class.decode(frame, version=version, header=True)


def encode(
    request_class: Any, version: int, correlation_id: int, values: Mapping[str, Any]
) -> bytes:
    """The framed answer. `values` are its fields, those of structs nested alike; what is not named
    has its default, and what the version lacks is left out."""
    response_class = getattr(
        sys.modules[request_class.__module__],
        request_class.__name__.removesuffix("Request") + "Response",
    )
    response = build(response_class, version, values)
    response.with_header(correlation_id)
    return bytes(response.encode(header=True, framed=True))


def build(container: Any, version: int, values: Mapping[str, Any]) -> Any:
    fields = container.fields
    built = {name: _value(fields[name], version, value) for name, value in values.items()}
    return container(version=version, **built)


def _value(field: Any, version: int, value: Any) -> Any:
    if value is None:
        return None
    if field.is_struct_array():
        return [build(field.data_class, version, each) for each in value]
    if field.is_struct():
        return build(field.data_class, version, value)
    return list(value) if isinstance(value, tuple) else value
