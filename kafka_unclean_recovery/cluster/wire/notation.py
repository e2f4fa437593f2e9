"""Layouts are written as text, a field on a line, much as Kafka's own documents have them.

    name kind [since+ or since-until] [=default] [tag NUMBER]

A kind of its own size is written as in `_KINDS`, in brackets for an array of them. `[` begins an
array of structs, `{` a struct and `?` one that may be None, each up to a line with its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kafka_unclean_recovery.cluster.wire.layout import (
    BOOL,
    BYTES,
    INT8,
    INT16,
    INT32,
    INT64,
    TEXT,
    TEXT_OR_NONE,
    UINT16,
    UUID,
    Field,
    Kind,
    Many,
    Row,
)

_KINDS = {
    "bool": BOOL,
    "int8": INT8,
    "int16": INT16,
    "uint16": UINT16,
    "int32": INT32,
    "int64": INT64,
    "uuid": UUID,
    "text": TEXT,
    "text?": TEXT_OR_NONE,
    "bytes": BYTES,
}
_DEFAULTS = {"true": True, "false": False, "[]": (), '""': "", "none": bytes(16)}
_ENDS = ("]", "}")


def row(text: str) -> Row:
    """Return the layout of a message that this notation describes."""
    return Row(_fields(iter(text.strip().splitlines())))


def _fields(lines: Iterator[str]) -> tuple[Field, ...]:
    """Return the fields up to the line that ends them."""
    found = []
    for line in filter(None, map(str.strip, lines)):
        name, *rest = line.split()
        if name in _ENDS:
            break
        kind = _kind(rest[0], lines)
        found.append(Field(name, kind, **_more(rest[1:])))
    return tuple(found)


def _kind(word: str, lines: Iterator[str]) -> Kind:
    if word == "[":
        return Many(Row(_fields(lines)))
    if word in ("{", "?"):
        return Row(_fields(lines), optional=word == "?")
    if word.startswith("["):
        return Many(_KINDS[word[1:-1]])
    return _KINDS[word]


def _more(words: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    left = iter(words)
    for word in left:
        since, dash, until = word.partition("-")
        if word == "tag":
            found["tag"] = int(next(left))
        elif word.startswith("="):
            given = word[1:]
            found["default"] = _DEFAULTS[given] if given in _DEFAULTS else int(given)
        elif dash:
            found |= {"since": int(since), "until": int(until)}
        else:
            found["since"] = int(word.rstrip("+"))
    return found
