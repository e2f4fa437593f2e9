"""The fields of answers, listed from the layouts: a new one is tried without anybody thinking of
it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from kafka_unclean_recovery.cluster import wire
from kafka_unclean_recovery.cluster.wire.api import Api
from kafka_unclean_recovery.cluster.wire.layout import (
    BOOL,
    BYTES,
    TEXT,
    TEXT_OR_NONE,
    UUID,
    Kind,
    Many,
    Row,
)
from kafka_unclean_recovery.cluster.wire.notation import row
from tests.hostile.odd import EXTREMES


def apis() -> list[Api]:
    """Return every layout that is declared, once."""
    return list(dict.fromkeys(_declared()))


def _declared() -> Iterator[Api]:
    for found in iter_modules(wire.__path__):
        for value in vars(import_module(f"{wire.__name__}.{found.name}")).values():
            if isinstance(value, Api):
                yield value
            elif isinstance(value, Mapping):
                yield from (each for each in value.values() if isinstance(each, Api))


@dataclass(frozen=True, slots=True)
class At:
    """A field of an answer: the names on the way to it, and its kind. many: it is an array of such
    values. It is changed in all rows of the arrays on its way."""

    api: str
    path: tuple[str, ...]
    kind: str
    many: bool = False

    @property
    def is_text(self) -> bool:
        return self.kind in (TEXT, TEXT_OR_NONE)

    @property
    def name(self) -> str:
        return f"{self.api}: {'.'.join(self.path)}"


def fields(api: Api) -> Iterator[At]:
    """Yield the texts and numbers of the answer."""
    yield from _below(api, (), row(api.answer))


def _below(api: Api, path: tuple[str, ...], kind: Kind) -> Iterator[At]:
    if isinstance(kind, Many):
        yield from (
            replace(at, many=at.many or at.path == path) for at in _below(api, path, kind.of)
        )
    elif isinstance(kind, Row):
        for field in kind.fields:
            yield from _below(api, (*path, field.name), field.kind)
    elif kind not in (BOOL, BYTES, UUID):
        assert kind in (TEXT, TEXT_OR_NONE, *EXTREMES), f"{kind} is a new kind: say what to try"
        yield At(api.name, path, str(kind))


def changed(answer: dict[str, Any], at: At, value: object) -> int:
    """Put the value into each place of the answer that leads to the field; return how many."""
    return _changed(answer, at.path, [value, value] if at.many else value)


def _changed(answer: dict[str, Any], path: tuple[str, ...], value: object) -> int:
    name, *rest = path
    if name not in answer:
        return 0
    there = answer[name]
    if rest:
        rows = there if isinstance(there, list) else [there]
        below = [each for each in rows if isinstance(each, dict)]
        return sum(_changed(each, tuple(rest), value) for each in below)
    answer[name] = value
    return 1
