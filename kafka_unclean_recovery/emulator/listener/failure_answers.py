"""A failure answer is any API's answer to a request that was not carried out, with one error code
everywhere.

Like Kafka's getErrorResponse it has the code at its top, if the answer has one there, and for each
thing that was asked for. The messages themselves tell where: an array of the answer that can hold
errors answers the request's array of the same name, or else the request's first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_unclean_recovery.emulator.listener.intercepts import Where
from kafka_unclean_recovery.emulator.listener.wire import response_class

Fields = dict[str, Any]

# The results of these requests are directories, which no request names.
_NOTHING_PER_ENTRY = {"DescribeLogDirsRequest"}
_ERROR = "error_code"
_NAMES = {
    *("name", "topic", "topic_name", "topic_id"),
    *("index", "partition", "partition_index", "partition_id"),
    *("key", "resource_type", "resource_name"),
    *("group_id", "member_id", "user"),
}
"""These fields say what an entry is about, whichever of them a message has."""


def failed(request_class: Any, request: Any, error: int, where: Where = Where.EVERYWHERE) -> Fields:
    """Return the fields of a failure answer for wire.encode, in the version of `request`."""
    version = request.version
    answered = _of(response_class(request_class), version)
    asked = _of(request_class, version)
    if request_class.name in _NOTHING_PER_ENTRY:
        asked = {}
    at_top = {} if where is Where.ENTRIES else _with_error(answered, error)
    if where is Where.TOP:
        return at_top
    return at_top | _arrays(answered, asked, request, error, version)


def with_errors(answer_class: Any, fields: Fields, error: int) -> Fields:
    """Set the error code in all entries of an answer that have a field for one."""
    found = dict(fields)
    for name, entries in fields.items():
        if answer_class.fields[name].is_struct_array():
            entry = answer_class.fields[name].data_class
            code = {_ERROR: error} if _ERROR in entry.fields else {}
            found[name] = [with_errors(entry, each, error) | code for each in entries or ()]
    return found


def _of(container: Any, version: int) -> dict[str, Any]:
    """Return the fields that a version has, without tagged ones."""
    return {
        name: field
        for name, field in container.fields.items()
        if field.for_version_q(version) and not field.tagged_field_q(version)
    }


def _with_error(answered: Mapping[str, Any], error: int) -> Fields:
    return {_ERROR: error} if _ERROR in answered else {}


def _arrays(
    answered: Mapping[str, Any], asked: Mapping[str, Any], value: Any, error: int, version: int
) -> Fields:
    found: Fields = {}
    for name, field in answered.items():
        if field.is_array():
            source = _source(name, asked) if _tells_errors(field) else None
            entries = [] if source is None else getattr(value, source) or []
            found[name] = [_entry(field, asked[str(source)], e, error, version) for e in entries]
    return found


def _source(name: str, asked: Mapping[str, Any]) -> str | None:
    lists = [each for each, field in asked.items() if field.is_array()]
    return name if name in lists else next(iter(lists), None)


def _tells_errors(field: Any) -> bool:
    if not field.is_struct_array():
        return False
    nested = field.data_class.fields
    return _ERROR in nested or any(map(_tells_errors, nested.values()))


def _entry(field: Any, source: Any, value: Any, error: int, version: int) -> Fields:
    """Return the answer to an entry of the request's array, a struct or a plain name or number."""
    answered = _of(field.data_class, version)
    told = _with_error(answered, error)
    if not source.is_struct_array():
        return dict.fromkeys(_plain(answered)[:1], value) | told
    asked = _of(source.data_class, version)
    return _names(answered, asked, value) | told | _arrays(answered, asked, value, error, version)


def _names(answered: Mapping[str, Any], asked: Mapping[str, Any], value: Any) -> Fields:
    """Return the fields that name an entry: those of the same name on both sides, or else the first
    of each side."""
    known = _plain(asked)
    same = [name for name in _plain(answered) if name in known]
    if same:
        return {name: getattr(value, name) for name in same}
    return {name: getattr(value, known[0]) for name in _plain(answered)[:1] if known}


def _plain(fields: Mapping[str, Any]) -> list[str]:
    return [name for name in fields if name in _NAMES]
