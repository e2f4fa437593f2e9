"""A layout says how values stand in a message of Kafka's protocol: fields by version, and compact
from the flexible versions on (KIP-482).

A message is a dict by the names of its fields, an array a list, and what a version lacks has its
default. A layout is turned into a function once for each version; fields of fixed size that follow
each other are read and written at once.

What is read may be an Answer of limits.py, whose arrays and unknown fields are counted before
anything is made of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from struct import Struct
from sys import getsizeof
from typing import Any, NamedTuple

BOOL, INT8, INT16, UINT16, INT32, INT64, UUID = "?", "b", "h", "H", "i", "q", "16s"
"""Kinds of fixed size, as the module struct names them; a UUID is 16 bytes."""
TEXT, TEXT_OR_NONE, BYTES = "text", "text?", "bytes"
"""Kinds that begin with their length; bytes may be None."""


class Many(NamedTuple):
    """An array. None can be written, and is read as an empty one."""

    of: Kind


class Row(NamedTuple):
    """A struct within a message. optional: it may be None, which a byte before it tells."""

    fields: tuple[Field, ...]
    optional: bool = False


class Field(NamedTuple):
    """A field that versions from `since` to `until` have. tag: its number among the tagged fields,
    None for a field in its place; tagged fields are read, and never written."""

    name: str
    kind: Kind
    since: int = 0
    until: int = 0x7FFF
    default: Any = None
    tag: int | None = None


Kind = str | Many | Row

Read = Callable[[bytes, int], tuple[Any, int]]
"""Returns (the value at this position, the position behind it). Raises struct.error, ValueError or
IndexError where the bytes are no such value."""
Write = Callable[[bytearray, Any], None]
"""Appends the value."""


class Each(NamedTuple):
    """Turn each row of an array of a message into something smaller, as soon as it is read: a whole
    cluster has more rows than memory holds as dicts. array: the name of its field. kept: about how
    many bytes of memory what is made of a row takes."""

    array: str
    made: Callable[[dict[str, Any]], Any]
    kept: Callable[[Any], int]


def reader(kind: Kind, version: int, flexible: bool, each: Each | None = None) -> Read:
    """Return the function that reads values of this kind in this version. each: takes each row."""
    if isinstance(kind, Row):
        read_row = _row_reader(kind.fields, version, flexible, each)
        return _optional_reader(read_row) if kind.optional else read_row
    if isinstance(kind, Many):
        return _array_reader(kind.of, version, flexible)
    if kind in _LENGTHS:
        return _length_first_reader(kind, flexible)
    return _fixed_reader(kind)


def writer(kind: Kind, version: int, flexible: bool) -> Write:
    """Return the function that writes values of this kind in this version."""
    if isinstance(kind, Row):
        write_row = _row_writer(kind.fields, version, flexible)
        return _optional_writer(write_row) if kind.optional else write_row
    if isinstance(kind, Many):
        return _array_writer(kind.of, version, flexible)
    if kind in _LENGTHS:
        return _length_first_writer(kind, flexible)
    return _fixed_writer(kind)


def uuid_text(value: bytes) -> str:
    """Return a UUID as Python writes it: 8-4-4-4-12 digits. Kafka's tools write base64."""
    digits = value.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def unsigned_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return (the number at this position, the position behind it)."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 28:
            raise ValueError("a varint of more than five bytes")


def behind_tags(data: bytes, at: int) -> int:
    """Return the position behind the tagged fields at this one."""
    return _tagged(data, at, {})[1]


def _fixed_reader(code: str) -> Read:
    fixed = Struct(f">{code}")
    unpack, size = fixed.unpack_from, fixed.size

    def read(data: bytes, at: int) -> tuple[Any, int]:
        return unpack(data, at)[0], at + size

    return read


def _fixed_writer(code: str) -> Write:
    pack = Struct(f">{code}").pack

    def write(out: bytearray, value: Any) -> None:
        out += pack(value)

    return write


_LENGTHS = {TEXT: Struct(">h"), TEXT_OR_NONE: Struct(">h"), BYTES: Struct(">i")}
_COUNT = Struct(">i")


def _length_reader(before: Struct, flexible: bool) -> Callable[[bytes, int], tuple[int, int]]:
    """Return a function that reads a length, or a count; it is negative for None."""

    def read_compact(data: bytes, at: int) -> tuple[int, int]:
        length = data[at]
        if length < 0x80:
            return length - 1, at + 1
        length, at = unsigned_varint(data, at)
        return length - 1, at

    def read(data: bytes, at: int) -> tuple[int, int]:
        return before.unpack_from(data, at)[0], at + before.size

    return read_compact if flexible else read


def _length_writer(before: Struct, flexible: bool) -> Callable[[bytearray, int], None]:
    def write_compact(out: bytearray, length: int) -> None:
        left = length + 1
        while left > 0x7F:
            out.append(left & 0x7F | 0x80)
            left >>= 7
        out.append(left)

    def write(out: bytearray, length: int) -> None:
        out += before.pack(length)

    return write_compact if flexible else write


