"""Frames become requests and answers become frames here, by kafka-python's codec. No I/O."""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

from kafka_unclean_recovery.emulator.listener import request_shape

API_VERSIONS_KEY = 18
# This is the default of socket.request.max.bytes.
MAX_FRAME_BYTES = 100 << 20
LEAST_FRAME_BYTES = 8
LENGTH_BYTES = 4
_LENGTH = struct.Struct(">i")
_HEADER = struct.Struct(">hhi")

DECODE_ERRORS = (
    struct.error,
    IndexError,
    ValueError,
    TypeError,
    AttributeError,
    OverflowError,
    MemoryError,
    AssertionError,
)
"""kafka-python's decoders raise these errors on bytes that are no such request."""


class NotAsked(Exception):
    """The bytes are no request that is answered here."""


def frame_length(prefix: bytes, most: int = MAX_FRAME_BYTES, least: int = LEAST_FRAME_BYTES) -> int:
    """Return the length of the frame that follows these four bytes. Raises NotAsked."""
    length: int = _LENGTH.unpack(prefix)[0]
    if not least <= length <= most:
        raise NotAsked(f"a frame of {length} bytes")
    return length


def framed(content: bytes) -> bytes:
    return _LENGTH.pack(len(content)) + content


def header_of(frame: bytes) -> tuple[int, int, int]:
    """Return (api key, version, correlation id), which every version of a request begins with."""
    key, version, correlation_id = _HEADER.unpack_from(frame)
    return key, version, correlation_id


def decoded(request_class: Any, version: int, frame: bytes) -> Any:
    """Decode a request. Raises NotAsked."""
    try:
        request_shape.check(request_class, version, frame)
        return request_class.decode(frame, version=version, header=True)
    except DECODE_ERRORS as error:
        key = request_class.API_KEY
        raise NotAsked(f"{error!r} in version {version} of api key {key}") from error


def encode(
    request_class: Any, version: int, correlation_id: int, values: Mapping[str, Any]
) -> bytes:
    """Return the framed answer. `values` holds its fields, those of structs nested in the same way.
    A missing field gets its default, and a field that the version lacks is left out."""
    response = build(response_class(request_class), version, values)
    response.with_header(correlation_id)
    return bytes(response.encode(header=True, framed=True))


def response_class(request_class: Any) -> Any:
    """Return the response class that stands beside the request class in its module."""
    name = request_class.__name__.removesuffix("Request") + "Response"
    return getattr(sys.modules[request_class.__module__], name)


def build(container: Any, version: int, values: Mapping[str, Any]) -> Any:
    shaped = _shapes(container, version)
    built = {name: shape(value) for name, value in values.items() if (shape := shaped[name])}
    return container(version=version, **built)


@cache
def _shapes(container: Any, version: int) -> dict[str, Callable[[Any], Any] | None]:
    """Return by field what makes the codec's value of one, None if the version lacks the field.
    Answers of ten thousand entries ask no field twice what it is."""
    return {
        name: _shape(field, version) if field.for_version_q(version) else None
        for name, field in container.fields.items()
    }


def _shape(field: Any, version: int) -> Callable[[Any], Any]:
    if field.is_struct_array():
        return partial(_structs, field.data_class, version)
    if field.is_struct():
        return partial(_struct, field.data_class, version)
    return _simple


def _structs(container: Any, version: int, values: Any) -> Any:
    return None if values is None else [build(container, version, each) for each in values]


def _struct(container: Any, version: int, value: Any) -> Any:
    return None if value is None else build(container, version, value)


def _simple(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
