"""Values to JSON and back: msgspec decides what fits the types of documents/. Pure.

What does not fit is looked for once more here, for an error in our words: file, path, problem, fix.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import inspect

from kafka_unclean_recovery.documents.reading.json_text import (
    JsonObject,
    Place,
    an_object,
    load_object,
)
from kafka_unclean_recovery.documents.reading.json_values import (
    a_choice,
    a_flag,
    a_list,
    a_text,
    missing,
    no_other_keys,
    whole_number,
)
from kafka_unclean_recovery.errors import InputError

T = TypeVar("T")
_INT64 = 2**63
_kind_of: Callable[[object], Any] = cache(inspect.type_info)
_spaced = msgspec.json.format


def to_json(value: object) -> Any:
    """Return a frozen value as json.dumps takes it: keys in the order of its fields."""
    return msgspec.to_builtins(value)


def to_model(entry: object, into: type[T]) -> T:
    """Return an `into` with the fields of `entry`; those that it lacks have their defaults."""
    return msgspec.convert(entry, into, from_attributes=True)


def json_line(document: msgspec.Struct) -> str:
    """Return a whole document in one line."""
    return json_text(document) + "\n"


def json_text(value: object) -> str:
    """Return the value as json.dumps writes it; it must hold no float."""
    data = _encoded(value)
    return json.dumps(to_json(value)) if data is None else _spaced(data, indent=0).decode("ascii")


def canonical_json(value: object) -> str:
    r"""Return the value as JSON with keys sorted, no blanks, ASCII with \u escapes; it must hold
    no float."""
    data = _encoded(value, "sorted")
    if data is None:
        return json.dumps(to_json(value), sort_keys=True, separators=(",", ":"))
    return data.decode("ascii")


def compact_json(value: object) -> bytes:
    """Return the value as JSON without blanks; it must hold no float."""
    data = _encoded(value)
    return json.dumps(to_json(value), separators=(",", ":")).encode() if data is None else data


def _encoded(value: object, order: Literal["sorted"] | None = None) -> bytes | None:
    """Return the JSON; None where a text is not plain ASCII, for msgspec escapes no other
    characters, and refuses lone surrogates, which names of files have."""
    try:
        data = msgspec.json.encode(value, order=order)
    except UnicodeEncodeError:
        return None
    return data if data.isascii() and b"\x7f" not in data else None


def load_kind(text: str, source: str, kind: str, give: str, use: str) -> JsonObject:
    """Return the document of that kind, of format version 1. give, use: what to do about another
    kind, another version. Raises InputError."""
    document = load_object(text, source)
    if document.get("kind") != kind:
        raise InputError(f'{source}: kind: is not "{kind}"; {give}')
    version = document.get("format_version")
    if version != 1 or isinstance(version, bool):  # True == 1
        raise InputError(f"{source}: format_version: only 1 is known here; {use}")
    return document


def decode(value: object, into: type[T], place: Place) -> T:
    """Return the value as an `into`. Raises InputError for whatever does not fit, for a key that is
    not known, and for one given twice."""
    if not _all_known(value, _kind_of(into)):
        _explain(value, _kind_of(into), place)
    return decode_newer(value, into, place)


def decode_newer(value: object, into: type[T], place: Place) -> T:
    """Return what `decode` returns, but pass over keys that only later versions know."""
    if isinstance(value, JsonObject) and value.repeats_within:
        _explain(_known(value, _kind_of(into)), _kind_of(into), place)
    try:
        return msgspec.convert(value, into)
    except (msgspec.ValidationError, OverflowError, UnicodeError) as error:
        _explain(_known(value, _kind_of(into)), _kind_of(into), place)
        raise place.error(str(error)) from None


def _inner(kind: inspect.Type) -> inspect.Type:
    """Return the type without its description, and without null."""
    while isinstance(kind, inspect.Metadata | inspect.UnionType):
        if isinstance(kind, inspect.Metadata):
            kind = kind.type
        else:
            kind = next(each for each in kind.types if not isinstance(each, inspect.NoneType))
    return kind


def _nullable(kind: inspect.Type) -> bool:
    while isinstance(kind, inspect.Metadata):
        kind = kind.type
    return isinstance(kind, inspect.UnionType) and kind.includes_none


def _all_known(value: object, kind: inspect.Type) -> bool:
    """Return whether the entries in `value` have only known keys, quickly: scans are long."""
    if isinstance(kind, inspect.VarTupleType) and isinstance(value, list):
        item_kind = _inner(kind.item_type)
        return all(_all_known(item, item_kind) for item in value)
    if isinstance(kind, inspect.StructType) and isinstance(value, dict):
        keys, deeper = _keys(kind.cls)
        return value.keys() <= keys and all(_all_known(value.get(k), at) for k, at in deeper)
    return True


@cache
def _keys(entry: Any) -> tuple[frozenset[str], tuple[tuple[str, inspect.Type], ...]]:
    """Return the keys of an entry, and the kinds of those below which there are entries."""
    fields = _kind_of(entry).fields
    within = ((field.encode_name, _inner(field.type)) for field in fields)
    deeper = tuple((key, kind) for key, kind in within if _holds_entries(kind))
    return frozenset(field.encode_name for field in fields), deeper


def _holds_entries(kind: inspect.Type) -> bool:
    while isinstance(kind, inspect.VarTupleType):
        kind = _inner(kind.item_type)
    return isinstance(kind, inspect.StructType)


def _known(value: object, kind: inspect.Type) -> object:
    """Return the value without keys that are not known."""
    kind = _inner(kind)
    if isinstance(kind, inspect.StructType) and isinstance(value, JsonObject):
        kinds = {field.encode_name: field.type for field in kind.fields}
        kept = JsonObject({k: _known(v, kinds[k]) for k, v in value.items() if k in kinds})
        kept.repeated = value.repeated
        return kept
    if isinstance(kind, inspect.VarTupleType) and isinstance(value, list):
        return [_known(item, kind.item_type) for item in value]
    return value


def _explain(value: object, kind: inspect.Type, place: Place) -> None:
    """Raise InputError for the first part of `value` that is not of its kind."""
    if value is None and _nullable(kind):
        return
    kind = _inner(kind)
    _EXPLAIN[type(kind)](value, kind, place)


def _explain_entry(value: object, kind: inspect.StructType, place: Place) -> None:
    values = an_object(value, place)
    no_other_keys(values, {field.encode_name for field in kind.fields}, place)
    for field in kind.fields:
        if field.encode_name in values:
            _explain(values[field.encode_name], field.type, place.at(field.encode_name))
        elif field.required:
            raise missing(field.encode_name, place)


def _explain_items(value: object, kind: inspect.VarTupleType, place: Place) -> None:
    for index, item in enumerate(a_list(value, place)):
        _explain(item, kind.item_type, place.item(index))


def _explain_values(value: object, kind: inspect.DictType, place: Place) -> None:
    for key, item in an_object(value, place).items():
        _explain(item, kind.value_type, place.at(key))


def _explain_number(value: object, kind: inspect.IntType, place: Place) -> None:
    least = -_INT64 if kind.ge is None else kind.ge
    whole_number(value, place, least, _INT64 - 1 if kind.le is None else kind.le)


_EXPLAIN: dict[type[inspect.Type], Callable[[Any, Any, Place], object]] = {
    inspect.StructType: _explain_entry,
    inspect.VarTupleType: _explain_items,
    inspect.DictType: _explain_values,
    inspect.IntType: _explain_number,
    inspect.StrType: lambda value, _, place: a_text(value, place),
    inspect.BoolType: lambda value, _, place: a_flag(value, place),
    inspect.EnumType: lambda value, kind, place: a_choice(value, place, list(kind.cls)),
    inspect.AnyType: lambda value, kind, place: None,
    # Of what load_kind has seen.
    inspect.LiteralType: lambda value, kind, place: None,
}