def _length_first_reader(kind: str, flexible: bool) -> Read:
    length_at = _length_reader(_LENGTHS[kind], flexible)
    is_text = kind != BYTES

    def read(data: bytes, at: int) -> tuple[Any, int]:
        length, at = length_at(data, at)
        if length < 0 and kind != TEXT:
            return None, at
        end = at + length
        if length < 0 or end > len(data):
            raise ValueError(f"a value of {length} bytes")
        return (str(data[at:end], "utf-8") if is_text else bytes(data[at:end])), end

    return read


def _length_first_writer(kind: str, flexible: bool) -> Write:
    write_length = _length_writer(_LENGTHS[kind], flexible)

    def write(out: bytearray, value: str | bytes | None) -> None:
        if value is None:
            write_length(out, -1)
            return
        data = value.encode() if isinstance(value, str) else value
        write_length(out, len(data))
        out += data

    return write


_A_NUMBER, _A_TEXT, _A_LIST, _AN_ELEMENT = 32, 64, 96, 8
_AN_UNKNOWN_TAG = 128
_MOST_TAGS = 1000


def _memory(kind: Kind, version: int) -> int:
    """Return about how many bytes of memory a value takes, without the elements of its arrays and
    the letters of its texts."""
    if isinstance(kind, Row):
        there = [f for f in kind.fields if f.since <= version <= f.until]
        row = getsizeof(dict.fromkeys(f.name for f in kind.fields))
        return row + sum(_memory(f.kind, version) for f in there)
    if isinstance(kind, Many):
        return _A_LIST
    return _A_TEXT if kind in _LENGTHS else _A_NUMBER


def _least(kind: Kind, version: int, flexible: bool) -> int:
    """Return how many bytes the shortest such value has in a message."""
    if isinstance(kind, Row):
        if kind.optional:
            return 1
        there = [f for f in kind.fields if f.since <= version <= f.until and f.tag is None]
        return sum(_least(f.kind, version, flexible) for f in there) + flexible
    if isinstance(kind, Many):
        return 1 if flexible else _COUNT.size
    if kind in _LENGTHS:
        return 1 if flexible else _LENGTHS[kind].size
    return Struct(f">{kind}").size


def _spend(data: bytes, memory: int) -> None:
    """Count memory that will be taken. Raises ValueError where an Answer has no more of it."""
    left = getattr(data, "left", None)
    if left is not None:
        if memory > left:
            raise ValueError("more values than what was asked for has")
        data.left = left - memory  # type: ignore[attr-defined]


def _array_reader(of: Kind, version: int, flexible: bool) -> Read:
    count_at = _length_reader(_COUNT, flexible)
    if _is_fixed(of):
        return _numbers_reader(str(of), count_at)
    read_one = reader(of, version, flexible)
    memory = _AN_ELEMENT + _memory(of, version)
    least = max(1, _least(of, version, flexible))

    def read(data: bytes, at: int) -> tuple[list[Any], int]:
        count, at = count_at(data, at)
        if count * least > len(data) - at:
            raise ValueError(f"an array of {count}")
        if count > 0:
            _spend(data, count * memory)
        found = []
        for _ in range(count):
            value, at = read_one(data, at)
            found.append(value)
        return found, at

    return read


def _smaller_reader(of: Kind, version: int, flexible: bool, each: Each) -> Read:
    """Return a function that reads an array, and holds only one of its rows as a dict at a time."""
    count_at = _length_reader(_COUNT, flexible)
    read_row = _counted_reader(of, version, flexible)

    def read(data: bytes, at: int) -> tuple[list[Any], int]:
        count, at = count_at(data, at)
        found = []
        for _ in range(count):
            left = getattr(data, "left", None)
            row, at = read_row(data, at)
            found.append(each.made(row))
            if left is not None:
                data.left = left  # type: ignore[attr-defined]
                _spend(data, _AN_ELEMENT + each.kept(found[-1]))
        return found, at

    return read


def _counted_reader(of: Kind, version: int, flexible: bool) -> Read:
    """Return a function that reads a row, and counts its memory first."""
    read_one, memory = reader(of, version, flexible), _memory(of, version)

    def read(data: bytes, at: int) -> tuple[Any, int]:
        _spend(data, memory)
        return read_one(data, at)

    return read


def _numbers_reader(code: str, count_at: Callable[[bytes, int], tuple[int, int]]) -> Read:
    size, iter_unpack = Struct(f">{code}").size, Struct(f">{code}").iter_unpack
    few = [Struct(f">{count}{code}").unpack_from for count in range(8)]

    def read(data: bytes, at: int) -> tuple[list[Any], int]:
        count, at = count_at(data, at)
        if count < len(few):
            return (list(few[count](data, at)), at + count * size) if count > 0 else ([], at)
        end = at + count * size
        if end > len(data):
            raise ValueError(f"an array of {count}")
        _spend(data, count * (_AN_ELEMENT + _A_NUMBER))
        return [each for (each,) in iter_unpack(data[at:end])], end

    return read


