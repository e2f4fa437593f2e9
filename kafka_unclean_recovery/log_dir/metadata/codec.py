"""Decode Kafka's flexible encoding by small functions that are joined to layouts; no I/O.

    unsigned varint   7 bits a byte, lowest first, 0x80 on every byte but the last; 32 bits at most
    varint, varlong   zigzag of the same: 0, -1, 1, -2 ... are 0, 1, 2, 3 ...
    int8 ... int64    big-endian
    uuid              16 bytes
    string, bytes     unsigned varint length + 1 (0 is null), then the bytes
    []T               unsigned varint count + 1 (0 is null), then the elements
    struct            its fields in order, then its tagged fields:
                      unsigned varint count, then (tag, size, value) for each, all unsigned varints
                      but the value

A tagged field that is not known is skipped, and remembered. A value that is short, null where it
may not be, or longer than the bytes that are left raises BadFormat; no memory is allocated because
of a length alone.
"""

from __future__ import annotations

import struct as _struct
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from kafka_unclean_recovery.log_dir.errors import BadFormat

_VARINT_BYTES = 5
_VARLONG_BYTES = 10


class Reader:
    """Bytes and a position in them. `unknown_tags` holds the tags that were skipped on the way."""

    __slots__ = ("_data", "_what", "position", "unknown_tags")

    def __init__(self, data: bytes, what: str) -> None:
        self._data = data
        self._what = what
        self.position = 0
        self.unknown_tags: list[int] = []

    @property
    def remaining(self) -> int:
        return len(self._data) - self.position

    def bad(self, detail: str) -> BadFormat:
        return BadFormat(self._what, f"{detail} at byte {self.position} of {len(self._data)}")

    def take(self, length: int) -> bytes:
        if not 0 <= length <= self.remaining:
            raise self.bad(f"{length} bytes wanted, {self.remaining} left")
        start = self.position
        self.position = start + length
        return self._data[start : self.position]

    def unsigned_varint(self) -> int:
        # Nearly all have one byte, and a metadata log has tens of millions of them.
        position = self.position
        if position < len(self._data) and (byte := self._data[position]) < 0x80:
            self.position = position + 1
            return byte
        value = self._base_128(_VARINT_BYTES)
        if value >> 32:
            raise self.bad("a varint of more than 32 bits")
        return value

    def varint(self) -> int:
        value = self.unsigned_varint()
        return (value >> 1) ^ -(value & 1)

    def varlong(self) -> int:
        value = self._base_128(_VARLONG_BYTES)
        if value >> 64:
            raise self.bad("a varint of more than 64 bits")
        return (value >> 1) ^ -(value & 1)

    def _base_128(self, limit: int) -> int:
        data, position = self._data, self.position
        value = 0
        for index, byte in enumerate(data[position : position + limit]):
            value |= (byte & 0x7F) << (7 * index)
            if byte < 0x80:
                self.position = position + index + 1
                return value
        raise self.bad("a varint without end")


Decode = Callable[[Reader, int], Any]
"""Takes (reader, version of the whole record) and returns the value."""


def _fixed(code: str) -> Decode:
    layout = _struct.Struct(f">{code}")

    def decode(reader: Reader, _version: int) -> Any:
        return layout.unpack(reader.take(layout.size))[0]

    return decode


NOT_TEXT = "a string that is not UTF-8"
INT8, INT16, INT32, INT64 = map(_fixed, "bhiq")
UINT16, FLOAT64 = _fixed("H"), _fixed("d")


def BOOL(reader: Reader, _version: int) -> bool:  # noqa: N802 - reads as a type in the layouts
    return reader.take(1) != b"\0"


def UUID(reader: Reader, _version: int) -> uuid.UUID:  # noqa: N802
    return uuid.UUID(bytes=reader.take(16))


def nullable_bytes(reader: Reader, _version: int) -> bytes | None:
    length = reader.unsigned_varint()
    return None if length == 0 else reader.take(length - 1)


def nullable_string(reader: Reader, version: int) -> str | None:
    found = nullable_bytes(reader, version)
    try:
        return None if found is None else found.decode()
    except UnicodeDecodeError:
        raise reader.bad(NOT_TEXT) from None


def nullable_array(element: Decode) -> Decode:
    def decode(reader: Reader, version: int) -> tuple[Any, ...] | None:
        count = reader.unsigned_varint()
        if count == 0:
            return None
        # Every element takes at least one byte.
        if count - 1 > reader.remaining:
            raise reader.bad(f"{count - 1} elements in {reader.remaining} bytes")
        return tuple([element(reader, version) for _ in range(count - 1)])

    return decode


def _not_null(decode_nullable: Decode) -> Decode:
    def decode(reader: Reader, version: int) -> Any:
        found = decode_nullable(reader, version)
        if found is None:
            raise reader.bad("null where nothing may be null")
        return found

    return decode


STRING, BYTES = _not_null(nullable_string), _not_null(nullable_bytes)


def array(element: Decode) -> Decode:
    return _not_null(nullable_array(element))


@dataclass(frozen=True, slots=True)
class Field:
    """A field from version `since` on; a field with a tag is `default` where it is not written."""

    name: str
    decode: Decode
    since: int = 0
    tag: int | None = None
    default: Any = None


def struct(*fields: Field) -> Decode:
    """Return the decoder of a struct, which returns a dict of the fields that its version has."""

    @cache
    def of_version(version: int) -> tuple[list[Field], dict[int, Field], dict[str, Any]]:
        present = [field for field in fields if field.since <= version]
        tagged = {field.tag: field for field in present if field.tag is not None}
        defaults = {field.name: field.default for field in tagged.values()}
        return [field for field in present if field.tag is None], tagged, defaults

    def decode(reader: Reader, version: int) -> dict[str, Any]:
        plain, tagged, defaults = of_version(version)
        found = {field.name: field.decode(reader, version) for field in plain}
        found.update(defaults)
        _read_tagged(reader, version, tagged, found)
        return found

    return decode


def _read_tagged(
    reader: Reader, version: int, known: dict[int, Field], found: dict[str, Any]
) -> None:
    last = -1
    for _ in range(reader.unsigned_varint()):
        tag, size = reader.unsigned_varint(), reader.unsigned_varint()
        if tag <= last:
            raise reader.bad(f"tag {tag} after tag {last}")
        last = tag
        if size > reader.remaining:
            raise reader.bad(f"tag {tag} of {size} bytes, {reader.remaining} left")
        field = known.get(tag)
        if field is None:
            reader.take(size)
            reader.unknown_tags.append(tag)
            continue
        end = reader.position + size
        found[field.name] = field.decode(reader, version)
        if reader.position != end:
            raise reader.bad(f"tag {tag} ({field.name}) does not end where its size says")
