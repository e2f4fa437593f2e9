"""These functions pick entries of requests and answers by name, from values keyed by field name.

An entry has the name of its subject: a topic, a group, a resource, a broker's id. A partition's
entry is called TOPIC-PARTITION, as in orders-0. An entry that held others is removed with the last
of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

Fields = dict[str, Any]
Called = Callable[[Any], str]
"""A Called returns the name that is written for a value of a field; for a topic id it is the
topic's name."""

_NAMES = (
    *("name", "topic", "topic_name", "group_id", "group", "transactional_id", "key"),
    *("resource_name", "topic_id", "node_id", "broker_id", "replica_id"),
)
_PARTITIONS = ("partition_index", "partition", "index", "partition_id")
_LISTS_OF_PARTITIONS = {"partitions", "partition_indexes"}
# These lists lie beside a list of partitions and have one element per partition.
_PARALLEL = {"designated_leaders"}


def without(value: Fields, of: Collection[str], called: Called, topic: str = "") -> Fields:
    """Return all but the entries of these names."""
    found = _plain_kept(value, topic, lambda name: name not in of)
    for field, entries in _structs(value):
        named = [(_called(each, topic, called), each) for each in entries]
        rest = [(each, without(each, of, called, name)) for name, each in named if name not in of]
        found[field] = [kept for each, kept in rest if has_any(kept) or not has_any(each)]
    return found


def left_out(value: Fields, of: Collection[str] | None, called: Called) -> Fields:
    """Return all but the entries of these names; None leaves every entry out."""
    if of is not None:
        return without(value, of, called)
    return {name: [] if isinstance(each, list | tuple) else each for name, each in value.items()}


def only(value: Fields, of: Collection[str], called: Called, topic: str = "") -> Fields:
    """Return the entries of these names, inside the entries that hold them."""
    found = _plain_kept(value, topic, lambda name: name in of)
    for field, entries in _structs(value):
        named = [(_called(each, topic, called), each) for each in entries]
        parts = [each if name in of else only(each, of, called, name) for name, each in named]
        both = zip(named, parts, strict=True)
        found[field] = [part for (name, _), part in both if name in of or has_any(part)]
    return found


def joined(one: Fields, other: Fields, called: Called) -> Fields:
    """Return the entries of both values. Entries of the same name that hold others become one."""
    found = dict(one)
    for field, entries in _named_lists(other):
        found[field] = _joined(list(one.get(field) or ()), entries, called)
    return found


def _joined(known: list[Any], more: Sequence[Any], called: Called) -> list[Any]:
    at = {_called(each, "", called): place for place, each in enumerate(known)}
    for each in more:
        name = _called(each, "", called)
        place = at.get(name) if name else None
        if place is None or not isinstance(each, dict) or not has_any(each):
            known.append(each)
        else:
            known[place] = joined(known[place], each, called)
    return known


def has_any(value: Fields) -> bool:
    """Return whether the value holds any entry."""
    return any(True for _ in _named_lists(value))


def _named_lists(value: Fields) -> Iterator[tuple[str, Sequence[Any]]]:
    """Yield the fields whose elements are entries, and not lists of numbers such as replicas."""
    for field, entries in value.items():
        if not isinstance(entries, list | tuple) or not entries or field in _PARALLEL:
            continue
        if field in _LISTS_OF_PARTITIONS or isinstance(entries[0], dict | str):
            yield field, entries


def _structs(value: Fields) -> Iterator[tuple[str, Sequence[Fields]]]:
    return ((f, entries) for f, entries in _named_lists(value) if isinstance(entries[0], dict))


def _plain_kept(value: Fields, topic: str, keeps: Callable[[str], bool]) -> Fields:
    """Return the value with only the kept elements in its lists of partition numbers and names."""
    found = dict(value)
    for field, entries in _named_lists(value):
        if isinstance(entries[0], dict):
            continue
        of_topic = field in _LISTS_OF_PARTITIONS
        names = [f"{topic}-{each}" if of_topic else str(each) for each in entries]
        places = [place for place, name in enumerate(names) if keeps(name)]
        found[field] = [entries[place] for place in places]
        for other in _PARALLEL & value.keys():
            found[other] = value[other] and [value[other][place] for place in places]
    return found


def _called(entry: Any, topic: str, called: Called) -> str:
    if not isinstance(entry, dict):
        return str(entry)
    partition = next((entry[field] for field in _PARTITIONS if field in entry), None)
    if topic and partition is not None:
        return f"{topic}-{partition}"
    return next((called(entry[field]) for field in _NAMES if entry.get(field) is not None), "")