def _array_writer(of: Kind, version: int, flexible: bool) -> Write:
    write_count = _length_writer(_COUNT, flexible)
    write_one = writer(of, version, flexible)

    def write(out: bytearray, values: Sequence[Any] | None) -> None:
        write_count(out, -1 if values is None else len(values))
        for value in values or ():
            write_one(out, value)

    return write


_NOT_THERE = 0xFF


def _optional_reader(read_row: Read) -> Read:
    def read(data: bytes, at: int) -> tuple[Any, int]:
        return (None, at + 1) if data[at] == _NOT_THERE else read_row(data, at + 1)

    return read


def _optional_writer(write_row: Write) -> Write:
    def write(out: bytearray, value: Mapping[str, Any] | None) -> None:
        out.append(_NOT_THERE if value is None else 1)
        if value is not None:
            write_row(out, value)

    return write


Fill = Callable[[bytes, int, dict[str, Any]], int]
"""Puts the value at this position into the row, and returns the position behind it."""
Spill = Callable[[bytearray, Mapping[str, Any]], None]
"""Appends a field of the row."""


def _row_reader(
    fields: Sequence[Field], version: int, flexible: bool, each: Each | None = None
) -> Read:
    runs = list(_runs(fields, version))
    fills = [_fill(run, version, flexible, each) for run in runs]
    there = {field.name for run in runs for field in run}
    lacking = {field.name: field.default for field in fields if field.name not in there}
    tags = {f.tag: f for f in fields if f.tag is not None and f.since <= version}
    named = {tag: (f.name, reader(f.kind, version, flexible)) for tag, f in tags.items()}

    def read(data: bytes, at: int) -> tuple[dict[str, Any], int]:
        row = lacking.copy()
        for fill in fills:
            at = fill(data, at, row)
        if not flexible:
            return row, at
        if data[at] == 0:
            return row, at + 1
        found, at = _tagged(data, at, named)
        return row | found, at

    return read


def _row_writer(fields: Sequence[Field], version: int, flexible: bool) -> Write:
    spills = [_spill(run, version, flexible) for run in _runs(fields, version)]

    def write(out: bytearray, row: Mapping[str, Any]) -> None:
        for spill in spills:
            spill(out, row)
        if flexible:
            out.append(0)

    return write


def _runs(fields: Iterable[Field], version: int) -> Iterator[tuple[Field, ...]]:
    """Yield the fields of this version in their order: neighbours of fixed size together, each
    other field by itself."""
    there = [f for f in fields if f.since <= version <= f.until and f.tag is None]
    for fixed, run in groupby(there, key=lambda field: _is_fixed(field.kind)):
        together = tuple(run)
        yield from [together] if fixed else [(field,) for field in together]


def _fill(run: tuple[Field, ...], version: int, flexible: bool, each: Each | None) -> Fill:
    names = tuple(field.name for field in run)
    kind = run[0].kind
    if not _is_fixed(kind):
        (name,) = names
        if each is not None and name == each.array and isinstance(kind, Many):
            read_one = _smaller_reader(kind.of, version, flexible, each)
        else:
            read_one = reader(kind, version, flexible)

        def fill(data: bytes, at: int, row: dict[str, Any]) -> int:
            row[name], at = read_one(data, at)
            return at

        return fill
    fixed = _struct(run)
    unpack, size = fixed.unpack_from, fixed.size

    def fill_run(data: bytes, at: int, row: dict[str, Any]) -> int:
        row.update(zip(names, unpack(data, at), strict=True))
        return at + size

    return fill_run


def _spill(run: tuple[Field, ...], version: int, flexible: bool) -> Spill:
    defaults = [(field.name, field.default) for field in run]
    if not _is_fixed(run[0].kind):
        ((name, default),) = defaults
        write_one = writer(run[0].kind, version, flexible)

        def spill(out: bytearray, row: Mapping[str, Any]) -> None:
            write_one(out, row.get(name, default))

        return spill
    pack = _struct(run).pack

    def spill_run(out: bytearray, row: Mapping[str, Any]) -> None:
        out += pack(*[row.get(name, default) for name, default in defaults])

    return spill_run


def _struct(run: Iterable[Field]) -> Struct:
    return Struct(">" + "".join(str(field.kind) for field in run))


def _is_fixed(kind: Kind) -> bool:
    return isinstance(kind, str) and kind not in _LENGTHS


def _tagged(
    data: bytes, at: int, named: Mapping[int, tuple[str, Read]]
) -> tuple[dict[str, Any], int]:
    """Return (tagged fields that `named` has, the position behind all); others are skipped."""
    found = {}
    count, at = unsigned_varint(data, at)
    if count > _MOST_TAGS:
        raise ValueError(f"{count} tagged fields")
    _spend(data, count * _AN_UNKNOWN_TAG)
    for _ in range(count):
        tag, at = unsigned_varint(data, at)
        size, at = unsigned_varint(data, at)
        if tag in named:
            name, read_one = named[tag]
            found[name], end = read_one(data, at)
            if end != at + size:
                # Else a few bytes could have the same value read a thousand times.
                raise ValueError(f"a tagged field of {size} bytes has {end - at}")
        at += size
    if at > len(data):
        raise ValueError("a tagged field beyond the end")
    return found, at
