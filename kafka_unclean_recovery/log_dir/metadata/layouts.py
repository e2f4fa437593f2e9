"""Layouts in Kafka's flexible encoding, and a decoder for each version of one; no I/O.

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

A metadata log has tens of millions of records. So a decoder is a function of Python that is written
from the layout, as dataclasses write theirs: by functions joined to one another a record takes
three times as long. Nothing of what is decoded becomes code.
"""

from __future__ import annotations

import struct as _struct
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import groupby
from typing import Any

from kafka_unclean_recovery.log_dir.errors import BadFormat

NOT_TEXT = "a string that is not UTF-8"
_VARINT_BYTES = 5


@dataclass(frozen=True, slots=True)
class Fixed:
    """A value that always takes as many bytes; `code` is its format in Python's `struct`."""

    code: str


@dataclass(frozen=True, slots=True)
class Bytes:
    """Bytes, or the text that they are in UTF-8."""

    text: bool
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class Array:
    element: Type
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class Field:
    """A field from version `since` on; a field with a tag is `default` where it is not written."""

    name: str
    type: Type
    since: int = 0
    tag: int | None = None
    default: Any = None


@dataclass(frozen=True, slots=True, eq=False)
class Struct:
    fields: tuple[Field, ...]


Type = Fixed | Bytes | Array | Struct


def struct(*fields: Field) -> Struct:
    return Struct(fields)


def array(element: Type) -> Array:
    return Array(element)


def nullable_array(element: Type) -> Array:
    return Array(element, nullable=True)


INT8, INT16, INT32, INT64 = map(Fixed, "bhiq")
UINT16, FLOAT64, BOOL, UUID = Fixed("H"), Fixed("d"), Fixed("?"), Fixed("16s")
STRING, BYTES = Bytes(text=True), Bytes(text=False)
NULLABLE_STRING = Bytes(text=True, nullable=True)


class _Bad(Exception):
    """What is wrong with the bytes, without what they are."""


def decode(layout: Struct, version: int, data: bytes, start: int, name: str) -> Decoded:
    """Return (the fields that the version has, by name; the tags that were skipped). The struct
    fills the bytes from `start` to their end. name: of the struct, for errors. Raises BadFormat."""
    unknown: list[int] = []
    try:
        fields, end = _decoder(layout, version)(data, start, unknown)
        if end == len(data):
            return fields, tuple(unknown)
        why = f"{len(data) - end} bytes behind its end"
    except (IndexError, _struct.error):
        why = f"its {len(data)} bytes end before it does"
    except UnicodeDecodeError:
        why = NOT_TEXT
    except _Bad as error:
        why = str(error)
    raise BadFormat(f"{name} v{version}", why)


Decoded = tuple[Mapping[str, Any], tuple[int, ...]]
_Decoder = Callable[[bytes, int, list[int]], tuple[dict[str, Any], int]]
"""Takes (data, position, a list for tags that are not known), returns (fields, the position behind
them)."""


# A log names its topics and log directories again and again.
@lru_cache(maxsize=1 << 14)
def _uuid(data: bytes) -> uuid.UUID:
    return uuid.UUID(bytes=data)


def _long_varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for index, byte in enumerate(data[at : at + _VARINT_BYTES]):
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            if value >> 32:
                raise _Bad("a varint of more than 32 bits")
            return value, at + index + 1
    raise _Bad("a varint without end")


def _cut(data: bytes, at: int, end: int) -> bytes:
    if end > len(data):
        raise _Bad(f"{end - at} bytes wanted, {len(data) - at} left")
    return data[at:end]


@cache
def _decoder(layout: Struct, version: int) -> _Decoder:
    writer = _Writer(version)
    source = "\n".join(("def decode(data, at, unknown):", *_indented(writer.struct(layout))))
    exec(source, writer.scope)  # noqa: S102 - it is made of layouts alone
    found: _Decoder = writer.scope["decode"]
    return found


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"    {line}" for line in lines)


