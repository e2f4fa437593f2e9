"""The shape check rejects a frame that is no message of its kind, before the frame is decoded.

kafka-python's decoder trusts the bytes it gets: it cuts strings short at the end of the frame,
takes null where none is allowed, and works for hours on numbers that never end. This check walks
the fields of the message's schema and looks only at lengths.
"""

from __future__ import annotations

from typing import Any

# All arrays of a request together may have so many elements, some hundred megabytes when decoded.
MAX_ELEMENTS = 500_000
# The decoder copies the rest of the frame at each struct with tagged fields.
MAX_COPIED_BYTES = 256 << 20
_FIXED_HEADER_BYTES = 8
_LONGEST_VARINT = 5
_BYTES_OF = {
    "bool": 1,
    "int8": 1,
    "int16": 2,
    "uint16": 2,
    "int32": 4,
    "int64": 8,
    "float64": 8,
    "uuid": 16,
    "bitfield": 4,
}


class Misshapen(ValueError):
    """The frame is not a message of this kind."""


def check(request_class: Any, version: int, frame: bytes) -> None:
    """Raise Misshapen if the frame is no message of this class and version."""
    flexible = request_class.flexible_version_q(version)
    walk = _Walk(frame, version)
    # The client id is not compact in any version.
    walk.text(2, compact=False, nullable=True)
    if flexible:
        walk.unknown_tags()
    walk.struct(request_class._struct, compact=flexible, tags=flexible)


class _Walk:
    """A walk over a frame. `at` is its position in bytes, and every method moves on by one field or
    a part of one."""

    def __init__(self, frame: bytes, version: int) -> None:
        self.frame = frame
        self.version = version
        self.at = _FIXED_HEADER_BYTES
        self.elements = 0
        self.copied = 0

    def struct(self, struct: Any, *, compact: bool, tags: bool | None) -> None:
        """Walk over a struct. `tags` is None where only an empty list of tags fits, as in tags."""
        for field in struct.untagged_fields(self.version):
            self.field(field, compact=compact, tags=tags)
        if tags:
            self.tags(struct)
        elif tags is None and self.varint():
            raise Misshapen("tags within tags")

    def field(self, field: Any, *, compact: bool, tags: bool | None) -> None:
        nullable = field.nullable_for_version_q(self.version)
        if field.is_array():
            self.array(field, compact=compact, tags=tags, nullable=nullable)
        elif field.is_struct():
            if not nullable or self.present():
                self.struct(field, compact=compact, tags=tags)
        elif field.type_str in _BYTES_OF:
            self.skip(_BYTES_OF[field.type_str])
        else:
            self.text(2 if field.type_str == "string" else 4, compact=compact, nullable=nullable)

    def array(self, array: Any, *, compact: bool, tags: bool | None, nullable: bool) -> None:
        count = self.length(4, compact=compact, nullable=nullable)
        self.elements += count
        if self.elements > MAX_ELEMENTS:
            raise Misshapen(f"more than {MAX_ELEMENTS} elements")
        element = array.array_of
        for _ in range(count):
            if element.is_struct():
                self.struct(element, compact=compact, tags=tags)
            else:
                self.field(element, compact=compact, tags=tags)

    def text(self, width: int, *, compact: bool, nullable: bool) -> None:
        self.skip(self.length(width, compact=compact, nullable=nullable))

    def tags(self, struct: Any) -> None:
        known = {field.tag: field for field in struct.tagged_fields(self.version)._fields}
        begin = self.at
        count = self.varint()
        if count:
            self.copied += len(self.frame) - begin
            if self.copied > MAX_COPIED_BYTES:
                raise Misshapen("too many tagged fields")
        for _ in range(count):
            tag, end = self.varint(), self.varint()
            end += self.at
            if tag not in known:
                self.skip(end - self.at)
                continue
            self.field(known[tag], compact=True, tags=None)
            if self.at != end:
                raise Misshapen(f"tag {tag} has another length")

    def unknown_tags(self) -> None:
        for _ in range(self.varint()):
            self.varint()
            self.skip(self.varint())

    def present(self) -> bool:
        """Return whether a struct that may be null is present."""
        self.skip(1)
        return self.frame[self.at - 1] != 0xFF

    def length(self, width: int, *, compact: bool, nullable: bool) -> int:
        """Return a length, 0 for null."""
        if compact:
            found = self.varint() - 1
        else:
            self.skip(width)
            found = int.from_bytes(self.frame[self.at - width : self.at], signed=True)
        if found < -1 or (found < 0 and not nullable):
            raise Misshapen(f"length {found}")
        return max(found, 0)

    def varint(self) -> int:
        found = 0
        for place in range(_LONGEST_VARINT):
            self.skip(1)
            byte = self.frame[self.at - 1]
            found |= (byte & 0x7F) << (7 * place)
            if byte < 0x80:
                return found
        raise Misshapen("a number that does not end")

    def skip(self, count: int) -> None:
        self.at += count
        if self.at > len(self.frame):
            raise Misshapen("cut short")