class _Writer:
    """The lines of a decoder. `scope` has what they name beside `data`, `at` and `unknown`."""

    def __init__(self, version: int) -> None:
        self._version = version
        self._number = 0
        self.scope: dict[str, Any] = {
            "Bad": _Bad,
            "cut": _cut,
            "long_varint": _long_varint,
            "uuid_of": _uuid,
        }

    def struct(self, layout: Struct) -> Iterator[str]:
        present = [field for field in layout.fields if field.since <= self._version]
        into = {field.name: self._name() for field in present}
        plain = [field for field in present if field.tag is None]
        for fixed, run in groupby(plain, lambda field: isinstance(field.type, Fixed)):
            if fixed:
                yield from self._neighbours([(into[field.name], field.type) for field in run])
            else:
                for field in run:
                    yield from self._value(field.type, into[field.name])
        tagged = {field.tag: field for field in present if field.tag is not None}
        for field in tagged.values():
            yield f"{into[field.name]} = {self._constant(field.default)}"
        yield from self._tags(
            [(tag, field.type, into[field.name]) for tag, field in tagged.items()]
        )
        yield f"return {{{', '.join(f'{name!r}: {to}' for name, to in into.items())}}}, at"

    def _name(self) -> str:
        self._number += 1
        return f"v{self._number}"

    def _constant(self, value: object) -> str:
        name = self._name()
        self.scope[name] = value
        return name

    def _neighbours(self, fields: Sequence[tuple[str, Type]]) -> Iterator[str]:
        """Yield lines for values behind one another that take as many bytes whatever they are."""
        codes = [type_.code for _, type_ in fields if isinstance(type_, Fixed)]
        layout = _struct.Struct(f">{''.join(codes)}")
        names = "".join(f"{name}, " for name, _ in fields)
        yield f"{names}= {self._constant(layout.unpack_from)}(data, at)"
        yield f"at += {layout.size}"
        for name, type_ in fields:
            if type_ == UUID:
                yield f"{name} = uuid_of({name})"

    def _value(self, type_: Type, into: str) -> Iterator[str]:
        if isinstance(type_, Fixed):
            return self._neighbours([(into, type_)])
        if isinstance(type_, Struct):
            inner = self._constant(_decoder(type_, self._version))
            return iter((f"{into}, at = {inner}(data, at, unknown)",))
        return self._nullable(type_, into)

    def _nullable(self, type_: Bytes | Array, into: str) -> Iterator[str]:
        size = self._name()
        yield from self._varint(size)
        yield f"if {size} == 0:"
        if type_.nullable:
            yield f"    {into} = None"
        else:
            yield "    raise Bad('null where nothing may be null')"
        yield "else:"
        yield f"    {size} -= 1"
        if isinstance(type_, Bytes):
            yield from _indented(self._bytes(type_, into, size))
        else:
            yield from _indented(self._array(type_, into, size))

    def _varint(self, into: str) -> Iterator[str]:
        yield f"{into} = data[at]"
        yield f"if {into} < 128:"
        yield "    at += 1"
        yield "else:"
        yield f"    {into}, at = long_varint(data, at)"

    def _bytes(self, type_: Bytes, into: str, size: str) -> Iterator[str]:
        yield f"{into} = cut(data, at, at + {size}){'.decode()' if type_.text else ''}"
        yield f"at += {size}"

    def _array(self, type_: Array, into: str, size: str) -> Iterator[str]:
        element = type_.element
        if isinstance(element, Fixed):
            layout = _struct.Struct(f">{element.code}")
            values = f"{self._constant(layout.iter_unpack)}(cut(data, at, at + {size}))"
            value = "uuid_of(v)" if element == UUID else "v"
            yield f"{size} *= {layout.size}"
            yield f"{into} = tuple([{value} for v, in {values}])"
            yield f"at += {size}"
            return
        one, several = self._name(), self._name()
        # Every element takes at least one byte.
        yield f"if {size} > len(data) - at:"
        yield f"    raise Bad(f'{{{size}}} elements in {{len(data) - at}} bytes')"
        yield f"{several} = []"
        yield f"for _ in range({size}):"
        yield from _indented(self._value(element, one))
        yield f"    {several}.append({one})"
        yield f"{into} = tuple({several})"

    def _tags(self, known: Sequence[tuple[int, Type, str]]) -> Iterator[str]:
        yield from self._varint("tags")
        yield "last = -1"
        yield "for _ in range(tags):"
        yield from _indented(self._tag(known))

    def _tag(self, known: Sequence[tuple[int, Type, str]]) -> Iterator[str]:
        yield from self._varint("tag")
        yield from self._varint("size")
        yield "if tag <= last:"
        yield "    raise Bad(f'tag {tag} after tag {last}')"
        yield "last = tag"
        yield "end = at + size"
        yield "if end > len(data):"
        yield "    raise Bad(f'tag {tag} of {size} bytes, {len(data) - at} left')"
        yield f"if tag not in {self._constant(frozenset(tag for tag, _, _ in known))}:"
        yield "    unknown.append(tag)"
        yield "    at = end"
        for tag, type_, into in known:
            yield f"elif tag == {tag}:"
            yield from _indented(self._value(type_, into))
        yield "if at != end:"
        yield "    raise Bad(f'tag {tag} does not end where its size says')"
